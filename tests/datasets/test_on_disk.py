"""Matrices on disk: what text holds, read in place, and no method that copies it."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

import dualgap as dg
from dualgap import cli, datasets
from dualgap.datasets import lines, on_disk
from dualgap.datasets.errors import DatasetDamagedError
from dualgap.linalg import storage
from dualgap.methods import METHODS

PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def rows(n=300, d=40, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.2, rng=rng, format="csr")
    X.sort_indices()
    X.data = np.round(X.data, 6)  # as text has them
    return X, np.where(X @ rng.standard_normal(d) > 0.0, 1.0, -1.0)


def text_of(X, y, zero_based=False):
    out = io.BytesIO()
    dump_svmlight_file(X, y, out, zero_based=zero_based)
    return out.getvalue()


def written(folder, X, y, dtype=np.float64):
    with datasets.CSRWriter(folder, dtype) as out:
        half = X.shape[0] // 2
        out.append(X[:half], y[:half])
        out.append(X[half:], y[half:])
    return datasets.open_folder(folder)


def is_mapped(array):
    while array is not None and not isinstance(array, np.memmap):
        array = array.base
    return array is not None


# --- conversion ---------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("block", [64, 8_000_000])
def test_text_comes_back_as_it_was(packing, block, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", block)  # smaller than a line, and larger than all
    X, y = rows()
    source = tmp_path / f"data.svm{packing}"
    source.write_bytes(PACKERS[packing](b"# a comment\n\n" + text_of(X, y)))
    data = datasets.open_folder(datasets.convert(source, tmp_path / "data"))
    assert (data.X != X).nnz == 0
    np.testing.assert_array_equal(data.y, y)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", source.name]
    assert "converted from" in data.source


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_mapped_and_problems_take_them_as_they_are(dtype, tmp_path):
    X, y = rows()
    data = written(tmp_path / "data", X, y, dtype)
    assert data.X.dtype == dtype
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    problem = dg.Problem(data.X, data.y, "logistic", lam=1e-2)
    matrix = problem.rows
    for name in ("indptr", "indices", "data"):
        assert is_mapped(getattr(matrix, name)), name
        assert np.shares_memory(getattr(matrix, name), getattr(data.X, name))
    expected = dg.Problem(X.astype(dtype), y, "logistic", lam=1e-2)
    np.testing.assert_array_equal(problem.row_squares, expected.row_squares)


def test_indices_grow_to_eight_bytes_where_four_do_not_do(tmp_path, monkeypatch):
    X, y = rows()
    monkeypatch.setattr(on_disk, "LARGEST_INT32", X.nnz - 1)
    monkeypatch.setattr(on_disk, "_CHUNK", 100)
    with datasets.CSRWriter(tmp_path / "data") as out:
        out.append(X, y)
    header = json.loads((tmp_path / "data" / "header.json").read_text())
    assert header["indices"][0] == header["indptr"][0] == "<i8"
    monkeypatch.setattr(on_disk, "LARGEST_INT32", 20)  # features beyond it, from the start
    with datasets.CSRWriter(tmp_path / "more") as out:
        out.append(X[:9, :15], y[:9])
        out.append(X[9:], y[9:])
    for name in ("data", "more"):
        found = datasets.open_folder(tmp_path / name).X
        start = 9 if name == "more" else 0
        assert (found[start:] != X[start:]).nnz == 0


@pytest.mark.parametrize(
    ("text", "zero_based", "shape"),
    [
        ("1 1:1 3:2\n-1 2:1\n", "auto", (2, 3)),
        ("1 0:1 3:2\n-1 2:1\n", "auto", (2, 4)),
        ("1 1:1 3:2\n-1 2:1\n", True, (2, 4)),
        ("1 1:1 3:2\n-1 2:1", False, (2, 3)),
        ("1 qid:3 1:1 3:2 # hello\r\n\r\n-1 2:1\r\n", "auto", (2, 3)),
        ("1\n-1 2:1\n", "auto", (2, 2)),
    ],
)
def test_the_first_index(text, zero_based, shape, tmp_path):
    source = tmp_path / "data.svm"
    source.write_text(text)
    data = datasets.open_folder(datasets.convert(source, tmp_path / "data", zero_based=zero_based))
    assert data.X.shape == shape
    wide = datasets.convert(source, tmp_path / "wide", zero_based=zero_based, n_features=9)
    assert datasets.open_folder(wide).X.shape == (2, 9)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("one 1:1", "line 5: it must begin with a number, the target, not 'one'"),
        ("nan 1:1", "line 5: it must begin with a number"),
        ("1 3", "line 5: '3' is not a pair index:value"),
        ("1 a:3", "line 5: the index 'a' is not a whole number"),
        ("1 -1:3", "line 5: the index '-1' is negative"),
        ("1 3:1 2:1", "line 5: the index 2 comes after 3: indices must ascend"),
        ("1 3:1 3:1", "line 5: the index 3 comes after 3"),
        ("1 3:abc", "line 5: the value 'abc' is not a finite float64"),
        ("1 3:inf", "line 5: the value 'inf' is not a finite float64"),
        ("1 3:", "line 5: the value '' is not a finite float64"),
        ("1,2 3:4", "line 5: it must begin with a number"),
        ("1 0:2", "line 5: the index 0 is below 1, the first one"),
    ],
)
@pytest.mark.parametrize("block", [10, 8_000_000])
def test_a_bad_line_is_named_and_nothing_is_left(line, words, block, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", block)
    source = tmp_path / "data.svm"
    source.write_text(f"# ours\n1 1:1\n\n-1 2:1 3:1\n{line}\n1 1:1\n")
    with pytest.raises(DatasetDamagedError, match=r"data\.svm, ") as error:
        datasets.convert(source, tmp_path / "data", zero_based=False)
    assert words in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["data.svm"]


def test_values_that_do_not_fit_are_named(tmp_path):
    source = tmp_path / "data.svm"
    source.write_text("1 1:1\n1 1:1e300\n")
    with pytest.raises(DatasetDamagedError, match="line 2: the value '1e300' is not a finite"):
        datasets.convert(source, tmp_path / "data", dtype="float32")


@pytest.mark.parametrize("packing", [".gz", ".bz2", ".xz"])
def test_a_packed_file_that_is_torn_is_refused(packing, tmp_path):
    X, y = rows()
    source = tmp_path / f"data.svm{packing}"
    source.write_bytes(PACKERS[packing](text_of(X, y))[:-40])
    with pytest.raises(DatasetDamagedError, match="damaged or not in LIBSVM format"):
        datasets.convert(source, tmp_path / "data")
    source.write_bytes(b"1 1:1\n")
    with pytest.raises(DatasetDamagedError, match="damaged or not in LIBSVM format"):
        datasets.convert(source, tmp_path / "data")
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


def test_refuses_in_words(tmp_path):
    source, folder = tmp_path / "data.svm", tmp_path / "data"
    source.write_text("\n# nothing\n")
    with pytest.raises(DatasetDamagedError, match="has no rows"):
        datasets.convert(source, folder)
    source.write_text("1\n-1\n")
    with pytest.raises(ValueError, match="2 rows and 0 features"):
        datasets.convert(source, folder)
    source.write_text("1 1:1 7:1\n")
    with pytest.raises(ValueError, match="n_features is 3, but a row has an entry at 7"):
        datasets.convert(source, folder, n_features=3)
    with pytest.raises(ValueError, match="zero_based must be"):
        datasets.convert(source, folder, zero_based="yes")
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        datasets.convert(source, folder, dtype="int8")
    with pytest.raises(FileNotFoundError):
        datasets.convert(tmp_path / "none.svm", folder)
    assert [path.name for path in tmp_path.iterdir()] == ["data.svm"]
    datasets.convert(source, folder)
    with pytest.raises(FileExistsError, match="exists already"):
        datasets.convert(source, folder)
    X, y = rows()
    with (
        pytest.raises(ValueError, match="one for each row"),
        datasets.CSRWriter(tmp_path / "other") as out,
    ):
        out.append(X, y[:-1])
    (tmp_path / "mine.part").mkdir()
    (tmp_path / "mine.part" / "thesis.tex").touch()
    with pytest.raises(FileExistsError, match="in the way"):
        datasets.CSRWriter(tmp_path / "mine")


def test_what_a_broken_conversion_left_is_cleared_away(tmp_path):
    X, y = rows()
    lines = (
        "import os, sys",
        "from dualgap.datasets import CSRWriter",
        "CSRWriter(sys.argv[1]).append([[1.0]], [1.0])",
        "os._exit(9)",  # as if it had been killed
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(dg.__file__).parents[1])}
    command = [sys.executable, "-c", "\n".join(lines), tmp_path / "data"]
    assert subprocess.run(command, env=environment, check=False).returncode == 9
    assert [path.name for path in tmp_path.iterdir()] == ["data.part"]
    with pytest.raises(DatasetDamagedError, match="has no header"):
        datasets.open_folder(tmp_path / "data.part")
    written(tmp_path / "data", X, y)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_duplicate_entries_are_added_up(tmp_path):
    X = sp.csr_array(([1.0, 2.0, 4.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    with datasets.CSRWriter(tmp_path / "data") as out:
        out.append(X, [1.0])
    np.testing.assert_array_equal(datasets.open_folder(tmp_path / "data").X.toarray(), [[4.0, 3.0]])


# --- folders ------------------------------------------------------------------------------------


def spoil(folder, how):
    header = json.loads((folder / "header.json").read_text())
    if how in ("data", "indices", "indptr", "y"):
        file = folder / f"{how}.npy"
        file.write_bytes(file.read_bytes()[:-8])
    elif how == "pickle":
        with open(folder / "y.npy", "wb") as file:
            np.save(file, np.array([Path("/")], dtype=object), allow_pickle=True)
    elif how == "swapped":
        (folder / "y.npy").rename(folder / "x.npy")
        (folder / "data.npy").rename(folder / "y.npy")
        (folder / "x.npy").rename(folder / "data.npy")
    elif how == "json":
        (folder / "header.json").write_text("{")
    else:
        changes = {"newer": {"version": 9}, "other": {"format": "x"}, "shape": {"shape": [7, 7]}}
        (folder / "header.json").write_text(json.dumps({**header, **changes[how]}))


@pytest.mark.parametrize(
    "how",
    ["data", "indices", "indptr", "y", "pickle", "swapped", "json", "newer", "other", "shape"],
)
def test_a_damaged_folder_is_refused(how, tmp_path):
    written(tmp_path / "data", *rows())
    spoil(tmp_path / "data", how)
    with pytest.raises(DatasetDamagedError, match="newer dualgap" if how == "newer" else "damaged"):
        datasets.open_folder(tmp_path / "data")


def test_slices_copies_and_other_maps_are_not_on_disk(tmp_path):
    X, y = rows()
    data = written(tmp_path / "data", X, y)
    assert storage.is_on_disk(data.X)
    for other in (data.X[:5], data.X.copy(), data.X.tocsc(), X, X.toarray()):
        assert not storage.is_on_disk(other)
    parts = [np.asarray(part) for part in (data.X.data, data.X.indices, data.X.indptr)]
    assert not storage.is_on_disk(sp.csr_array(tuple(parts), shape=X.shape))  # as joblib has them


# --- solving ------------------------------------------------------------------------------------

CASES = {
    ("hinge", "l2", False): "sweeps",
    ("logistic", "l2", False): "sweeps",
    ("logistic", "l2", True): "prox-point",
    ("logistic", "l1", False): "afg",
    ("hinge", "l1", False): "prox-point",
    ("poisson", "l2", False): "afg",
}


@pytest.mark.parametrize("case", CASES)
def test_auto_takes_no_method_that_turns_rows_around(case, tmp_path, monkeypatch):
    loss, penalty, intercept = case
    X, y = rows()
    y = np.maximum(y, 0.0) if loss == "poisson" else y
    data = written(tmp_path / "data", X, y)
    monkeypatch.setattr(storage, "columns", None)  # nobody may ask for them
    monkeypatch.setattr(storage, "select", None)
    y = np.maximum(data.y, 0.0) if loss == "poisson" else data.y
    problem = dg.Problem(data.X, y, loss, penalty, 1e-2, intercept=intercept)
    solution = dg.solve(problem, tol=1e-5)
    assert solution.converged
    assert solution.method.startswith(f"auto ({CASES[case]}, since X lies on disk")
    monkeypatch.undo()
    memory = dg.solve(dg.Problem(X, y, loss, penalty, 1e-2, intercept=intercept), tol=1e-5)
    assert memory.certificate.dual <= solution.certificate.primal
    assert solution.certificate.dual <= memory.certificate.primal


def test_coordinates_of_rows_on_disk_are_samples(tmp_path):
    X, y = rows()
    problem = dg.Problem(written(tmp_path / "data", X, y).X, y, "logistic", lam=1e-7)
    view_of = METHODS["cd-permutation"].step.view_of
    assert view_of(problem) == "dual"
    assert view_of(dg.Problem(X, y, "logistic", lam=1e-7)) == "primal"


def test_estimators_and_checkpoints_take_rows_on_disk(tmp_path):
    data = written(tmp_path / "data", *rows())
    model = dg.LogisticRegression(tol=1e-6).fit(data.X, data.y)
    assert "on disk" in model.solution_.method
    problem = dg.Problem(data.X, data.y, "hinge", lam=1e-2)
    looks = iter(range(2))
    file = tmp_path / "run"
    dg.solve(problem, tol=1e-7, checkpoint=file, callback=lambda _: next(looks, None) is None)
    again = dg.solve(problem, tol=1e-7, checkpoint=file)
    np.testing.assert_array_equal(again.coef, dg.solve(problem, tol=1e-7).coef)
    same = pickle.loads(pickle.dumps(data.X))
    assert (same != data.X).nnz == 0


# --- the command --------------------------------------------------------------------------------


def test_the_command(tmp_path):
    X, y = rows()
    source = tmp_path / "data.svm.gz"
    source.write_bytes(gzip.compress(text_of(X, y)))
    command = ["convert", str(source), str(tmp_path / "data"), "--float32", "--features", "50"]
    result = CliRunner().invoke(cli.app, command)
    assert result.exit_code == 0, result.output
    assert f"300 rows, 50 features, {X.nnz:,} entries" in result.output
    assert datasets.open_folder(tmp_path / "data").X.dtype == np.float32
    again = CliRunner().invoke(cli.app, command)
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    source.write_bytes(gzip.compress(b"1 1:1\n1 x\n"))
    command = ["convert", str(source), str(tmp_path / "bad"), "--one-based"]
    bad = CliRunner().invoke(cli.app, command)
    assert bad.exit_code == 2
    assert "line 2" in bad.stderr


@pytest.mark.cluster
def test_gigabytes_are_solved_in_a_tenth_of_the_memory(tmp_path):
    """As ``make bench-out-of-core``, which prints what it measures."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "benchmarks.out_of_core", "--folder", tmp_path]
    command += ["--gigabytes", "4", "--text", "2"]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    measured = json.loads(done.stdout.splitlines()[-1])
    for name in ("generated", "converted"):
        found = measured[name]
        assert found["relative_gap"] <= 1e-3
        assert found["solve_peak"] < 0.1 * found["bytes"]
    assert measured["generated"]["bytes"] > 4e9
    assert measured["converted"]["convert_peak"] < 0.1 * measured["converted"]["bytes"]
