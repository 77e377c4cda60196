"""docs/extend.md: the files that it shows work as they stand, outside the package."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from dualgap import samplings

PAGE = Path(__file__).parents[2] / "docs" / "extend.md"
FOLDER = PAGE.with_suffix("")
TEXT = PAGE.read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```python\n(.*?)```", TEXT, re.S)


@pytest.fixture(autouse=True)
def module_folder(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    importlib.invalidate_caches()


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    return X, X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(80)


def test_the_page_shows_one_of_each():
    shown = re.findall(r"\{literalinclude\} extend/(\w+\.py)", TEXT)
    assert shown == ["log_cosh.py", "prior_mean.py", "sqrt_gap.py", "proximal_gradient.py"]
    assert sorted(shown) == sorted(path.name for path in FOLDER.glob("*.py"))
    assert len(SCRIPTS) == 4


@pytest.mark.parametrize("script", SCRIPTS, ids=["loss", "penalty", "sampling", "step"])
def test_scripts_run_as_shown(script, data, capsys):
    exec(script, {"X": data[0], "y": data[1]})
    assert "Converged" in capsys.readouterr().out


def test_a_loss_of_a_user_in_both_views(data):
    from log_cosh import LogCosh
    from scipy.optimize import minimize

    X, y = data

    def objective(w):
        r = y - X @ w
        return np.mean(np.logaddexp(r, -r) - np.log(2.0)) + 0.005 * w @ w

    best = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    problem = dg.Problem(X, y, LogCosh(), "l2", 0.01)
    for view in ("dual", "primal"):
        from dualgap.steps.coordinate.coordinate import Coordinate

        solution = dg.solve(problem, Coordinate(view), samplings.Permutation(), tol=1e-9)
        assert solution.converged
        np.testing.assert_allclose(solution.coef, best.x, atol=1e-4)
        assert solution.certificate.dual <= best.fun
    assert dg.solve(dg.Problem(X, y, LogCosh(), "l1", 0.01), tol=1e-8).converged


def test_a_penalty_of_a_user_shifts_the_solution(data):
    from prior_mean import PriorMean

    X, y = data
    mean = np.array([1.0, -1.0, 0.5, 3.0])
    solution = dg.solve(dg.Problem(X, y, "squared", PriorMean(mean), 10.0), tol=1e-10)
    exact = np.linalg.solve(X.T @ X / 80 + 10 * np.eye(4), X.T @ y / 80 + 10 * mean)
    np.testing.assert_allclose(solution.coef, exact, atol=1e-4)
    assert solution.certificate.radius is not None
    far = dg.Problem(X, X @ (mean + 100.0), "squared", PriorMean(mean + 99.0), 0.01)
    for sampling in ("gap-per-epoch", "adaptive", "support-set"):
        assert dg.solve(far, dg.steps.Coordinate("primal"), sampling).converged
    with pytest.raises(ValueError, match="mean must hold"):
        dg.Problem(X, y, "squared", PriorMean(mean[:2]))


def test_a_custom_rule_is_the_same_as_a_class(data):
    from sqrt_gap import SqrtGap

    problem = dg.Problem(*data, "huber", "l2", 0.01)
    one = dg.solve(problem, "cd-gap-per-epoch", SqrtGap())
    two = dg.solve(problem, "cd-gap-per-epoch", samplings.Custom(lambda s: np.sqrt(s.gap)))
    np.testing.assert_array_equal(one.coef, two.coef)


def test_a_step_of_a_user_finds_the_optimum(data):
    from proximal_gradient import ProximalGradient

    X, y = data
    problem = dg.Problem(X, y, "squared", "l2", 0.1)
    solution = dg.solve(problem, ProximalGradient(), tol=1e-10)
    exact = np.linalg.solve(X.T @ X / 80 + 0.1 * np.eye(4), X.T @ y / 80)
    np.testing.assert_allclose(solution.coef, exact, atol=1e-4)
    with pytest.raises(ValueError, match="slope of Hinge is not Lipschitz"):
        dg.solve(dg.Problem(X, np.sign(y), "hinge"), ProximalGradient())
