"""The command, as a person or a script meets it: texts, files, exit codes."""

import csv
import io
import itertools
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import LinearSVC
from typer.testing import CliRunner

import dualgap as dg
from dualgap.cli import app, show
from dualgap.cli.lam import parse_lam
from dualgap.datasets import fetch, files
from dualgap.methods import METHODS
from dualgap.proof.prove import find_proof

COMMANDS = (
    "fit", "predict", "certify", "path", "compare", "methods", "reproduce", "convert",
    "datasets list", "datasets get",
)  # fmt: skip
rng = np.random.default_rng(0)
X = sp.random(80, 6, 0.6, "csr", random_state=0)
X.data = np.round(X.data, 6)
NUMBERS = np.round(X @ rng.standard_normal(6) + 0.1 * rng.standard_normal(80), 6)
LABELS = np.where(np.median(NUMBERS) < NUMBERS, 2, 1)
HINGE = ("--loss", "hinge", "--intercept", "no", "--lam", "0.05")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """No data sets but those of scikit-learn, no network, and 80 columns."""
    monkeypatch.setenv("DUALGAP_DATA", "")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(files.platformdirs, "user_cache_dir", lambda name: str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "BASE_URL", "http://127.0.0.1:9/")
    monkeypatch.setattr(fetch, "PAUSE", 0.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files with the same data, and a model that was fitted to them."""
    where = tmp_path_factory.mktemp("data")
    dump_svmlight_file(X, LABELS, str(where / "train.svm"), zero_based=False)
    dump_svmlight_file(X, NUMBERS, str(where / "amount.svm"), zero_based=False)
    names = [f"x{j}" for j in range(6)]
    with open(where / "train.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "kind", "amount"])
        for row, label, number in zip(X.toarray(), LABELS, NUMBERS):
            writer.writerow([*row, "high" if label == 2 else "low", number])
    done = run("fit", where / "train.svm", *HINGE, "-o", where / "model.json")
    assert done.exit_code == 0, done.output
    (where / "model.txt").write_text(done.stdout)
    return where


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def error_of(*arguments, code=2):
    """The one line that a failure prints."""
    done = run(*arguments)
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    assert "Traceback" not in done.output
    return lines[0]


def table_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# --- help -----------------------------------------------------------------------------------------


def test_the_program_lists_its_commands():
    text = run("--help").stdout
    for command in COMMANDS:
        assert command.split()[0] in text
    assert "130 Ctrl-C" in text
    assert run("--version").stdout == f"dualgap {dg.__version__}\n"
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command):
    done = run(*command.split(), "--help")
    assert done.exit_code == 0
    assert f"dualgap {command}" in done.stdout
    assert "Example" in done.stdout
    assert "--debug" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


# --- fit ------------------------------------------------------------------------------------------


def test_fit_prints_a_proof_in_words_and_a_table(folder):
    text = (folder / "model.txt").read_text()
    words = " ".join(text.split())
    assert "Proven: this model is at most" in words
    assert "as asked for (1.0e-06)" in words
    assert "train.svm: 80 rows, 6 features" in words
    assert "Hinge loss, L2 penalty, λ = 0.05, no intercept" in words
    for name in ("data", "problem", "method", "objective", "lower bound", "gap", "passes", "model"):
        assert re.search(rf"^{name} ", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_the_model_is_that_of_the_library(folder):
    model = dg.load_model(folder / "model.json")
    problem = dg.Problem(X, LABELS, "hinge", lam=0.05)
    np.testing.assert_allclose(model.coef, dg.solve(problem, tol=1e-6).coef, atol=1e-12)
    np.testing.assert_array_equal(model.classes, [1, 2])
    assert dg.certify(problem, model.coef).primal == pytest.approx(model.certificate.primal)
    assert model.settings["tol"] == 1e-6


def test_fit_as_json_is_json_alone(folder, tmp_path):
    where = tmp_path / "model.npz"
    done = run("fit", folder / "train.svm", *HINGE[2:], "--tol", "1e-5", "--json", "-o", where)
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["status"] == "converged"
    assert found["gap"] <= found["tol"] * found["scale"]
    assert found["data"] == {"name": "train.svm", "rows": 80, "features": 6}
    assert found["model"] == str(where)
    assert "Logistic" in found["problem"]
    assert "logistic loss, since the target has two values" in done.stderr
    assert dg.load_model(where).certificate.gap == found["gap"]


def test_a_target_that_was_not_reached_is_exit_code_1(folder, tmp_path):
    where = tmp_path / "rough.json"
    few = ("--method", "cd-permutation", "--max-epochs", "1", "--tol", "1e-9")
    done = run("fit", folder / "train.svm", *HINGE, *few, "-o", where)
    assert done.exit_code == 1
    words = " ".join(done.stdout.split())
    assert "Stopped at max_epochs before the gap reached the target." in words
    assert "Raise --max-epochs or --tol" in words
    assert "more than asked for (1.0e-09)" in words
    assert not dg.load_model(where).settings["converged"]


def test_fit_of_a_table(folder, tmp_path):
    where = tmp_path / "model.json"
    given = ("--target", "kind", "--drop", "amount", *HINGE)
    assert run("fit", folder / "train.csv", *given, "-o", where).exit_code == 0
    model = dg.load_model(where)
    assert model.feature_names == tuple(f"x{j}" for j in range(6))
    assert list(model.classes) == ["high", "low"]
    other = dg.load_model(folder / "model.json")
    np.testing.assert_allclose(model.coef, -other.coef, atol=1e-4)  # "high" comes first
    done = run("predict", where, folder / "train.csv")
    mine = ["high" if score > 0.0 else "low" for score in X @ other.coef]
    assert [row["prediction"] for row in table_of(done.stdout)] == mine
    assert re.search(r"80 predictions; \d\d\.\d\d% have the label of the data", done.stderr)


# --- predict and certify --------------------------------------------------------------------------


def test_predict_says_what_is_proven(folder, tmp_path):
    model = dg.load_model(folder / "model.json")
    done = run("predict", folder / "model.json", folder / "train.svm", "--certified", "--decision")
    assert done.exit_code == 0
    rows = table_of(done.stdout)
    assert list(rows[0]) == ["prediction", "decision", "radius", "proven"]
    np.testing.assert_array_equal([float(row["decision"]) for row in rows], model.decision(X))
    proven = [row["proven"] == "yes" for row in rows]
    np.testing.assert_array_equal(proven, model.is_proven(X))
    assert {row["prediction"] for row in rows} == {"1", "2"}
    assert f"{sum(proven)} are proven" in done.stderr
    found = json.loads(run("predict", folder / "model.json", folder / "train.svm", "--json").stdout)
    assert found["prediction"] == model.predict(X).tolist()
    columns = (
        "--target",
        "kind",
        "--drop",
        "amount",
    )  # the model does not know its features' names
    done = run("predict", folder / "model.json", folder / "train.csv", *columns)
    assert [row["prediction"] for row in table_of(done.stdout)] == [r["prediction"] for r in rows]
    where = tmp_path / "out.csv"
    run("predict", folder / "model.json", folder / "train.svm", "-o", where)
    assert [row["prediction"] for row in table_of(where.read_text())] == [
        row["prediction"] for row in rows
    ]


def test_certify_proves_anew(folder, tmp_path):
    done = run("certify", folder / "model.json", folder / "train.svm", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["proven"]
    assert found["gap"] <= 1e-6 * found["scale"]
    words = " ".join(run("certify", folder / "model.json", folder / "train.svm").stdout.split())
    assert "no model of this kind has one below" in words
    assert "train.svm: 80 rows, 6 features" in words
    assert "problem Hinge loss, L2 penalty, λ = 0.05, no intercept objective" in words
    # On other data it is another question.
    other = tmp_path / "other.svm"
    dump_svmlight_file(X[::-1], LABELS, str(other), zero_based=False)
    done = run("certify", folder / "model.json", other)
    assert done.exit_code == 1
    assert "more than asked for" in " ".join(done.stdout.split())
    dump_svmlight_file(X, LABELS + 1, str(other), zero_based=False)
    assert "the label 3, but the model knows only 1, 2" in error_of(
        "certify", folder / "model.json", other
    )


def test_an_index_is_the_feature_that_it_was_at_the_fit(tmp_path, monkeypatch):
    files = {
        "from_zero.svm": "1 0:1 2:3\n-1 0:-1 1:1\n1 0:2\n-1 0:-2\n",
        "from_one.svm": "1 1:1 3:3\n-1 1:-1 2:1\n1 1:2\n-1 1:-2\n",
        "part.svm": "1 1:1\n1 2:1\n",
        "all.svm": "1 0:1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("DUALGAP_DATA", str(tmp_path))
    for name, columns in (("from_zero", [1, 2]), ("from_one", [0, 1])):
        where = tmp_path / f"{name}.json"
        assert run("fit", tmp_path / f"{name}.svm", *HINGE, "-o", where).exit_code == 0
        model = dg.load_model(where)
        for data in (tmp_path / "part.svm", "part"):  # by its path, and by its name
            rows = table_of(run("predict", where, data, "--decision").stdout)
            assert [float(row["decision"]) for row in rows] == model.coef[columns].tolist()
        assert run("certify", where, name).exit_code == 0
    line = error_of("predict", tmp_path / "from_one.json", tmp_path / "all.svm")
    assert "line 1: the index 0 is below 1, the first one" in line
    assert run("predict", tmp_path / "from_zero.json", tmp_path / "all.svm").exit_code == 0


class Trace:
    """Leaves a trace where it is unpickled."""

    def __init__(self, where):
        self.where = where

    def __reduce__(self):
        return (Path.touch, (self.where,))


def test_pickles_are_read_with_trust_only(folder, tmp_path):
    trace = tmp_path / "trace"
    (tmp_path / "evil.joblib").write_bytes(pickle.dumps(Trace(trace)))
    line = error_of("certify", tmp_path / "evil.joblib", folder / "train.svm")
    assert "needs --trust: reading it runs code" in line
    assert not trace.exists()
    model = LinearSVC(loss="hinge", tol=1e-8, fit_intercept=False, max_iter=100_000)
    joblib.dump(model.fit(X, LABELS), tmp_path / "svc.joblib")
    done = run("certify", tmp_path / "svc.joblib", folder / "train.svm", "--trust", "--json")
    assert done.exit_code in (0, 1)
    found = json.loads(done.stdout)
    assert found["objective"] == pytest.approx(float(dg.certify(model, X, LABELS).primal))
    done = run("certify", tmp_path / "svc.joblib", folder / "train.svm", "--trust")
    assert "model LinearSVC of scikit-learn, by its own objective" in " ".join(done.stdout.split())
    assert "cannot be read as a joblib or pickle file" in error_of(
        "certify", folder / "train.csv", folder / "train.svm", "--trust"
    )


# --- compare, path, methods, datasets -------------------------------------------------------------


def test_compare_races_methods(folder, tmp_path):
    methods = "auto,cd-permutation,adasdca+"
    given = (folder / "train.svm", *HINGE, "--methods", methods)
    done = run("compare", *given, "--plot", tmp_path / "race.png")
    assert done.exit_code == 0, done.output
    words = " ".join(done.stdout.split())
    assert re.search(r"cd-permutation converged \d\.\de-\d\d", words)
    assert "adasdca+ cannot solve this problem: the Hinge loss is not smooth" in words
    assert (tmp_path / "race.png").stat().st_size > 5_000
    done = run("compare", *given, "--json", "--html", tmp_path / "race.html")
    found = json.loads(done.stdout)
    page = (tmp_path / "race.html").read_text()
    assert "cd-permutation" in page
    assert "dualgap" in page
    assert set(found["runs"]) == {"auto", "cd-permutation"}
    assert set(found["refused"]) == {"adasdca+"}
    assert found["runs"]["auto"]["history"]["gap"][-1] >= 0.0
    assert "unknown" in error_of("compare", folder / "train.svm", "--methods", "quarz")
    found = json.loads(run("compare", folder / "train.svm", "--loss", "hinge", "--json").stdout)
    assert set(found["runs"]) == {"auto", "prox-point", "sweeps"}  # few take an intercept and kinks
    line = error_of("compare", *given[:-1], "adasdca+")
    assert "adasdca+ cannot solve this problem" in line
    few = ("--methods", "cd-permutation", "--max-epochs", "1", "--tol", "1e-9")
    assert run("compare", folder / "train.svm", *HINGE, *few).exit_code == 1
    line = error_of("compare", *given, "--plot", tmp_path / "race.png", "--x", "second")
    assert "--x 'second' is unknown (did you mean 'seconds'?)" in line
    assert "there is no folder" in error_of("compare", *given, "--html", tmp_path / "gone" / "x")
    for command, picture in itertools.product(("compare", "path"), ("gone/race.png", "race.foo")):
        line = error_of(command, folder / "train.svm", "--plot", tmp_path / picture)
        assert "--plot must be a .png, .svg or .pdf file in an existing folder, not" in line


def test_path_goes_down_from_lambda_max(folder, tmp_path):
    given = (folder / "amount.svm", "--intercept", "no")
    drawn = ("--plot", tmp_path / "path.png")
    done = run("path", *given, "--grid", "4", "-o", tmp_path / "path.csv", *drawn)
    assert (tmp_path / "path.png").stat().st_size > 5_000
    assert done.exit_code == 0, done.output
    rows = table_of((tmp_path / "path.csv").read_text())
    problem = dg.Problem(X, NUMBERS, "squared", "l1")
    highest = np.abs(X.T @ NUMBERS).max() / 80
    assert float(rows[0]["lam"]) == pytest.approx(highest)
    assert rows[0]["nonzero"] == "0"
    assert len(rows) == 4
    found = json.loads(run("path", *given, "--lams", "0.001,max/2", "--json").stdout)
    first, last = found["path"]
    assert first["lam"] == pytest.approx(highest / 2)
    assert last["lam"] == 0.001
    coef = np.zeros(last["shape"])
    coef[tuple(last["places"])] = last["values"]
    proof = dg.certify(problem.with_lam(0.001), coef)
    assert proof.primal == pytest.approx(last["objective"])
    line = error_of("path", *given, "--penalty", "l2")
    assert "without an L1 part" in line
    assert "--lams" in line
    assert ".csv or .json" in error_of("path", *given, "-o", tmp_path / "path.txt")


def interrupting(function, call):
    """The same function, except that Ctrl-C is pressed during one call of it."""
    calls = itertools.count(1)

    def pressed(*given, **options):
        if next(calls) == call:
            raise KeyboardInterrupt
        return function(*given, **options)

    return pressed


def test_ctrl_c_ends_a_path_even_if_the_run_is_proven(folder, tmp_path, monkeypatch):
    where = tmp_path / "path.csv"
    command = ("path", folder / "amount.svm", "--intercept", "no", "--grid", "6", "-o", where)
    command += ("--method", "cd-gap-decay")
    whole = run(*command)
    assert whole.exit_code == 0
    rows = where.read_text().splitlines()
    places = (
        (("dualgap.run.loop", "find_proof", find_proof), 3),
        (("dualgap.run.path", "solve", dg.solve), 2),
    )
    for (module, name, usual), done in places:  # in the proof of the third run, and before that run
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules[module], name, interrupting(usual, 3))
            assert run(*command).exit_code == 130
        kept = [line.split(",")[0] for line in where.read_text().splitlines()]
        assert kept == [line.split(",")[0] for line in rows[: done + 1]]


def test_ctrl_c_ends_a_race_even_if_the_run_is_proven(folder, tmp_path, monkeypatch):
    page = tmp_path / "race.html"
    given = ("compare", folder / "train.svm", *HINGE, "--methods", "cd-permutation,sdca", "--json")
    monkeypatch.setattr("dualgap.run.loop.find_proof", interrupting(find_proof, 1))
    done = run(*given)
    assert done.exit_code == 130
    assert list(json.loads(done.stdout)["runs"]) == ["cd-permutation"]
    monkeypatch.setattr("dualgap.run.loop.find_proof", interrupting(find_proof, 3))  # for the page
    assert run(*given, "--html", page).exit_code == 130
    assert "cd-permutation" in page.read_text()
    monkeypatch.setattr("dualgap.run.loop.find_proof", find_proof)
    monkeypatch.setattr("dualgap.cli.compare.solve", interrupting(dg.solve, 3))
    done = run(*given)
    assert done.exit_code == 130
    assert list(json.loads(done.stdout)["runs"]) == ["cd-permutation"]


def test_methods_are_listed_from_one_source():
    text = " ".join(run("methods").stdout.split())
    for name, method in METHODS.items():
        assert method.when
        assert f"{name} {method.about}. When: {method.when}. {method.paper}" in text
    assert set(json.loads(run("methods", "--json").stdout)) == set(METHODS)
    assert list(json.loads(run("methods", "spdc", "--json").stdout)) == ["spdc"]
    assert "did you mean 'spdc'" in error_of("methods", "spcd")


def test_data_sets(tmp_path, monkeypatch):
    (tmp_path / "w8a.svm").write_text("1 1:1\n-1 2:1\n")
    monkeypatch.setenv("DUALGAP_DATA", str(tmp_path))
    text = run("datasets", "list").stdout
    assert re.search(r"^w8a +two classes +w8a.svm +49,749 +300", text, re.MULTILINE)
    assert re.search(r"^iris +three classes +scikit-learn +150 +4", text, re.MULTILINE)
    listed = json.loads(run("datasets", "list", "--json").stdout)["datasets"]
    assert [entry["name"] for entry in listed] == dg.datasets.names()
    done = run("datasets", "get", "w8a", "wine")
    assert "w8a: 2 rows, 300 features" in done.stdout
    assert "wine: 178 rows, 13 features" in done.stdout
    line = error_of("datasets", "get", "ijcnn1")
    assert "could not be downloaded" in line
    assert f"the folder {tmp_path} (DUALGAP_DATA) has no file ijcnn1" in line


# --- what can be wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "zero bytes: this is not text"),
        (bytes(range(128, 256)) * 10, "line 1: it must begin with a number, the target, not"),
        (b"1 1:1\n1 3:1 2:1\n", "line 2: the index 2 comes after 3"),
        (b"1 1:1\n1 x:1\n", "line 2: the index 'x' is not a whole number"),
        (b"1 -1:1\n", "line 1: the index '-1' is negative"),
        (b"1 1:1\n2 1:nan\n", "line 2: the value 'nan' is not a finite float64"),
        (b"nan 1:1\n", "line 1: it must begin with a number"),
        (b"", "it has no rows"),
        (b"# nothing\n\n", "it has no rows"),
        (b"1\n-1\n1\n", "has no features: each line has a target only"),
        (b"1 1:1\n1 2:1\n", "y has one class only (1)"),
        (b"1 1:1\n2 2:1\n3 1:1\n", "y has 3 different values; Hinge needs"),
        (b"1 1:1e200\n2 1:1\n", "leave the range of float64: rescale X"),
    ],
)
def test_bad_files_are_one_line_and_exit_code_2(content, says, tmp_path):
    file = tmp_path / "bad.svm"
    file.write_bytes(content)
    assert says in error_of("fit", file, "--loss", "hinge")


def test_a_gigabyte_in_one_line(tmp_path):
    file = tmp_path / "hole"
    with open(file, "wb") as out:
        out.truncate(1_000_000_000)  # a hole, which takes no room on the disk
    assert "zero bytes" in error_of("fit", file)
    assert "line 1 is longer than 64 MB" in error_of("fit", file, "--target", "a")
    with open(file, "wb") as out:
        for _ in range(70):
            out.write(b"1" * 1_000_000)
    assert "line 1 is longer than 64 MB" in error_of("fit", file)
    assert "line 1 is longer than 64 MB" in error_of("fit", file, "--target", "a")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gone.svm"], "there is no file 'gone.svm' in this folder$"),
        (["gone"], "there is no file 'gone', and data set 'gone' is unknown"),
        (["gone/gone.svm"], "there is no file 'gone/gone.svm'"),
        (["FOLDER"], "was not made by dualgap convert"),
        (["w8a", "--offline"], "could not be downloaded: downloads are switched off"),
        (["SVM", "--loss", "hing"], "--loss 'hing' is unknown .did you mean 'hinge'"),
        (["SVM", "--penalty", "l3"], "--penalty 'l3' is unknown; known are l2"),
        (["SVM", "--delta", "1"], "--delta does not go with the logistic loss; it belongs to hub"),
        (["SVM", "-q", "0.5"], "--quantile does not go with the logistic loss"),
        (["SVM", "--loss", "quantile", "-q", "2"], "q must be >= 0 and <= 1, not 2"),
        (["SVM", "--l1-ratio", "0.5"], "--l1-ratio belongs to elastic-net, not to l2"),
        (["SVM", "--low", "2", "--high", "1"], "high must be >= 2"),
        (["SVM", "--lam", "1/m"], "--lam must be a number, or made of n and max"),
        (["SVM", "--lam", "0"], "λ must be positive"),
        (["SVM", "--lam", "max"], "max in --lam: no lam makes every coefficient zero"),
        (["SVM", "--intercept", "maybe"], "--intercept 'maybe' is unknown"),
        (["SVM", "--method", "quarz"], "did you mean 'quartz'"),
        (["SVM", "--method", "quartz", *HINGE], "Hinge loss is not smooth.*would work"),
        (["SVM", "--tol", "-1"], "tol must be >= 0"),
        (["SVM", "--threads", "0"], "n_threads must be at least 1"),
        (["SVM", "-o", "model.txt"], "ends in .json or .npz, not model.txt"),
        (["SVM", "-o", "gone/model.json"], "there is no folder gone"),
        (["SVM", "--weights", "w"], "--weights is for tables"),
        (["SVM", "--target", "y"], "--target is for tables, and .* LIBSVM format"),
        (["CSV"], "say which column of .* is the target"),
        (["CSV", "--target", "kin"], "did you mean 'kind'"),
        (
            ["CSV", "--target", "kind", "--loss", "squared"],
            "such as '(high|low)', .* needs numbers",
        ),
        (["CSV", "--target", "amount"], "column 'kind': '(high|low)' is not a finite number"),
    ],
)
def test_what_cannot_be_asked_for(arguments, says, folder):
    places = {"SVM": folder / "train.svm", "CSV": folder / "train.csv", "FOLDER": folder}
    line = error_of("fit", *(places.get(word, word) for word in arguments))
    assert re.search(says, line), line


def test_bad_models(folder, tmp_path):
    svm = folder / "train.svm"
    assert "is not a model of dualgap" in error_of("predict", svm, svm)
    cut, foreign = tmp_path / "cut.json", tmp_path / "foreign.json"
    cut.write_text((folder / "model.json").read_text()[:400])
    foreign.write_text('{"coef": [1, 2]}')
    for command in (("predict",), ("certify",), ("certify", "--trust")):
        # What is JSON is no pickle: nothing is said of --trust, and nothing is unpickled.
        assert error_of(*command, cut, svm).endswith("): write the model again")
        assert error_of(*command, foreign, svm).endswith("is JSON, but not a model of dualgap")
    assert "No such file" in error_of("predict", tmp_path / "gone.json", svm)
    assert "Is a directory" in error_of("predict", tmp_path, svm)
    for command in ("predict", "certify"):
        line = error_of(command, folder / "model.json", "iris")
        assert "iris has 4 features where the model has 6" in line
    narrow = tmp_path / "narrow.csv"
    narrow.write_text("x0,x1\n1,2\n")
    assert "--target" not in error_of("predict", folder / "model.json", narrow)


def test_debug_shows_the_traceback(folder, monkeypatch):
    done = run("fit", folder / "train.svm", "--loss", "hing", "--debug")
    assert done.exit_code == 2
    assert "Traceback (most recent call last)" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: --loss 'hing' is unknown")

    def broken(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr("dualgap.cli.fit.solve", broken)
    line = error_of("fit", folder / "train.svm", *HINGE, code=3)
    assert "a bug in dualgap: KeyError: 'oops' (--debug shows where)" in line


def test_warnings_are_lines(folder, tmp_path):
    state = tmp_path / "run.checkpoint"
    for _ in range(2):
        given = ("--checkpoint", state, "--checkpoint-every", "0")
        done = run("fit", folder / "train.svm", *HINGE, *given)
        assert done.exit_code == 0, done.output
        assert done.stderr == ""
    state.write_bytes(state.read_bytes()[:-50])
    Path(f"{state}.previous").unlink(missing_ok=True)
    done = run("fit", folder / "train.svm", *HINGE, "--checkpoint", state)
    assert done.exit_code == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("warning: ")


# --- pieces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1/n", 1 / 80),
        ("0.25", 0.25),
        ("2e-3*max", 0.002),
        ("max/n", 1 / 80),
        ("-(-3)**2/9+2", 1.0),
    ],
)
def test_lam_may_be_an_expression(expression, value):
    y = NUMBERS / (np.abs(X.T @ NUMBERS).max() / 80)  # for which λ_max is 1
    assert parse_lam(expression, dg.Problem(X, y, "squared", "l1")) == pytest.approx(value)


@pytest.mark.parametrize(
    "expression",
    ["", "x", "n.real", "max()", "__import__('os')", "1/0", "9**9**9", "1e999", "-1", "nan", "True",
     "(-8)**0.5", "1" * 200, "n if n else 1", "[1]", "'1'"],
)  # fmt: skip
def test_but_nothing_else(expression):
    with pytest.raises(ValueError, match="--lam"):
        parse_lam(expression, dg.Problem(X, NUMBERS))


def test_labels_are_written_as_people_write_them():
    values = [1.0, -1.0, np.float64(0.1), np.str_("a"), 7, 1e300, np.inf]
    assert list(map(show.label, values)) == ["1", "-1", "0.1", "a", "7", "1e+300", "inf"]
    assert show.plain({"a": (np.nan, np.int64(3), np.array([1.5])), "b": Path("x")}) == {
        "a": [None, 3, [1.5]],
        "b": "x",
    }


# --- as a process of its own ----------------------------------------------------------------------

PROGRAM = [sys.executable, "-m", "dualgap"]


def environment():
    source = str(Path(dg.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source, "TERM": "xterm", "COLUMNS": "80"}


def test_the_program_runs_and_ends_quietly_in_a_pipe():
    whole = " ".join(map(str, [*PROGRAM, "methods"]))
    done = subprocess.run(
        f"{whole} | head -1", shell=True, env=environment(), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.startswith("sdca ")
    assert done.stderr == ""


def test_ctrl_c_saves_the_best_model(tmp_path):
    """With a real terminal, which shows progress, and a real signal."""
    pty = pytest.importorskip("pty")
    # A tiny λ: nothing that ends by itself in minutes. Most labels have a reason, so that
    # the first pass finds a better model than none.
    noise = sp.csr_matrix(np.round(rng.standard_normal((2000, 20)), 3))
    reasons = noise[:, [0]].toarray()[:, 0]
    labels = np.where(rng.random(2000) < 0.8, np.sign(reasons + 1e-4), rng.choice([-1, 1], 2000))
    data, where = tmp_path / "noise.svm", tmp_path / "model.json"
    dump_svmlight_file(noise, labels, str(data), zero_based=False)
    command = [*PROGRAM, "fit", str(data), "-o", str(where), "--loss", "hinge", "--lam", "1e-8"]
    command += ["--intercept", "no", "--method", "sdca", "--tol", "0", "--max-epochs", "100000000"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stderr=theirs, stdout=subprocess.PIPE, env=environment(), text=True
    ) as process:
        os.close(theirs)
        seen, deadline = "", time.monotonic() + 120.0
        while not re.search(r"[1-9]\d* passes, left", seen):
            assert time.monotonic() < deadline, seen
            seen += os.read(ours, 4096).decode(errors="replace")
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=120)[0]
    os.close(ours)
    assert process.returncode == 130
    assert "Interrupted: this is the best certified model so far." in out
    assert re.search(r"gap \d\.\de[-+]\d\d of 1\.0e-300", seen)
    model = dg.load_model(where)
    proof = dg.certify(dg.Problem(noise, labels, "hinge", lam=1e-8), model.coef)
    assert model.certificate.primal == pytest.approx(proof.primal)
    assert np.any(model.coef)
