"""Files that dualgap 0.1 has written stay readable: models, checkpoints and proofs.

``fixtures/0.1/expected.json`` has the numbers of the machine that wrote them, in hexadecimal.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import old_problems as old
import pytest

import dgcheck
import dualgap as dg
from dualgap.files import checkpoint_file

FOLDER = Path(__file__).parent / "fixtures" / "0.1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def floats(words):
    return np.array([float.fromhex(word) for word in words])


# --- models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("name", old.MODELS)
def test_a_model_is_read(name, ending):
    model, expected = dg.load_model(FOLDER / f"{name}.{ending}"), EXPECTED["models"][name]
    proof = model.certificate
    np.testing.assert_array_equal(model.coef.ravel(), floats(expected["coef"]))
    np.testing.assert_array_equal(np.ravel(model.intercept), floats(expected["intercept"]))
    stated = [proof.primal, proof.dual, proof.gap, proof.scale]
    np.testing.assert_array_equal(stated, floats(expected["certificate"]))
    assert (repr(model.loss), repr(model.penalty)) == (expected["loss"], expected["penalty"])
    assert model.version == EXPECTED["version"]
    saved = old.MODELS[name][1]
    names = saved.get("feature_names")
    assert model.feature_names == (None if names is None else tuple(names))
    for key, value in saved.get("settings", {}).items():
        assert model.settings[key] == value


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("name", old.MODELS)
def test_a_model_predicts_what_it_predicted(name, ending):
    model, expected = dg.load_model(FOLDER / f"{name}.{ending}"), EXPECTED["models"][name]
    X = old.new_rows(model.n_features)
    close = {"rtol": 1e-12, "atol": 1e-14}  # products may be summed in another order elsewhere
    np.testing.assert_allclose(model.decision(X).ravel(), floats(expected["decision"]), **close)
    np.testing.assert_allclose(
        model.decision_radius(X).ravel(), floats(expected["radius"]), **close
    )
    if model.classes is not None:
        assert [str(label) for label in model.predict(X)] == expected["prediction"]
        assert model.is_proven(X).tolist() == expected["proven"]


@pytest.mark.parametrize("name", old.MODELS)
def test_a_model_is_certified_anew(name):
    model = dg.load_model(FOLDER / f"{name}.json")
    problem = old.MODELS[name][0]()
    again = dg.certify(model.problem(problem.X, problem.y), model.coef, intercept=model.intercept)
    assert again.primal == pytest.approx(model.certificate.primal, rel=1e-12)


# --- checkpoints --------------------------------------------------------------------------------


def history_of(solution):
    columns = [name for name in solution.history.columns if name != "seconds"]
    return np.array([solution.history[name] for name in columns])


@pytest.mark.parametrize("name", old.CHECKPOINTS)
def test_a_run_goes_on_from_a_checkpoint(name, tmp_path):
    """Bit for bit, where this machine computes the bits of the one that wrote the file."""
    method, make, options = old.CHECKPOINTS[name]
    expected, path = EXPECTED["checkpoints"][name], tmp_path / "run.checkpoint"
    shutil.copy(FOLDER / f"{name}.checkpoint", path)
    stored = json.loads(checkpoint_file.read(path)["history"])
    once = dg.solve(make(), method, **options)
    resumed = dg.solve(make(), method, checkpoint=path, **options)  # a warning would be an error
    columns = list(resumed.history.columns)
    rows = np.array([resumed.history[column] for column in columns]).T
    np.testing.assert_array_equal(rows[: len(stored)], np.array(stored))
    assert len(stored) == expected["rows"]
    if dg.__version__ != EXPECTED["version"]:  # another version goes on from the best pair
        assert resumed.certificate.gap <= options["tol"] * resumed.certificate.scale
        return
    ends = [
        [each.coef.ravel(), np.ravel(each.intercept), each.dual.ravel()] for each in (once, resumed)
    ]
    there = [floats(expected[part]) for part in ("coef", "intercept", "dual")]
    if all(np.array_equal(mine, theirs) for mine, theirs in zip(ends[0], there)):
        for found, theirs in zip(ends[1], there):
            np.testing.assert_array_equal(found, theirs)
        np.testing.assert_array_equal(history_of(resumed), history_of(once))
        proof = resumed.certificate
        stated = [proof.primal, proof.dual, proof.gap]
        whole = once.certificate
        np.testing.assert_array_equal(stated, [whole.primal, whole.dual, whole.gap])
        # Proofs of 0.1 added up the same terms in another order.
        np.testing.assert_allclose(stated, floats(expected["certificate"]), rtol=1e-14)
        assert resumed.passes == float.fromhex(expected["passes"])
        assert len(resumed.history) == expected["history"]
        assert resumed.status.name == expected["status"]
    else:  # another BLAS or processor, or other draws: two runs differ by their gaps at most
        gap = max(resumed.certificate.gap, once.certificate.gap)
        assert resumed.certificate.gap < min(row[columns.index("gap")] for row in stored)
        assert abs(resumed.certificate.primal - once.certificate.primal) <= gap


def test_the_checkpoint_of_another_problem_is_refused(tmp_path):
    path = tmp_path / "run.checkpoint"
    shutil.copy(FOLDER / "sdca.checkpoint", path)
    _, make, options = old.CHECKPOINTS["sdca"]
    for method in ("cd-uniform", "iprox-sdca", "quartz"):
        with pytest.raises(ValueError, match=r"another run: the (method|sampling) was"):
            dg.solve(make(), method, checkpoint=path, **options)
    with pytest.raises(ValueError, match="another run: lam was"):
        dg.solve(make().with_lam(0.5), "sdca", checkpoint=path, **options)


# --- proofs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", old.PROOFS)
def test_a_proof_is_verified(name, tmp_path):
    problem = old.MODELS[name][0]()
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    np.savez(tmp_path / "data.npz", X=X, y=old.labels(problem))
    assert dgcheck.main([str(tmp_path / "data.npz"), str(FOLDER / f"{name}.dgp")]) == 0
