"""dgcheck verifies proofs of penalties on groups, and refuses what is not true of them."""

import json
import re
import zipfile

import numpy as np
import pytest

import dgcheck
import dualgap as dg
from dualgap.penalties import GroupLasso, SparseGroupLasso
from dualgap.proof.proof_file import proven_solution, write_proof
from dualgap.run.path import lambda_max

GROUPS = [[0, 9], [3, 4, 5], [], [1], [2, 6, 7, 8]]
WEIGHTS = np.array([1.0, 2.0, 1.0, 0.5, 0.0])
PENALTIES = [
    GroupLasso(GROUPS),
    GroupLasso(GROUPS, WEIGHTS),
    GroupLasso(GROUPS, WEIGHTS, l1_ratio=0.6),
    GroupLasso(GROUPS, positive=True),
    GroupLasso(GROUPS, l1_ratio=0.0),
    SparseGroupLasso(GROUPS, 0.4),
    SparseGroupLasso(GROUPS, 0.4, WEIGHTS, feature_weights=np.arange(10) / 7),
    SparseGroupLasso(GROUPS, 0.4, WEIGHTS, l1_ratio=0.7),
    SparseGroupLasso(GROUPS, 0.4, positive=True),
    SparseGroupLasso(GROUPS, 1.0),
]
rng = np.random.default_rng(0)
X = rng.standard_normal((30, 10)) * np.geomspace(1e-3, 1e3, 10)
Y = X[:, 9] / 1e3 + X[:, 0] * 1e3 + rng.standard_normal(30) + 2.0


def written(folder, loss, penalty, *, fraction=0.3, tol=1e-8, intercept=True):
    y = Y if loss in ("squared", "huber") else np.where(np.median(Y) < Y, 1.0, -1.0)
    problem = dg.Problem(X, y, loss, penalty, 0.1, np.arange(30.0), intercept=intercept)
    if penalty.l1_ratio > 0.0:
        problem = problem.with_lam(fraction * lambda_max(problem))
    solution = dg.solve(problem, tol=tol)
    np.savez(folder / "data.npz", X=X, y=y)
    write_proof(folder / "proof", X, y, [proven_solution(problem, solution)])
    return solution


def verdict(folder, capsys, proof="proof"):
    code = dgcheck.main([str(folder / "data.npz"), str(folder / proof)])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_proofs_are_verified(penalty, loss, intercept, tmp_path, capsys):
    for tol in (1e-1, 1e-8):
        written(tmp_path, loss, penalty, tol=tol, intercept=intercept)
        code, out = verdict(tmp_path, capsys)
        assert code == 0, out
        assert "VERIFIED gap <= " in out


def test_zeros_of_groups_and_of_features_are_verified(tmp_path, capsys):
    for penalty in (GroupLasso(GROUPS), SparseGroupLasso(GROUPS, 0.6, positive=True)):
        written(tmp_path, "squared", penalty)
        code, out = verdict(tmp_path, capsys)
        assert code == 0, out
        assert "zeros" in out


@pytest.mark.parametrize("intercept", [True, False])
def test_proofs_of_several_targets_are_verified(intercept, tmp_path, capsys):
    Y3 = np.column_stack([X[:, 9] / 1e3, X[:, 0] * 1e3, rng.standard_normal(30)]) + np.arange(3.0)
    for penalty in (GroupLasso(1), SparseGroupLasso(GROUPS, 0.4), GroupLasso(GROUPS, WEIGHTS)):
        problem = dg.Problem(X, Y3, "squared", penalty, 1.0, intercept=intercept)
        problem = problem.with_lam(0.3 * lambda_max(problem))
        solution = dg.solve(problem, tol=1e-8)
        np.savez(tmp_path / "data.npz", X=X, y=Y3)
        write_proof(tmp_path / "proof", X, Y3, [proven_solution(problem, solution)])
        code, out = verdict(tmp_path, capsys)
        assert code == 0, out
    dg.MultiTaskLasso(0.1, fit_intercept=intercept).fit(X, Y3).save_proof(tmp_path / "proof")
    code, out = verdict(tmp_path, capsys)
    assert code == 0, out


def reseal(folder, change):
    """The proof with other numbers, with digests and seal that fit them."""
    with zipfile.ZipFile(folder / "proof") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members.pop("header.json"))
    problem = header["problems"][0]
    arrays = {name: np.load(folder / "proof")[f"0/{name}"] for name in problem["arrays"]}
    change(problem, arrays)
    problem["arrays"] = {name: dgcheck.digest(v.tobytes()) for name, v in arrays.items()}
    problem.pop("seal")
    data = {name: header["data"][name] for name in ("samples", "features", "X", "y")}
    text = json.dumps({"data": data, **problem}, sort_keys=True, separators=(",", ":"))
    problem["seal"] = dgcheck.digest(text.encode())
    with zipfile.ZipFile(folder / "forged", "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for name, array in arrays.items():
            with archive.open(f"0/{name}.npy", "w") as file:
                np.lib.format.write_array(file, array, version=(1, 0))


def smaller_norms(problem, arrays):
    problem["statement"]["penalty"]["group"] = (0.5).hex()


def other_groups(problem, arrays):
    arrays["groups"] = np.array([0.0, 1, 2, 3, 4, 0, 1, 2, 3, 4])
    arrays["group_weights"] = np.ones(10)


def all_zeros(problem, arrays):
    arrays["zeros"] = np.ones(10, np.int8)


def better_dual(problem, arrays):
    arrays["a"] = 1.001 * arrays["a"]


def unequal_weights(problem, arrays):
    arrays["group_weights"][0] = 3.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (smaller_norms, "is too large"),
        (other_groups, "is too large|does not hold"),
        (all_zeros, "is not proven"),
        (better_dual, "is too large|not 0 .free"),
        (unequal_weights, "unequal facts"),
    ],
)
def test_what_is_not_true_is_refused(change, words, tmp_path, capsys):
    written(tmp_path, "squared", GroupLasso(GROUPS), tol=1e-10)
    reseal(tmp_path, lambda problem, arrays: None)
    assert verdict(tmp_path, capsys, "forged")[0] == 0
    reseal(tmp_path, change)
    code, out = verdict(tmp_path, capsys, "forged")
    assert code == 1, out
    assert re.search(words, out), out
