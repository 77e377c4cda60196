"""docs/extend.md: the files that it shows work as they stand, outside the package."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from dualgap import extend, samplings

PAGE = Path(__file__).parents[2] / "docs" / "extend.md"
FOLDER = PAGE.with_suffix("")
TEXT = PAGE.read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```python\n(.*?)```", TEXT, re.S)
KINDS = ["loss", "targets", "penalty", "groups", "sampling", "step", "estimator"]
PUBLIC = {"dualgap", *(f"dualgap.{name}" for name in dg.__all__)}


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
    assert shown == [
        "log_cosh.py",
        "proportion.py",
        "prior_mean.py",
        "group_max.py",
        "sqrt_gap.py",
        "proximal_gradient.py",
        "proportion_regressor.py",
    ]
    assert sorted(shown) == sorted(path.name for path in FOLDER.glob("*.py"))
    assert len(SCRIPTS) == len(shown)


@pytest.mark.parametrize("path", [PAGE, *sorted(FOLDER.glob("*.py"))], ids=lambda path: path.name)
def test_only_public_names_are_imported(path):
    """``dualgap.extend`` and the modules in ``dualgap.__all__`` are all that an extension needs."""
    text = path.read_text(encoding="utf-8")
    imports = re.findall(r"^from (dualgap[\w.]*) import (.+)$", text, re.M)
    assert {module for module, _ in imports} <= PUBLIC
    assert not re.findall(r"^import dualgap", text, re.M)
    for module, names in imports:
        public = importlib.import_module(module).__all__
        assert set(names.split(", ")) <= set(public), module


def test_all_that_is_exported_is_there():
    assert sorted(extend.__all__) == extend.__all__
    for name in extend.__all__:
        assert getattr(extend, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        extend.nothing  # noqa: B018 - asked for on purpose


@pytest.mark.parametrize("script", SCRIPTS, ids=KINDS)
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
        solution = dg.solve(problem, dg.steps.Coordinate(view), samplings.Permutation(), tol=1e-9)
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
    with pytest.raises(ValueError, match="mean has 2 entries where 4 are needed"):
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


def test_a_domain_of_a_user_in_every_kind_of_method(data):
    from proportion import Proportion

    X, y = data
    share = 1.0 / (1.0 + np.exp(-y))
    problem = dg.Problem(X, share, Proportion(), "l2", 0.01)
    objectives = [
        dg.solve(problem, method, tol=1e-9).certificate.primal
        for method in ("newton", "sweeps", "working-set", "cd-gap-decay")
    ]
    np.testing.assert_allclose(objectives, objectives[0], atol=1e-9)
    for wrong, words in ((2.0 * share, "above 1"), (share - 1.0, "negative entries")):
        with pytest.raises(ValueError, match=f"{words}; Proportion needs proportions from 0 to 1"):
            dg.Problem(X, wrong, Proportion())


def test_an_estimator_of_a_user(data):
    from proportion_regressor import ProportionRegressor
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    X, y = data
    share = 1.0 / (1.0 + np.exp(-y))
    model = ProportionRegressor(alpha=0.003)
    assert repr(clone(model)) == "ProportionRegressor(alpha=0.003)"
    search = GridSearchCV(model, {"alpha": [10.0, 1e-4]}, cv=3).fit(X, share)
    assert search.best_params_ == {"alpha": 1e-4}
    predicted = search.predict(X)
    assert ((predicted > 0.0) & (predicted < 1.0)).all()
    assert search.best_estimator_.certificate_.gap <= 1e-4
