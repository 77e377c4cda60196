"""Archives from anybody: whatever was done to them, one kind of error and little memory."""

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

import dualgap as dg
from dualgap import penalties
from dualgap.files import checkpoint_file, model_file
from dualgap.files.archive import Archive, ArchiveWriter
from dualgap.files.checkpoint_file import DamagedError, ForeignError
from dualgap.files.errors import ArchiveError, TooLargeError
from dualgap.files.model_file import ModelFileError
from dualgap.files.model_tree import as_tree
from dualgap.files.npy import ArrayHeader

_LITTLE = 30 * 2**20  # bytes: no file below is said to need as much and is believed
_DIRECTORY, _LOCAL = b"PK\x01\x02", b"PK\x03\x04"
_SIZES = (0, 1, 255, 4096, 2**31, 2**32 - 1)


def npy(array):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def archive_of(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def read_all(path):
    with Archive(path) as archive:
        return {name: archive.array(name) for name in archive.names}


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(5, dtype=np.int8),
        np.array([True, False]),
        np.array(["a", "längér"]),
        np.array(3.5),
        np.empty((0, 4)),
        np.arange(3, dtype=">f4"),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_arrays_come_back(array, compression, tmp_path):
    path = archive_of(tmp_path / "a", {"0/a.npy": npy(array)}, compression)
    with Archive(path) as archive:
        found = archive.array("0/a.npy", ArrayHeader(array.dtype.str, array.shape))
    assert found.dtype == array.dtype
    assert found.flags.writeable
    np.testing.assert_array_equal(found, array)


def test_compressed_archives_are_those_of_numpy():
    arrays = {"a": np.arange(6.0), "b": np.array(["a", "bc"]), "c": np.zeros((3, 0))}
    ours, theirs = io.BytesIO(), io.BytesIO()
    with ArchiveWriter(ours, compressed=True) as archive:
        for name, array in arrays.items():
            archive.array(f"{name}.npy", array)
    np.savez_compressed(theirs, **arrays)
    assert ours.getvalue() == theirs.getvalue()


def test_version_2_and_any_order_of_a_header(tmp_path):
    text = b'{"shape":(2,), "fortran_order": False,"descr": "<f8"}\n'
    content = b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text + bytes(16)
    found = read_all(archive_of(tmp_path / "a", {"a.npy": content}))
    np.testing.assert_array_equal(found["a.npy"], np.zeros(2))


def headed(text, data=b"", version=b"\x01\x00"):
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


_F8 = b"{'descr': '<f8', 'fortran_order': False, 'shape': "


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "ends within its NPY header"),
        (b"\x93NUMPY", "ends within its NPY header"),
        (b"x" * 200, "not an array in the NPY format"),
        (headed(_F8 + b"(1,), }", bytes(8), b"\x03\x00"), "not an array in the NPY format"),
        (headed(_F8 + b"(10000000000,), }", bytes(8)), "does not fit its"),
        (headed(_F8 + b"(2,), }", bytes(8)), "does not fit its"),
        (headed(_F8 + b"(1,), }", bytes(9)), "does not fit its"),
        (headed(_F8 + b"(-1,), }", bytes(8)), "not an array of plain numbers"),
        (headed(_F8 + b"(1,), 'more': 1}", bytes(8)), "unknown entries"),
        (headed(_F8.replace(b"<f8", b"|O") + b"(1,), }", bytes(8)), "Pickles"),
        (headed(_F8.replace(b"<f8", b"<f16") + b"(1,), }", bytes(16)), "not an array of plain"),
        (headed(_F8.replace(b"<f8", b"<U0") + b"(9,), }"), "not an array of plain"),
        (headed(_F8.replace(b"'<f8'", b"[('a', '<f8')]") + b"(1,), }", bytes(8)), "not an array"),
        (headed(_F8.replace(b"<f8", b"<U1") + b"(1,), }", b"\xff" * 4), "not all of it is text"),
        (headed(b" " * 20_000), "NPY header of 20000 bytes"),
    ],
)
def test_headers_that_are_not_believed(content, words, tmp_path):
    path = archive_of(tmp_path / "a", {"a.npy": content})
    with pytest.raises(ArchiveError, match=words):
        read_all(path)


def test_what_a_header_of_ones_own_states_must_be_there(tmp_path):
    path = archive_of(tmp_path / "a", {"a.npy": npy(np.zeros(3))})
    with Archive(path) as archive:
        with pytest.raises(ArchiveError, match="but the header states"):
            archive.array("a.npy", ArrayHeader("<f8", (4,)))
        with pytest.raises(ArchiveError, match=r"no member b\.npy"):
            archive.array("b.npy")
        with pytest.raises(TooLargeError, match="at most 10 are allowed"):
            archive.read("a.npy", 10)


def test_a_bomb_is_not_unpacked(tmp_path):
    """Neither one that says how large it is, nor one that does not."""
    many = npy(np.zeros(20_000_000))
    path = archive_of(tmp_path / "a", {"a.npy": many})
    del many
    assert path.stat().st_size < 200_000
    with pytest.raises(TooLargeError, match="160,000,128 bytes, but at most 100,000,000"):
        Archive(path, limit=100_000_000)
    content = bytearray(path.read_bytes())
    small = npy(np.zeros(4))
    at = content.rindex(_DIRECTORY)
    struct.pack_into("<I", content, at + 24, len(small))  # the size, in the directory
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(ArchiveError):
        read_all(path)
    assert tracemalloc.get_traced_memory()[1] < _LITTLE
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("at", "form", "value", "words"),
    [
        (24, "<I", 2**31, "cannot hold"),  # the size
        (20, "<I", 2**31, "longer than the file"),  # ... of what is packed
        (10, "<H", 12, "other than stored or deflated"),
        (8, "<H", 1, "encrypted"),
    ],
)
def test_directories_that_are_not_believed(at, form, value, words, tmp_path):
    path = archive_of(tmp_path / "a", {"a.npy": npy(np.arange(4.0))})
    content = bytearray(path.read_bytes())
    struct.pack_into(form, content, content.rindex(_DIRECTORY) + at, value)
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match=words):
        read_all(path)


def test_one_name_twice_and_compressed_where_stored_is_wanted(tmp_path):
    path = tmp_path / "a"
    archive_of(path, {"a.npy": npy(1.0), "b.npy": npy(2.0)})
    path.write_bytes(path.read_bytes().replace(b"b.npy", b"a.npy"))
    with pytest.raises(ArchiveError, match="occurs twice"):
        Archive(path)
    archive_of(path, {"a.npy": npy(1.0)})
    with pytest.raises(ArchiveError, match="other than stored"):
        Archive(path, stored=True)


# --- models -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 20)), np.arange(60) % 3
    penalty = penalties.Box(-np.ones(20), np.ones(20), penalties.L2())
    problem = dg.Problem(X, y, "softmax", penalty, 0.1, intercept=True)
    where = tmp_path_factory.mktemp("model") / "model.npz"
    return dg.save_model(where, problem, dg.solve(problem, tol=1e-2))


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def header_of(members):
    return json.loads(np.load(io.BytesIO(members["model.npy"])).tobytes())


def with_header(members, header):
    header.pop("checksum", None)
    header["checksum"] = model_file._checksum(header)
    text = json.dumps(header).encode()
    return {**members, "model.npy": npy(np.frombuffer(text, np.uint8))}


def test_a_model_lists_its_arrays_and_may_do_without(model, tmp_path):
    members = members_of(model)
    header = header_of(members)
    assert header["arrays"]["coef"][:2] == ["<f8", [20, 3]]
    assert {f"{name}.npy" for name in header["arrays"]} == set(members) - {"model.npy"}
    del header["arrays"]  # as the first versions wrote files
    older = archive_of(tmp_path / "older.npz", with_header(members, header))
    np.testing.assert_array_equal(dg.load_model(older).coef, dg.load_model(model).coef)


def test_arrays_other_than_those_listed_are_refused(model, tmp_path):
    members = members_of(model)
    path = tmp_path / "model.npz"
    swapped = {
        **members,
        "penalty.low.npy": members["penalty.high.npy"],
        "penalty.high.npy": members["penalty.low.npy"],
    }
    with pytest.raises(ModelFileError, match="not the array that its header lists"):
        dg.load_model(archive_of(path, swapped))
    with pytest.raises(ModelFileError, match="but the header states"):
        dg.load_model(archive_of(path, {**members, "coef.npy": npy(np.zeros((21, 3)))}))
    with pytest.raises(ModelFileError, match="not those that its header lists"):
        dg.load_model(archive_of(path, {**members, "more.npy": npy(0.0)}))


def test_models_that_are_too_large_are_refused_before_they_are_read(model, tmp_path):
    members = members_of(model)
    header = header_of(members)
    assert dg.load_model(model, max_bytes=20_000).coef.shape == (20, 3)
    with pytest.raises(ModelFileError, match="give load_model a larger max_bytes"):
        dg.load_model(model, max_bytes=1000)
    # Zeros that are stored nowhere.
    for shape in ([10**10, 3], [10**400, 3]):
        coef = {"shape": shape, "places": [0], "values": [1.0]}
        sparse = {name: header["arrays"][name] for name in header["arrays"] if name != "coef"}
        crafted = with_header(members, {**header, "coef": coef, "arrays": sparse})
        del crafted["coef.npy"]
        with pytest.raises(ModelFileError, match=r"coefficients, but .* a larger max_bytes"):
            dg.load_model(archive_of(tmp_path / "model.npz", crafted))
    with pytest.raises(ValueError, match="max_bytes must be at least 1"):
        dg.load_model(model, max_bytes=0)


# --- a campaign ---------------------------------------------------------------------------------


def flipped(content, rng):
    for at in rng.integers(0, len(content), rng.integers(1, 4)):
        content[at] ^= 1 << int(rng.integers(8))
    return content


def cut_short(content, rng):
    return content[: rng.integers(4, len(content))]


def overwritten(content, rng):
    at, length = rng.integers(0, len(content)), int(rng.integers(1, 60))
    content[at : at + length] = rng.bytes(length)
    return content


def places(content, mark):
    found = [content.find(mark)]
    while found[-1] >= 0:
        found.append(content.find(mark, found[-1] + 1))
    return found[:-1]


def forged_directory(content, rng):
    at = int(rng.choice(places(content, _DIRECTORY)))
    size = int(rng.choice(_SIZES))
    struct.pack_into("<I", content, at + int(rng.choice([16, 20, 24, 42])), size)
    return content


def forged_local(content, rng):
    at = int(rng.choice(places(content, _LOCAL)))
    struct.pack_into("<I", content, at + int(rng.choice([14, 18, 22, 26])), int(rng.choice(_SIZES)))
    return content


def forged_end(content, rng):
    at = content.rindex(b"PK\x05\x06")
    struct.pack_into("<I", content, at + int(rng.choice([8, 12, 16])), int(rng.choice(_SIZES)))
    return content


def anew(content, change):
    """The archive with other members, whose checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = {info.filename: old.read(info) for info in old.infolist()}
        kind = old.infolist()[0].compress_type
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as new:
        for name, inside in change(members).items():
            new.writestr(name, inside)
    return bytearray(file.getvalue())


def forged_shape(content, rng):
    def change(members):
        name = str(rng.choice([name for name in members if name.endswith(".npy")]))
        shapes = (b"(10000000000,)", b"(100000, 100000)", b"()", b"(1,)", b"(0, 5)", b"(" * 50)
        before, inside = members[name].split(b"'shape': ", 1)
        after = inside.split(b"}", 1)[1]
        shape = shapes[rng.integers(len(shapes))]
        head = b"%s'shape': %s, }" % (before[10:], shape)
        head += b" " * (118 - len(head))
        return {**members, name: headed(head, after.lstrip())}

    return anew(content, change)


def swapped(content, rng):
    def change(members):
        names = [name for name in members if name.endswith(".npy")]
        one, other = rng.choice(names, 2, replace=False)
        return {**members, one: members[other], other: members[one]}

    return anew(content, change)


def left_out(content, rng):
    def change(members):
        name = list(members)[rng.integers(1, len(members))]
        return {key: members[key] for key in members if key != name}

    return anew(content, change)


def bombed(content, rng):
    def change(members):
        name = str(rng.choice([name for name in members if name.endswith(".npy")]))
        return {**members, name: _BOMB}

    return anew(content, change)


_BOMB = npy(np.zeros(2**17))
DAMAGES = [
    *[flipped] * 4, *[cut_short] * 2, overwritten, forged_directory, forged_local, forged_end,
    forged_shape, swapped, left_out, bombed,
]  # fmt: skip


def campaign(path, content, read, expected, good, files=2000):
    """Read many damaged files; returns how many were refused, and the most memory that one took."""
    rng = np.random.default_rng(1)
    refused = 0
    tracemalloc.start()
    for trial in range(files):
        damaged = DAMAGES[trial % len(DAMAGES)](bytearray(content), rng)
        path.write_bytes(damaged)
        del damaged
        try:
            assert good(read(path))  # bytes without a meaning, such as dates
        except expected:
            refused += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return refused, peak


def test_two_thousand_damaged_models(model, tmp_path):
    right = repr(as_tree(dg.load_model(model)))

    def good(found):
        return repr(as_tree(found)) == right

    path = tmp_path / "model.npz"
    refused, peak = campaign(path, model.read_bytes(), dg.load_model, ModelFileError, good)
    assert refused > 1500
    assert peak < _LITTLE


def test_two_thousand_damaged_checkpoints(tmp_path):
    path = tmp_path / "checkpoint"
    state = {
        "w": np.arange(30.0),
        "a": np.ones((4, 5)),
        "inner": {"q": 0.5, "places": np.arange(4), "pair": (1, None, "word")},
    }
    with open(path, "wb") as file:
        checkpoint_file.write(file, state)
    right = repr(checkpoint_file.read(path))

    def good(found):
        return repr(found) == right

    expected = (DamagedError, ForeignError)
    refused, peak = campaign(path, path.read_bytes(), checkpoint_file.read, expected, good)
    assert refused > 1500
    assert peak < _LITTLE
