"""Proof files: what the library writes, ``dgcheck`` verifies, and changes are refused."""

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from typer.testing import CliRunner

import dgcheck
import dualgap as dg
from dualgap.cli import app
from dualgap.distributed import solve as solve_in_parts
from dualgap.penalties import Box, ElasticNet, Weighted
from dualgap.proof.proof_file import proven_fits, write_proof
from tools.check_proofs import CRASHED, REFUSED, check_many


def judged(data, proof, *options):
    """The exit code of ``dgcheck``."""
    return dgcheck.main([str(data), str(proof), *options])


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.fixture(scope="module")
def cancer(tmp_path_factory):
    """Data, a model, and the files of both."""
    folder = tmp_path_factory.mktemp("cancer")
    X, y = load_breast_cancer(return_X_y=True)
    model = dg.LogisticRegression().fit(X, y)
    np.savez(folder / "data.npz", X=X, y=y)
    model.save_proof(folder / "proof.dgp")
    return folder, X, y, model


MODELS = [
    (dg.LinearSVC(), load_iris),
    (dg.LinearSVC(loss="hinge"), load_breast_cancer),
    (dg.LinearSVC(intercept_penalty="l2", intercept_scaling=3.7), load_breast_cancer),
    (dg.LinearSVC(class_weight="balanced"), load_iris),
    (dg.LogisticRegression(), load_iris),
    (dg.RidgeClassifier(), load_iris),
    (dg.Lasso(), load_diabetes),
    (dg.LassoCV(cv=3), load_diabetes),
    (dg.ElasticNet(positive=True), load_diabetes),
    (dg.Ridge(fit_intercept=False), load_diabetes),
    (dg.RidgeCV(), load_diabetes),
    (dg.QuantileRegressor(quantile=0.1, alpha=0.01), load_diabetes),
    (dg.PoissonRegressor(), load_diabetes),
    (dg.LinearSVR(), load_diabetes),
    (dg.HuberRegression(), load_diabetes),
]


def name_of(part):
    return getattr(part, "__name__", repr(part)[:40])


@pytest.mark.parametrize(("model", "load"), MODELS, ids=name_of)
def test_estimators(model, load, tmp_path, capsys):
    X, y = load(return_X_y=True)
    model = clone(model).fit(X, y)
    proof = model.save_proof(tmp_path / "model.dgp")
    np.savez(tmp_path / "data.npz", X=X, y=y)
    assert judged(tmp_path / "data.npz", proof) == 0
    found = model.certificate_
    count = len(found) if isinstance(found, list) else 1
    assert capsys.readouterr().out.count("VERIFIED gap") == count


def test_several_targets_and_labels_of_text(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    Y = np.c_[y, -y]
    np.savez(tmp_path / "two.npz", X=X, y=Y)
    proof = dg.Ridge().fit(X, Y).save_proof(tmp_path / "two.dgp")
    assert judged(tmp_path / "two.npz", proof) == 0
    words = np.where(y > 140, "ill", "well")
    np.savez(tmp_path / "words.npz", X=X, y=words)
    proof = dg.LogisticRegression().fit(X, words).save_proof(tmp_path / "words.dgp")
    assert judged(tmp_path / "words.npz", proof) == 0
    assert judged(tmp_path / "two.npz", proof) == 1


def test_solutions_with_weights_bounds_and_sparse_data(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 5), density=0.5, rng=rng, format="csr")
    y, weights = rng.normal(size=60), 10.0 ** rng.uniform(-6, 6, size=60)
    free = Box(-0.5, np.inf, Weighted(ElasticNet(0.3), [0.5, 1.0, np.inf, 2.0, 1.0]))
    problem = dg.Problem(X, y, dg.losses.Huber(0.7), free, 0.01, weights, intercept=True)
    solution = dg.solve(problem, tol=1e-9)
    proof = solution.save_proof(tmp_path / "solution.dgp")
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(tmp_path / "data.npz", y=y, sample_weight=weights, format="csr", **parts)
    assert judged(tmp_path / "data.npz", proof) == 0


def test_a_frame(tmp_path):
    """The columns of a pandas frame are temporary, and its proof needs them all the same."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = dg.LogisticRegression().fit(X[["petal length (cm)", "petal width (cm)"]], y)
    proof = model.save_proof(tmp_path / "frame.dgp")
    table = X[["petal length (cm)", "petal width (cm)"]].assign(target=y)
    table.to_csv(tmp_path / "frame.csv", index=False)
    assert judged(tmp_path / "frame.csv", proof) == 0


def test_copies_have_no_data(cancer, tmp_path):
    _, _, _, model = cancer
    for other in (pickle.loads(pickle.dumps(model)), pickle.loads(pickle.dumps(model.solution_))):
        with pytest.raises(ValueError, match=r"training data|without its problem"):
            other.save_proof(tmp_path / "none.dgp")
    assert len(pickle.dumps(model)) < 100_000


def test_what_cannot_be_stated_is_refused(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)

    class Own(dg.penalties.L2):
        pass

    solution = dg.solve(dg.Problem(X, y, "squared", Own(), 0.1))
    with pytest.raises(ValueError, match="cannot state the penalty"):
        solution.save_proof(tmp_path / "own.dgp")
    with pytest.raises(ValueError, match="folder"):
        dg.solve(dg.Problem(X, y, "squared", "l2", 0.1)).save_proof(tmp_path)


# --- changes --------------------------------------------------------------------------------------


def flipped(parts, name, at):
    """One bit of an array, in its last bytes; ``at`` counts float64 from the end."""
    content = bytearray(parts[name])
    content[-8 * at] ^= 1
    return {**parts, name: bytes(content)}


def test_a_flipped_bit_is_refused_and_named(cancer, tmp_path, capsys):
    folder, X, y, _ = cancer
    parts, data = members(folder / "proof.dgp"), folder / "data.npz"
    changed = tmp_path / "changed.dgp"
    for name, word in (("0/a.npy", "a"), ("0/w.npy", "w")):
        rewritten(changed, flipped(parts, name, 5))
        assert judged(data, changed) == 1
        assert f"REFUSED: problem 0: {word}: SHA-256" in capsys.readouterr().out
    header = json.loads(parts["header.json"])
    statement = header["problems"][0]["statement"]
    statement["lam"] = float(np.nextafter(float.fromhex(statement["lam"]), 1.0)).hex()
    rewritten(changed, {**parts, "header.json": json.dumps(header)})
    assert judged(data, changed) == 1
    assert "seal" in capsys.readouterr().out
    other = y.copy()
    other[17] = 1 - other[17]
    np.savez(tmp_path / "other.npz", X=X, y=other)
    assert judged(tmp_path / "other.npz", folder / "proof.dgp") == 1
    assert "y" in capsys.readouterr().out.splitlines()[-1]
    moved = X.copy()
    moved[3, 4] = np.nextafter(moved[3, 4], np.inf)
    np.savez(tmp_path / "moved.npz", X=moved, y=y)
    assert judged(tmp_path / "moved.npz", folder / "proof.dgp") == 1
    assert "X" in capsys.readouterr().out.splitlines()[-1]


def test_claims_that_say_more_are_refused(cancer, tmp_path, monkeypatch, capsys):
    """A library that lies, with a good seal: the checker computes for itself."""
    from dataclasses import replace

    _, X, y, model = cancer
    proof = model.certificate_
    lies = (
        {"gap": 0.9 * (proof.gap - 1e-12)},
        {"dual": proof.dual + 1e-9},
        {"upper": proof.primal - 1e-9},
    )
    np.savez(tmp_path / "data.npz", X=X, y=y)
    *trained, (fit,) = model._trained
    for lie in lies:
        monkeypatch.setattr(
            model, "_trained", (*trained, [fit._replace(certificate=replace(proof, **lie))])
        )
        written = model.save_proof(tmp_path / "lie.dgp")
        assert judged(tmp_path / "data.npz", written) == 1
        assert (
            next(iter(lie)).replace("upper", "primal") in capsys.readouterr().out.splitlines()[-1]
        )


# --- the command line -----------------------------------------------------------------------------


def test_the_command_line(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = y.map({0: "malignant", 1: "benign"})
    table = tmp_path / "cancer.csv"
    X.assign(diagnosis=labels, weight=np.linspace(1, 2, len(y)), note=1.0).to_csv(
        table, index=False
    )
    run, model, proof = CliRunner(), tmp_path / "model.json", tmp_path / "proof.dgp"
    columns = ["--target", "diagnosis", "--weights", "weight", "--drop", "note"]
    done = run.invoke(app, ["fit", str(table), *columns, "-o", str(model), "--proof", str(proof)])
    assert done.exit_code == 0, done.output
    assert "dgcheck" in done.output
    assert judged(table, proof) == 0
    again = tmp_path / "again.dgp"
    done = run.invoke(app, ["certify", str(model), str(table), *columns, "--proof", str(again)])
    assert done.exit_code == 0, done.output
    assert judged(table, again) == 0


def test_libsvm_text(tmp_path):
    rng = np.random.default_rng(2)
    lines = [
        f"{rng.choice([-1, 1])} " + " ".join(f"{j}:{rng.normal():.4f}" for j in range(1, 6, 2))
        for _ in range(40)
    ]
    text, proof = tmp_path / "data.svm", tmp_path / "proof.dgp"
    text.write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(app, ["fit", str(text), "--loss", "hinge", "--proof", str(proof)])
    assert done.exit_code == 0, done.output
    assert judged(text, proof) == 0


def test_models_of_scikit_learn(tmp_path):
    import joblib
    from sklearn.linear_model import Ridge

    X, y = load_diabetes(return_X_y=True)
    table = tmp_path / "diabetes.csv"
    pd.DataFrame(X).assign(y=y).to_csv(table, index=False)
    joblib.dump(Ridge().fit(X, y), tmp_path / "ridge.joblib")
    proof = tmp_path / "ridge.dgp"
    command = ["certify", str(tmp_path / "ridge.joblib"), str(table), "--target", "y", "--trust"]
    done = CliRunner().invoke(app, [*command, "--proof", str(proof)])
    assert done.exit_code == 0, done.output
    assert judged(table, proof) == 0


def test_no_code_is_in_a_file(cancer):
    """Arrays are read without pickles, and the header is JSON."""
    folder, *_ = cancer
    for name, content in members(folder / "proof.dgp").items():
        if name == "header.json":
            assert json.loads(content)["version"] == 1
        else:
            assert np.load(io.BytesIO(content), allow_pickle=False).dtype.kind in "fi"


# --- the campaign ---------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 60, 30))
def test_random_problems(first):
    """A part of ``make check-proofs``."""
    found = check_many(range(first, first + 30))
    assert not [each for each in found if each.verdict in (REFUSED, CRASHED)]
    assert sum(each.verdict == "verified" for each in found) >= 20


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared", "softmax"])
def test_fits_in_parts(loss, offset, tmp_path):
    """Three partitions with a free intercept: the driver's proof, judged on all data."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    signal = X[:, 0] + rng.normal(size=60)
    y = {"squared": signal + 1e3, "softmax": np.digitize(signal, [-0.5, 0.5])}.get(
        loss, np.where(signal > 0, 1, -1)
    )
    weights = None if loss == "hinge" else 10.0 ** rng.uniform(-2, 2, size=60)
    # Some partitions have values close to each other: columns that a whole problem would move.
    X[:, 0] += offset
    X[:20, 1] = 5.0 + 1e-3 * X[:20, 1]
    problem = dg.Problem(X, y, loss, "l2", 0.05, weights, intercept=True)
    # For targets far from 0, P(0) is far above the optimum: this is about the proof, not the pace.
    solution = solve_in_parts(
        problem, 2, partitions=3, tol=1e-3, max_epochs=300, relative_to="start"
    )
    assert solution.converged or offset, str(solution)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    proof = write_proof(tmp_path / "parts.dgp", X, y, proven_fits(y, [(problem, solution)]))
    assert judged(tmp_path / "data.npz", proof) == 0
