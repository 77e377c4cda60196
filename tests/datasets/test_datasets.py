"""Data sets: found, downloaded from a server on this machine, or imitated. Nothing here is slow,
and nothing leaves this machine."""

import bz2
import gzip
import hashlib
import http.server
import lzma
import re
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

import dualgap as dg
from dualgap.datasets import fetch, files, registry, synthetic

TEXT = b"1 1:0.5 3:1\n-1 2:2\n1 1:1\n"
# The registry's w8a, made as small as the text above.
TINY = replace(registry.ENTRIES["w8a"], n=3, d=5, nnz=4)


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    """An empty data folder and an empty cache, and a site that no one can reach."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    monkeypatch.setenv("DUALGAP_DATA", str(data))
    monkeypatch.setattr(files.platformdirs, "user_cache_dir", lambda name: str(cache))
    monkeypatch.setattr(fetch, "BASE_URL", "http://127.0.0.1:9/")
    monkeypatch.setattr(fetch, "PAUSE", 0.0)
    return data, cache / "datasets"


@pytest.fixture
def data(folders):
    return folders[0]


@pytest.fixture
def cache(folders):
    return folders[1]


class Site(http.server.ThreadingHTTPServer):
    """A site with files; ``failures`` requests are answered by an error first."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.requests, self.failures, self.cut = {}, [], 0, 0


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        site, name = self.server, self.path.lstrip("/")
        site.requests.append(name)
        if site.failures:
            site.failures -= 1
            self.send_error(503)
        elif name not in site.files:
            self.send_error(404)
        else:
            body = site.files[name]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) - site.cut])

    def log_message(self, *args):
        pass


@pytest.fixture
def site(monkeypatch):
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(fetch, "BASE_URL", f"http://127.0.0.1:{server.server_port}/")
        yield server
        server.shutdown()
        thread.join()


def register(monkeypatch, entry):
    monkeypatch.setitem(registry.ENTRIES, entry.name, entry)


def packed(**changes):
    return replace(TINY, files=("w8a.bz2",), **changes)


# --- files of one's own ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("", bytes),
        (".svm", bytes),
        (".bz2", bz2.compress),
        (".svm.bz2", bz2.compress),
        (".svm.gz", gzip.compress),
        (".xz", lzma.compress),
    ],
)
def test_a_file_of_any_packing_is_read(data, ending, pack):
    (data / f"mine{ending}").write_bytes(pack(TEXT))
    mine = dg.datasets.load("mine")
    assert (mine.name, mine.synthetic) == ("mine", False)
    np.testing.assert_array_equal(mine.X.toarray(), [[0.5, 0, 1], [0, 2, 0], [1, 0, 0]])
    np.testing.assert_array_equal(mine.y, [1, -1, 1])
    assert mine.X.format == "csr"
    assert mine.X.dtype == np.float64
    assert mine.X.indices.dtype == mine.X.indptr.dtype == np.int32
    assert f"mine{ending} in the folder" in mine.source


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("0 1 1", [-1, 1, 1]),
        ("1 2 1", [-1, 1, -1]),
        ("1 -1 1", [1, -1, 1]),
        ("1 2 3", [1, 2, 3]),
        ("0.5 0.25 7", [0.5, 0.25, 7]),
        ("1 1 1", [1, 1, 1]),
    ],
)
def test_two_classes_become_signs(data, labels, expected):
    (data / "mine").write_text("".join(f"{label} 1:1\n" for label in labels.split()))
    np.testing.assert_array_equal(dg.datasets.load("mine").y, expected)


def test_the_sets_own_file_comes_first_and_keeps_its_empty_columns(data):
    (data / "covtype.binary.scale01.svm").write_bytes(TEXT)
    relative = dg.datasets.load("cov1")
    assert relative.name == "covtype.binary.scale01"
    assert relative.X.shape == (3, 3)
    assert "in place of cov1: the same set rebuilt" in relative.source
    (data / "covtype.libsvm.binary.scale").write_bytes(TEXT)
    for name in ("cov1", "covtype"):
        own = dg.datasets.load(name)
        assert own.name == "covtype.libsvm.binary.scale"
        assert own.X.shape == (3, 54)
        assert "in place" not in own.source


def test_a_file_of_ones_own_can_go_with_another(data):
    (data / "train.svm").write_bytes(b"1 0:1 4:2\n-1 1:1\n")
    (data / "test.svm").write_bytes(b"1 1:1\n-1 2:1\n")
    first = dg.datasets.load("train")
    assert first.zero_based
    second = dg.datasets.load("test", n_features=5, zero_based=first.zero_based)
    np.testing.assert_array_equal(second.X.toarray(), np.eye(5)[[1, 2]])
    alone = dg.datasets.load("test")
    assert not alone.zero_based
    np.testing.assert_array_equal(alone.X.toarray(), np.eye(2))
    with pytest.raises(OSError, match="line 1: the index 0 is below 1, the first one"):
        dg.datasets.load("train", zero_based=False)
    with pytest.raises(ValueError, match="zero_based must be True, False"):
        dg.datasets.load("test", zero_based="yes")
    with pytest.raises(ValueError, match="n_features must be at least 1"):
        dg.datasets.load("test", n_features=0)


def test_a_file_whose_name_is_also_a_sets_name_has_a_way_in(data, monkeypatch):
    monkeypatch.setattr(synthetic, "LARGEST", 10_000)
    (data / "news20.svm").write_bytes(TEXT)
    assert dg.datasets.load("news20.svm").name == "news20"
    assert dg.datasets.load("news20", missing="synthetic").synthetic


def test_a_foreign_checksum_is_told_but_not_refused(data):
    (data / "rcv1_train.binary.bz2").write_bytes(bz2.compress(TEXT))
    own = dg.datasets.load("rcv1")
    assert own.X.shape == (3, 47_236)
    assert "its checksum is not that of the file on the LIBSVM site" in own.source


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("mine.bz2", bz2.compress(TEXT * 100)[:-20]),
        ("mine.bz2", b"no such packing"),
        ("mine.gz", gzip.compress(TEXT * 100, mtime=0)[:-20]),
        ("mine.gz", b"no such packing"),
        ("mine.gz", gzip.compress(TEXT, mtime=0)[:12] + b"\xff" * 30),
        ("mine.xz", lzma.compress(TEXT * 100)[:-20]),
        ("mine.xz", b"no such packing"),
        ("mine", b"<html>Please log in</html>"),
        ("mine", b"1 1:0.5 3"),
        ("mine", b""),
    ],
)
def test_a_damaged_file_is_named(data, file, content):
    (data / file).write_bytes(content)
    with pytest.raises(dg.datasets.DatasetDamagedError, match=rf"{file} is damaged .*delete it"):
        dg.datasets.load("mine", missing="synthetic")


# --- what is not there ----------------------------------------------------------------------------


def test_without_data_the_error_says_what_to_do(data, cache, monkeypatch):
    with pytest.raises(dg.datasets.DatasetNotFoundError) as found:
        dg.datasets.load("cov1")
    for words in (
        str(data),
        str(cache),
        "covtype.libsvm.binary.scale[.svm][.bz2|.gz|.xz] or covtype.binary.scale01[.svm]",
        "http://127.0.0.1:9/covtype.libsvm.binary.scale.bz2: the server cannot be reached (3 attem",
        "missing='synthetic'",
    ):
        assert words in str(found.value)
    monkeypatch.setenv("DUALGAP_DATA", str(data / "gone"))
    with pytest.raises(OSError, match="gone, which DUALGAP_DATA names, does not exist"):
        dg.datasets.load("w8a")
    monkeypatch.setenv("DUALGAP_DATA", "")
    with pytest.raises(OSError, match="DUALGAP_DATA, which may name a folder, is not set"):
        dg.datasets.load("w8a")
    with pytest.raises(OSError, match="it is not on the LIBSVM site"):
        dg.datasets.load("dorothea")


def test_names_that_are_none(data):
    for missing in ("raise", "synthetic"):
        with pytest.raises(dg.datasets.DatasetNotFoundError, match="did you mean 'mushrooms'"):
            dg.datasets.load("mushroom", missing=missing)
    for name in ("", "../w8a", "data/w8a", None):
        with pytest.raises(ValueError, match="must be the name of a data set"):
            dg.datasets.load(name)
    with pytest.raises(ValueError, match="missing must be 'raise' or 'synthetic'"):
        dg.datasets.load("w8a", missing="ignore")


# --- downloads ------------------------------------------------------------------------------------


def test_a_download_is_kept_and_its_checksum_remembered(site, cache, monkeypatch, capfd):
    body = bz2.compress(TEXT)
    site.files["w8a.bz2"] = body
    register(monkeypatch, packed())
    first = dg.datasets.load("w8a")
    assert (first.name, first.X.shape) == ("w8a", (3, 5))
    assert first.source == f"downloaded from {fetch.BASE_URL}w8a.bz2"
    assert sorted(path.name for path in cache.iterdir()) == ["w8a.bz2", "w8a.bz2.sha256"]
    assert hashlib.sha256(body).hexdigest() in (cache / "w8a.bz2.sha256").read_text()
    again = dg.datasets.load("w8a")
    assert again.source == "w8a.bz2 in the cache of downloads"
    assert (again.X != first.X).nnz == 0
    assert site.requests == ["w8a.bz2"]
    assert capfd.readouterr() == ("", "")


def test_a_file_that_changed_in_the_cache_is_refused(site, cache, monkeypatch):
    site.files["w8a.bz2"] = bz2.compress(TEXT)
    register(monkeypatch, packed())
    dg.datasets.load("w8a")
    # The same shape and the same number of entries: only the checksum tells.
    (cache / "w8a.bz2").write_bytes(bz2.compress(TEXT.replace(b"0.5", b"0.6")))
    for missing in ("raise", "synthetic"):
        with pytest.raises(dg.datasets.DatasetDamagedError, match=r"changed.*Delete both files"):
            dg.datasets.load("w8a", missing=missing)


def test_a_file_put_into_the_cache_by_hand_is_checked_by_its_shape(cache, monkeypatch):
    cache.mkdir(parents=True)
    (cache / "w8a.svm").write_bytes(TEXT)
    with pytest.raises(dg.datasets.DatasetDamagedError, match="3 rows, 300 columns and 4 entries"):
        dg.datasets.load("w8a")
    register(monkeypatch, TINY)
    assert dg.datasets.load("w8a").X.shape == (3, 5)
    (cache / "mine").write_bytes(TEXT)
    assert dg.datasets.load("mine").X.shape == (3, 3)


def test_a_relative_in_the_cache_does_not_hide_the_set(cache, monkeypatch):
    monkeypatch.setattr(synthetic, "LARGEST", 10_000)
    cache.mkdir(parents=True)
    (cache / "ijcnn1").write_bytes(TEXT)
    assert dg.datasets.load("webspam", missing="synthetic").name == "webspam (synthetic)"


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_a_known_checksum_is_checked(site, cache, monkeypatch, algorithm):
    body = bz2.compress(TEXT)
    site.files["w8a.bz2"] = body
    good = f"{algorithm}:{hashlib.new(algorithm, body).hexdigest()}"
    bad = f"{algorithm}:{hashlib.new(algorithm, b'other').hexdigest()}"
    register(monkeypatch, packed(hashes={"w8a.bz2": bad}))
    with pytest.raises(dg.datasets.DatasetNotFoundError, match=f"the known checksum {bad}"):
        dg.datasets.load("w8a")
    assert "known checksum" in dg.datasets.load("w8a", missing="synthetic").source
    assert list(cache.iterdir()) == []
    register(monkeypatch, packed(hashes={"w8a.bz2": good}))
    assert dg.datasets.load("w8a").name == "w8a"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (TEXT + b"1 1:1\n", "4 rows, 5 columns and 5 entries, not 3, 5 and about 4"),
        (TEXT.replace(b" 3:1", b""), "and 3 entries, not 3, 5 and about 4"),
        (TEXT.replace(b" 3:1", b" 6:1"), "3 rows, 6 columns"),
        (b"<html>Please log in</html>", "damaged or not in LIBSVM format"),
    ],
)
def test_a_download_that_is_not_the_set_is_not_kept(site, cache, monkeypatch, content, says):
    site.files["w8a"] = content
    register(monkeypatch, TINY)
    with pytest.raises(dg.datasets.DatasetNotFoundError, match=re.escape(says)):
        dg.datasets.load("w8a")
    assert list(cache.iterdir()) == []


def test_what_the_site_does_not_have(site, monkeypatch):
    register(monkeypatch, replace(TINY, files=("w8a.xz", "w8a.bz2")))
    with pytest.raises(dg.datasets.DatasetNotFoundError) as found:
        dg.datasets.load("w8a")
    assert "w8a.xz: there is no such file (HTTP 404); http" in str(found.value)
    # It is of no use to ask again for what is not there; but the other packing is tried.
    assert site.requests == ["w8a.xz", "w8a.bz2"]
    site.files["w8a.bz2"] = bz2.compress(TEXT)
    assert dg.datasets.load("w8a").source.endswith("w8a.bz2")


def test_a_passing_failure_is_tried_again(site, monkeypatch):
    site.files["w8a"] = TEXT
    register(monkeypatch, TINY)
    site.failures = 3
    with pytest.raises(dg.datasets.DatasetNotFoundError, match=r"refuses \(HTTP 503\)"):
        dg.datasets.load("w8a")
    site.failures = 2
    assert dg.datasets.load("w8a").name == "w8a"


def test_a_download_that_breaks_off_leaves_nothing(site, cache, monkeypatch):
    site.files["w8a"], site.cut = TEXT, 5
    register(monkeypatch, TINY)
    with pytest.raises(dg.datasets.DatasetNotFoundError, match="3 attempts"):
        dg.datasets.load("w8a")
    assert len(site.requests) == 3
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written(cache):
    cache.parent.write_text("a file where the folder should be")
    data = dg.datasets.load("mushrooms", missing="synthetic")
    assert re.search(r"the folder .*datasets cannot be made", data.source)


# --- stand-ins ------------------------------------------------------------------------------------


def test_a_stand_in_says_what_it_is_and_why(monkeypatch):
    monkeypatch.setattr(synthetic, "LARGEST", 10_000)
    data = dg.datasets.load("w8a", missing="synthetic")
    assert data.synthetic
    assert data.name == "w8a (synthetic)"
    assert f"with {len(data.y):,} rows instead of 49,749" in data.source
    assert "could not be had: http://127.0.0.1:9/w8a: the server cannot be reached" in data.source
    assert repr(data).startswith(f"Dataset('w8a (synthetic)', {len(data.y)} x 300, generated")


def test_importing_dualgap_imports_no_downloader():
    code = "import sys, dualgap; dualgap.datasets.names(); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"pooch", "requests", "sklearn.datasets"}.isdisjoint(run.stdout.split())
