"""Tables and other data that a user can name: what is read, and which cell is wrong."""

import gzip
import os

import numpy as np
import pytest

from dualgap.datasets import convert, csv_text
from dualgap.datasets.errors import DatasetDamagedError, DatasetNotFoundError
from dualgap.datasets.files import platformdirs
from dualgap.datasets.open import open_data
from dualgap.datasets.tables import Wanted

CSV = "a,b,label,w\n1,0.1,yes,2\n-2e-3,3,no,1\n"


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("DUALGAP_DATA", "")
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(tmp_path / "cache"))


def written(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data.csv", CSV),
        ("data.CSV", CSV),
        ("data.tsv", CSV.replace(",", "\t")),
        ("data.csv", CSV.replace(",", ";")),
        ("data.csv", "\ufeff" + CSV.replace("\n", "\r\n")),
        ("data.csv", '"a","b",label,w\n\n"1",0.1,"yes" , 2\n-2e-3,3,no,1\n\n'),
        ("data.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("data.txt", CSV),
    ],
)
def test_csv(name, text, tmp_path):
    data = open_data(written(tmp_path, text, name), Wanted("label", "w"))
    np.testing.assert_array_equal(data.X, [[1, 0.1], [-2e-3, 3]])
    np.testing.assert_array_equal(data.y, ["yes", "no"])
    np.testing.assert_array_equal(data.weights, [2, 1])
    assert data.features == ("a", "b")
    assert data.name == name


def test_csv_in_chunks_is_the_same(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((25, 3))
    text = "x,y,z\n" + "".join(",".join(map(repr, map(float, row))) + "\n" for row in numbers)
    path = written(tmp_path, text)
    for chunk in (1, 7, 100):
        monkeypatch.setattr(csv_text, "CHUNK", chunk)
        data = open_data(path, Wanted("y"))
        np.testing.assert_array_equal(data.X, numbers[:, [0, 2]])
        np.testing.assert_array_equal(data.y, numbers[:, 1])
        assert data.y.dtype == np.float64


def test_columns_may_be_left_out_or_asked_for(tmp_path):
    path = written(tmp_path, CSV)
    assert open_data(path, Wanted("label", None, ["a"])).features == ("b", "w")
    chosen = open_data(path, Wanted("label", None, (), ["w", "a"], target_needed=False))
    np.testing.assert_array_equal(chosen.X, [[2, 1], [1, -2e-3]])
    assert open_data(path, Wanted(None, None, ["label"], None, target_needed=False)).y is None


def test_a_table_without_names(tmp_path):
    path = written(tmp_path, "1,2,0\n3,4,1\n")
    data = open_data(path, Wanted("3"))
    assert data.features == ("1", "2")
    np.testing.assert_array_equal(data.y, [0, 1])
    iris = written(tmp_path, "5.1,3.5,setosa\n4.9,3.0,other\n", "iris.data")
    np.testing.assert_array_equal(open_data(iris, Wanted("3")).y, ["setosa", "other"])


@pytest.mark.parametrize(
    ("text", "wanted", "says"),
    [
        (CSV, Wanted(), "which column of .* is the target: --target NAME, of a, b, label, w"),
        (CSV, Wanted("labels"), "the column 'labels' is unknown .did you mean 'label'"),
        (CSV, Wanted("label", None, ["a", "b", "w"]), "no column that is left for features"),
        (CSV, Wanted("a"), "line 2, column 'label': 'yes' is not a finite number; encode it"),
        (CSV.replace("0.1", ""), Wanted("label"), "line 2, column 'b': the cell is empty"),
        (CSV.replace("0.1", "nan"), Wanted("label"), "column 'b': 'nan' is not a finite number"),
        (CSV.replace("no", ""), Wanted("label"), "line 3 has no target"),
        (
            CSV.replace("no,1", "no"),
            Wanted("label"),
            "line 3 has 3 cells where the first",
        ),
        (CSV.replace("a,b", "a,a"), Wanted("label"), "two columns of the name 'a'"),
        ("a,b\n", Wanted("a"), "has no rows"),
        ("", Wanted("a"), "is empty$"),
        (",".join(map(str, range(999))), Wanted("t"), "known are 1, 2, .*, 9, 10, [.]{3}$"),
        (b"\x89PNG\r\n\x1a\n\x00", Wanted("a"), r"is not text in UTF-8 \(byte 0x89\)"),
        ("a,b\n1,caf\u00e9\n".encode("latin-1"), Wanted("b"), r"not text in UTF-8 \(byte 0xe9\)"),
        (b"a,b\n1,\x00\n", Wanted("a"), "line 2 has zero bytes: this is not text"),
        ("a,b\n1,5,3\n", Wanted("a"), "line 2 has 3 cells"),
        ("a;b\n1,5;3\n", Wanted("b"), "'1,5' is not a finite number; write a point for the comma"),
        ('\n\na,b\n\n1,"no\n one"\n\n2,\n', Wanted("b"), "line 8 has no target"),
        ('\n\n1,2\n\n1,"no\n one"\n\nx,y\n', Wanted("2"), "line 8, column '1': 'x' is not"),
        ("a,b\n1," + "3" * 200_000, Wanted("a"), "field larger than field limit"),
    ],
)
def test_what_is_wrong_with_a_table(text, wanted, says, tmp_path):
    path = written(tmp_path, text)
    with pytest.raises((ValueError, OSError), match=says) as found:
        open_data(path, wanted)
    assert "damaged" not in str(found.value)


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_text, "LONGEST", 1000)
    with pytest.raises(DatasetDamagedError, match="line 2 is longer than"):
        open_data(written(tmp_path, "a,b\n" + "1," * 2000), Wanted("a"))


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "data.parquet"

    def write(**columns):
        parquet.write_table(pa.table(columns), path)

    write(a=[1, 2], b=[True, False], label=["x", "y"], w=[1.0, 0.5], when=[None, None])
    data = open_data(str(path), Wanted("label", "w", ["when"]))
    np.testing.assert_array_equal(data.X, [[1, 1], [2, 0]])
    np.testing.assert_array_equal(data.y, ["x", "y"])
    np.testing.assert_array_equal(data.weights, [1, 0.5])
    assert data.features == ("a", "b")
    with pytest.raises(ValueError, match="which column"):
        open_data(str(path))
    with pytest.raises(OSError, match="column 'label' holds string, not numbers"):
        open_data(str(path), Wanted("a", None, ["when"]))
    with pytest.raises(OSError, match=r"column 'when' has empty cells \(2\)"):
        open_data(str(path), Wanted("a", None, ["label"]))
    write(a=[1.0, np.nan], b=[1, 2])
    with pytest.raises(OSError, match="column 'a' has entries that are not finite"):
        open_data(str(path), Wanted("b"))
    write(a=pa.array([], pa.float64()), b=pa.array([], pa.float64()))
    with pytest.raises(OSError, match="has no rows"):
        open_data(str(path), Wanted("b"))
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(OSError, match="damaged or not in Parquet format"):
        open_data(str(path), Wanted("b"))


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pip install 'dualgap\[parquet\]'"):
        open_data(written(tmp_path, b"PAR1", "data.parquet"), Wanted("a"))


def test_libsvm_and_folders_keep_their_labels(tmp_path):
    path = written(tmp_path, "2 1:0.5 3:1\n1 2:2\n", "data.svm")
    text = open_data(path, n_features=5)
    assert text.X.shape == (2, 5)
    np.testing.assert_array_equal(text.y, [2, 1])
    folder = open_data(str(convert(path, tmp_path / "folder")))
    np.testing.assert_array_equal(folder.y, [2, 1])
    for where in (path, str(tmp_path / "folder")):
        with pytest.raises(ValueError, match="--weights is for tables"):
            open_data(where, Wanted(None, "w"))
    with pytest.raises(OSError, match="has no features: each line has a target only"):
        open_data(written(tmp_path, "1\n2\n", "bare.svm"))


def test_small_sets_have_names(tmp_path, monkeypatch):
    data = open_data("diabetes")
    assert data.X.shape == (442, 10)
    assert data.features[:3] == ("age", "sex", "bmi")
    with pytest.raises(ValueError, match="--target is for tables, and diabetes is a data set"):
        open_data("diabetes", Wanted("y"))
    # A file of that name in the user's own folder comes first.
    monkeypatch.setenv("DUALGAP_DATA", str(tmp_path))
    written(tmp_path, "1 1:1\n2 1:2\n", "diabetes.svm")
    assert open_data("diabetes").X.shape == (2, 1)


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        open_data(str(tmp_path / "gone.svm"))
    with pytest.raises(DatasetNotFoundError, match="no file 'wins', and data set 'wins' is"):
        open_data("wins")
    with pytest.raises(
        DatasetNotFoundError, match=r"w8a.*downloads are switched off.*Put the file into"
    ):
        open_data("w8a", download=False)
    with pytest.raises(OSError, match="was not made by dualgap convert"):
        open_data(os.fspath(tmp_path))
