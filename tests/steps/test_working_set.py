"""Working sets: the optimum of other solvers, sets that must grow, and degenerate features."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model

import dualgap as dg
from dualgap import penalties
from dualgap.run.path import lambda_max
from dualgap.steps.base import Start
from dualgap.steps.working_set import working_set
from dualgap.steps.working_set.gram_model import GramModel
from dualgap.steps.working_set.tuning import TUNING
from dualgap.testing import check_step

TOL = 1e-10
NET = penalties.ElasticNet(0.5)


def data(n=40, d=120, seed=0, density=0.4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < density)
    y = np.sign(X[:, :6] @ [3.0, -2.0, 2.0, 1.0, -1.0, 1.0] + 0.3 * rng.standard_normal(n))
    y[y == 0.0] = 1.0
    return X, y


def stored(X, how):
    return np.asfortranarray(X) if how == "dense" else sp.csc_array(X)


def by_columns(monkeypatch):
    """Without Gram matrices."""
    monkeypatch.setattr(GramModel, "pays", lambda self, set_, entries: False)


def tune(monkeypatch, **changes):
    monkeypatch.setattr(working_set, "TUNING", replace(TUNING, **changes))


def solve(problem, **more):
    solution = dg.solve(problem, "working-set", **{"tol": TOL, **more})
    assert solution.converged, str(solution)
    return solution


def theirs(X, y, loss, penalty, lam):
    """The coefficients of scikit-learn for the same objective."""
    if loss == "logistic":
        model = linear_model.LogisticRegression(
            C=1.0 / (lam * len(y)),
            l1_ratio=1.0,
            solver="saga",
            fit_intercept=False,
            tol=1e-12,
            max_iter=100_000,
        )
    else:
        model = linear_model.ElasticNet(
            lam,
            l1_ratio=1.0 if penalty == "l1" else 0.5,
            fit_intercept=False,
            tol=1e-14,
            max_iter=1_000_000,
        )
    return model.fit(X, y).coef_.ravel()


@pytest.mark.parametrize(("how", "columns"), [("dense", False), ("csc", False), ("csc", True)])
@pytest.mark.parametrize(
    ("loss", "penalty"), [("squared", "l1"), ("squared", NET), ("logistic", "l1")]
)
def test_the_optimum_is_that_of_scikit_learn(loss, penalty, how, columns, monkeypatch):
    if columns:
        by_columns(monkeypatch)
    X, y = data()
    lam = 0.02
    problem = dg.Problem(stored(X, how), y, loss, penalty, lam)
    solution = solve(problem, max_epochs=3000)
    other = problem.primal(theirs(X, y, loss, penalty, lam))
    proof = solution.certificate
    assert proof.dual <= other  # the certificate is a proof
    assert proof.primal <= other + 1e-9 * problem.scale
    assert np.count_nonzero(solution.coef) < 60


def test_orthogonal_features_have_a_closed_form():
    rng = np.random.default_rng(1)
    Q, _ = np.linalg.qr(rng.standard_normal((50, 30)))
    y = 5.0 * rng.standard_normal(50)
    lam = 0.02
    solution = solve(dg.Problem(np.asfortranarray(Q), y, "squared", "l1", lam))
    b = Q.T @ y
    expected = np.sign(b) * np.maximum(np.abs(b) - 50 * lam, 0.0)
    assert np.allclose(solution.coef, expected, rtol=1e-8, atol=1e-8)
    assert ((solution.coef == 0.0) == (expected == 0.0)).all()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_support_larger_than_the_first_set(loss, monkeypatch):
    # The history tells how many sets it took.
    tune(monkeypatch, spare_features=3, sets_between_checks=1)
    X, y = data()
    problem = dg.Problem(stored(X, "csc"), y, loss, "l1", 0.005)
    solution = solve(problem)
    assert np.count_nonzero(solution.coef) > 12
    assert len(solution.history.gap) > 3
    reference = dg.solve(problem, "cd-permutation", tol=1e-9, max_epochs=100_000)
    assert solution.certificate.primal <= reference.certificate.primal + 1e-12
    assert solution.certificate.dual <= reference.certificate.primal


def test_a_gap_that_is_known_to_be_large_is_not_checked(monkeypatch):
    X, y = data()
    problem = dg.Problem(stored(X, "csc"), y, "squared", "l1", 0.005)
    tune(monkeypatch, spare_features=3)
    # A target that does not depend on what the checks have found.
    seldom = solve(problem, relative_to="start")
    tune(monkeypatch, spare_features=3, sets_between_checks=1)
    always = solve(problem, relative_to="start")
    assert len(seldom.history) < len(always.history)
    # The same sets, one after the other: only gap checks are left out.
    np.testing.assert_array_equal(seldom.coef, always.coef)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_zero_is_optimal_from_lam_max_on(loss):
    X, y = data()
    problem = dg.Problem(stored(X, "csc"), y, loss, "l1")
    lam = lambda_max(problem)
    solution = solve(problem.with_lam(1.000001 * lam))
    assert not solution.coef.any()
    assert len(solution.history.gap) == 1
    below = solve(problem.with_lam(0.99 * lam))
    assert np.count_nonzero(below.coef) == 1


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_zero_columns_and_copies_of_columns(loss):
    X, y = data()
    lam = 0.02
    alone = solve(dg.Problem(stored(X, "csc"), y, loss, "l1", lam))
    more = np.hstack([X, np.zeros((len(y), 2)), X, -X])
    for penalty in ("l1", NET):
        solution = solve(dg.Problem(stored(more, "csc"), y, loss, penalty, lam))
        d = X.shape[1]
        assert not solution.coef[d : d + 2].any()
        if penalty == "l1":
            same = alone.certificate.primal
            assert solution.certificate.primal == pytest.approx(same, rel=1e-8)
        else:  # strongly convex: copies share
            assert np.allclose(solution.coef[:d], solution.coef[d + 2 : 2 * d + 2], atol=1e-4)


def test_a_warm_start_is_where_the_run_begins():
    X, y = data()
    problem = dg.Problem(stored(X, "csc"), y, "logistic", "l1", 0.01)
    first = solve(problem)
    again = solve(problem, warm_start=first, tol=1e-8)
    assert len(again.history.gap) == 1
    near = solve(problem.with_lam(0.009), warm_start=first)
    cold = solve(problem.with_lam(0.009))
    assert near.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-9)
    assert near.history.gap[0] < cold.history.gap[0]


def test_features_without_a_penalty_stay_in_the_set():
    X, y = data(d=30)
    weights = np.ones(30)
    weights[[7, 20]] = 0.0
    penalty = penalties.Weighted(penalties.L1(), weights)
    problem = dg.Problem(stored(X, "csc"), y, "squared", penalty, 0.3)
    solution = solve(problem, tol=1e-9)
    gradient = X.T @ (X @ solution.coef - y) / len(y)
    assert np.abs(gradient[[7, 20]]).max() < 1e-7
    with_intercept = dg.Problem(stored(X, "csc"), y + 3.0, "squared", "l1", 0.1, intercept=True)
    model = linear_model.Lasso(0.1, tol=1e-14, max_iter=1_000_000).fit(X, y + 3.0)
    fit = solve(with_intercept, tol=1e-9)
    assert np.allclose(fit.coef, model.coef_, atol=1e-4)
    assert fit.intercept == pytest.approx(model.intercept_, abs=1e-4)


@pytest.mark.parametrize(
    ("how", "d", "columns"), [("dense", 300, False), ("sparse", 90, False), ("sparse", 300, True)]
)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_columns_far_from_zero_only_move_the_intercept(loss, how, d, columns, monkeypatch):
    """Columns are centred, with and without Gram matrices, so that means do not couple features."""
    if columns:
        by_columns(monkeypatch)
    X, y = data(n=60, d=d, density=1.0)
    far = X + 40.0 * np.linspace(-1.0, 1.0, X.shape[1])
    lam = 0.1 * lambda_max(dg.Problem(X, y, loss, "l1", 1.0, intercept=True))
    weights = np.linspace(0.5, 2.0, len(y))
    near, moved = (
        solve(dg.Problem(stored(Z, how), y, loss, "l1", lam, weights, intercept=True))
        for Z in (X, far)
    )
    assert 0 < np.count_nonzero(near.coef) < X.shape[1]
    np.testing.assert_allclose(moved.coef, near.coef, atol=1e-5)
    assert moved.certificate.primal == pytest.approx(near.certificate.primal, rel=1e-8)
    shift = 40.0 * np.linspace(-1.0, 1.0, X.shape[1]) @ moved.coef
    assert moved.intercept + shift == pytest.approx(near.intercept, abs=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_full_columns_far_from_zero_beside_rare_ones(l1_ratio, columns, dtype, monkeypatch):
    """Ages and years beside one-hot codes, against scikit-learn on dense centred columns."""
    if columns:
        by_columns(monkeypatch)
    rng = np.random.default_rng(1)
    n, codes = 200, rng.integers(0, 60, (200, 3)) + 60 * np.arange(3)
    X = np.zeros((n, 182))
    X[np.arange(n)[:, None], codes] = 1.0
    X[:, 180], X[:, 181] = rng.integers(18, 90, n), rng.integers(1990, 2025, n)
    w = rng.standard_normal(182) * (rng.random(182) < 0.2)
    w[180:] = 0.05, -0.1
    y = X @ w + 0.1 * rng.standard_normal(n)
    penalty = penalties.L1() if l1_ratio == 1.0 else NET
    found = solve(
        dg.Problem(sp.csr_array(X.astype(dtype)), y, "squared", penalty, 0.001, intercept=True)
    )
    model = linear_model.ElasticNet(0.001, l1_ratio=l1_ratio, tol=1e-14, max_iter=1_000_000)
    model.fit(X, y)
    assert np.count_nonzero(found.coef) > 20
    np.testing.assert_allclose(found.coef, model.coef_, atol=1e-6)
    assert found.intercept == pytest.approx(model.intercept_, rel=1e-6)


def test_bounds_and_weights_are_the_penaltys_own():
    X, y = data(d=30)
    weights = np.linspace(0.2, 3.0, 30)
    base = penalties.Weighted(penalties.L1(), weights)
    penalty = penalties.Box(-0.1, 0.2, base)
    problem = dg.Problem(stored(X, "csc"), y, "squared", penalty, 0.02)
    solution = solve(problem)
    assert solution.coef.min() >= -0.1
    assert solution.coef.max() <= 0.2
    assert np.isin([-0.1, 0.2], solution.coef).all()
    reference = dg.solve(problem, "cd-permutation", tol=1e-9, max_epochs=100_000)
    assert solution.certificate.primal == pytest.approx(reference.certificate.primal, rel=1e-7)


def test_the_laws_of_steps():
    X, y = data()
    for loss in ("squared", "logistic"):
        check_step(working_set.WorkingSet(), dg.Problem(stored(X, "csc"), y, loss, "l1", 0.02))


def test_losses_with_kinks_are_refused_in_words():
    X, y = data()
    with pytest.raises(ValueError, match="Hinge loss has no derivative"):
        dg.solve(dg.Problem(X, y, "hinge", "l1", 0.02), "working-set")


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_features_that_others_can_replace_leave_large_sets(loss):
    """All features have much in common, and some are sums of others: sweeps get nowhere."""
    rng = np.random.default_rng(0)
    X = 480.0 + 10.0 * rng.standard_normal((600, 200))
    X[:, :20] = X[:, 20:40] + X[:, 40:60] - 480.0
    y = np.sign(rng.standard_normal(600))
    lam = 0.001 * lambda_max(dg.Problem(X, y, loss, "l1", 1.0))
    problem = dg.Problem(np.asfortranarray(X), y, loss, "l1", lam)
    assert solve(problem, tol=1e-6, max_epochs=20).certificate.relative_gap <= 1e-6


def test_short_steps_make_models_rougher():
    """Where decision values are large the logistic loss is flat, and Newton steps go too far."""
    X, y = data(200, 60)
    problem = dg.Problem(X, y, "logistic", "l1", 1e-4)
    run = working_set.WorkingSet().start(problem, Start())
    run._adapt_models(1.0, by_gram=False)
    longer, lower = run.sweeps, run.floor
    run._adapt_models(0.1, by_gram=False)
    assert run.sweeps < longer
    assert run.floor > lower
    run.r, run.h = np.zeros(200), np.zeros(200)
    np.testing.assert_allclose(run._curvatures(), run.floor / 4.0 * problem.c)
    run.floor = 0.0
    assert run._curvatures() is run.h
    solve(problem)
