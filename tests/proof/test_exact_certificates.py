"""Certificates as theorems: free features are balanced exactly, in fractions."""

from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.distributed.driver import facts
from dualgap.penalties import L1, L2, Box, Weighted
from dualgap.proof import certificate, terms
from dualgap.proof.exact_balance import exactly_feasible
from dualgap.proof.free_features import (
    ballast_candidates,
    choose_ballast,
    merge_candidates,
    select_ballast,
)
from dualgap.proof.prove import prove
from dualgap.proof.rounding import balance_cost, bound_moves, error_of_u, error_of_z
from dualgap.proof.screening import proven_zero
from dualgap.run.path import path

FAR = np.array([[1e8], [1e8 + 1]])


def test_no_bound_above_a_reachable_objective():
    """Two rows far from zero: what these coefficients reach, in fractions, bounds the minimum."""
    model = dg.Lasso(alpha=0.1).fit(FAR, [0.0, 1.0])
    w, x = Fraction(6, 10), [Fraction(v) for v in FAR.ravel()]
    b = Fraction(1, 2) - w * (x[0] + x[1]) / 2
    residuals = (w * x[0] + b, 1 - w * x[1] - b)
    reached = sum(r * r for r in residuals) / 4 + Fraction(0.1) * w
    assert Fraction(model.certificate_.dual) <= reached
    assert model.certificate_.relative_gap < 1e-10
    svm = dg.LinearSVC(penalty="l1").fit(FAR, [-1, 1])
    assert Fraction(svm.certificate_.dual) <= Fraction(3, 4)
    assert svm.certificate_.relative_gap < 1e-10


def test_no_certified_label_that_the_optimum_does_not_have():
    t = np.array([0.8, 1.9, -1.7, -0.1, 0.9, 0.1])
    X, y = np.c_[5e4 + t, np.full(6, 3e6)], [1, 1, 0, 1, 1, 0]
    start = {"alpha": 7e-8, "warm_start": True, "max_iter": 200}
    model = dg.RidgeClassifier(fit_intercept=False, tol=1e-13, **start)
    with pytest.warns(UserWarning, match="Rounding errors|Raise max_iter"):
        model.fit(X, y)
    model.set_params(fit_intercept=True, tol=1e-6).fit(X, y)
    # The optimum: the constant column has no effect that an intercept has not without a penalty.
    centred, signs = t - t.mean(), np.where(np.array(y) > 0, 1.0, -1.0)
    slope = centred @ signs / (centred @ centred + 7e-8)
    score = slope * (49998.0 - 5e4 - t.mean()) + signs.mean()
    assert score < -1.0
    point = [[49998.0, 0.0]]
    assert model.predict(point)[0] == 0 or not model.predict_certified(point)[0]
    assert abs(model.decision_function(point)[0] - score) <= model.decision_radius(point)[0]


@pytest.mark.parametrize("shift", [0.0, 1e7])
@pytest.mark.parametrize(
    "model",
    [dg.Lasso(alpha=0.1), dg.QuantileRegressor(alpha=0.01), dg.Ridge(), dg.LinearSVR(C=1.0)],
    ids=lambda model: type(model).__name__,
)
def test_columns_far_from_zero_cost_nothing(model, shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    model.fit(np.round(X, 6) + shift, y)
    assert model.solution_.converged, str(model.solution_)


# --- ballast --------------------------------------------------------------------------------------


def free_problems():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4))
    signal = X[:, 0] + rng.normal(size=30)
    signs, classes = np.where(signal > 0, 1, -1), np.digitize(signal, [-0.5, 0.5])
    two = Weighted(L2(), [0.0, 1.0, 1.0, 1.0])
    wild = 10.0 ** rng.uniform(-6, 6, size=30)
    yield dg.Problem(X, signal, "squared", L1(), 0.1, intercept=True)
    yield dg.Problem(X, signal, "squared", two, 0.1, wild, intercept=True)
    yield dg.Problem(X, signs, "hinge", L2(), 1e-3, intercept=True)
    yield dg.Problem(X, signs, "hinge", two, 10.0, intercept=True)
    yield dg.Problem(X, signs, "logistic", L2(), 0.1, wild, intercept=True)
    yield dg.Problem(X, signal, dg.losses.Quantile(0.1), two, 0.1, wild, intercept=True)
    yield dg.Problem(X, classes, "softmax", two, 0.1, intercept=True)
    yield dg.Problem(X, classes, "multiclass-hinge", L1(), 0.01, wild, intercept=True)


@pytest.mark.parametrize("problem", list(free_problems()), ids=lambda p: type(p.loss).__name__)
def test_the_exact_point_is_balanced_and_as_near_as_promised(problem):
    solution = dg.solve(problem, tol=1e-6)
    assert solution.converged
    dual = problem.flat(solution.dual, "dual", problem.n)
    a, repairs = exactly_feasible(problem, dual)
    weights = [1] * problem.n if problem.s is None else [Fraction(s) for s in problem.s.tolist()]
    exact = [[Fraction(v) for v in row] for row in a.tolist()]
    for place, value in repairs.items():
        exact[place // problem.width][place % problem.width] = value
    if problem.width > 1:
        for i, row in enumerate(exact):
            own = int(problem.y[i])
            others = [-v for k, v in enumerate(row) if k != own]
            assert min(others) >= 0
            assert sum(others) <= 1
            row[own] = sum(others)
    columns = [[Fraction(1)] * problem.n]
    if problem.features.free[0]:
        columns.append([Fraction(x) for x in problem.given[:, 0].tolist()])
    for column in columns:
        for k in range(problem.width):
            assert sum(s * row[k] * x for s, row, x in zip(weights, exact, column)) == 0
    ballast = choose_ballast(problem, dual)
    missing = problem.lam * (np.abs(problem.average(dual)) + error_of_u(problem, dual))
    far = bound_moves(ballast, missing[ballast.places], problem.weight_error)
    assert far is not None
    moved = {
        int(i) * problem.width + int(k): limit
        for i, k, limit in zip(ballast.samples, ballast.classes, far)
    }
    assert set(repairs) <= set(moved)
    for place, value in repairs.items():
        assert abs(value - Fraction(float(dual[place]))) <= Fraction(moved[place])


def test_partitions_have_the_ballast_of_the_whole():
    """The driver picks from what partitions offer the dual variables that one machine would."""
    for problem in free_problems():
        if problem.free_places.size > problem.width:
            continue  # partitions refuse other free features
        dual = problem.flat(dg.solve(problem, tol=1e-3).dual, "dual", problem.n)
        here = choose_ballast(problem, dual)
        halves = [np.arange(0, 11), np.arange(11, 30)]
        parts = []
        for places in halves:
            own = problem.on_samples(places)
            flat = dual.reshape(problem.n, -1)[places].ravel()
            parts.append(ballast_candidates(own, flat))
        there = select_ballast(merge_candidates(parts, [len(places) for places in halves]))
        for one, other in zip(here[:5], there[:5]):
            np.testing.assert_array_equal(one, other)


def conjs_of(problem, a):
    """Σ c φ*(−a)."""
    z, none = np.zeros(problem.dual_size), np.empty(0)
    points = problem.loss, problem.y, problem.c, z, a
    return terms.sample_terms(*points, terms.no_error, none, problem.width).conjs


@pytest.mark.parametrize("problem", list(free_problems()), ids=lambda p: type(p.loss).__name__)
def test_what_ballast_costs_is_charged(problem):
    """Moves by the bound, either way: u, φ* and a·z change by no more than the charge says."""
    rng = np.random.default_rng(0)
    dual = problem.flat(dg.solve(problem, tol=1e-3).dual, "dual", problem.n)
    ballast = choose_ballast(problem, dual)
    w = rng.normal(size=problem.coef_size) * rng.choice([-1.0, 1.0], size=problem.coef_size)
    missing = 0.5 * np.abs(ballast.constraints).sum(axis=0).min() * np.ones(len(ballast.places))
    far = bound_moves(ballast, missing, problem.weight_error)
    if far is None:
        missing *= 1e-3
        far = bound_moves(ballast, missing, problem.weight_error)
    cost = balance_cost(problem, ballast, missing, w)
    z, conjs = problem.decision(w), conjs_of(problem, dual)
    for signs in product([-1.0, 1.0], repeat=len(far)):
        moved = dual.reshape(problem.n, -1).copy()
        for i, k, step in zip(ballast.samples, ballast.classes, far * np.array(signs)):
            moved[i, k] += step
            if problem.width > 1:
                moved[i, int(problem.y[i])] -= step
        change = moved.ravel() - dual
        assert (np.abs(problem.average(change)) <= cost.u * (1.0 + 1e-9)).all()
        grown = conjs_of(problem, moved.ravel()) - conjs
        assert grown <= cost.dual + 1e-12
        assert grown + abs(np.sum(problem.weighted(change) * z)) <= cost.gap + 1e-12


def test_one_function_makes_every_certificate():
    assert facts.certificate_from_sums is certificate.certificate_from_sums


def test_a_point_without_room_is_made_shorter_first():
    """Balanced classes under a heavy penalty: all dual variables lie at their bounds."""
    X = np.r_[np.eye(3), -np.eye(3)]
    problem = dg.Problem(X, [1, 1, 1, -1, -1, -1], "hinge", L2(), 100.0, intercept=True)
    proof, dual = prove(problem, np.zeros(4), np.r_[np.ones(3), -np.ones(3)])
    assert proof.dual > 0.99
    assert (np.abs(dual) < 1.0).all()


# --- free features that depend on each other ------------------------------------------------------


def dependent():
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 3, size=50)
    Z = rng.normal(size=(50, 2))
    return np.c_[np.eye(3)[groups], Z, Z[:, 0]], rng.normal(size=50) + groups


def test_one_hot_codes_beside_an_intercept_have_a_useful_bound():
    X, y = dependent()
    penalty = Weighted(L2(), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    for loss, targets in (("squared", y), ("hinge", np.where(y > 1, 1, -1))):
        problem = dg.Problem(X, targets, loss, penalty, 0.1, intercept=True)
        solution = dg.solve(problem, tol=1e-6, max_epochs=500)
        assert solution.converged, str(solution)
        assert len(problem.unpenalised.features) == 4


def test_collinearity_counts_where_samples_have_weights():
    """Without the only row that tells two columns apart they are one."""
    X = np.c_[np.arange(1.0, 7.0), np.arange(1.0, 7.0)]
    X[5, 1] = -1.0
    weights = np.array([1.0, 1.0, 1.0, 1.0, 2.0, 0.0])
    free = Weighted(L2(), [0.0, 0.0])
    apart = dg.Problem(X, np.arange(6.0), "squared", free, 1.0, intercept=False)
    assert len(apart.unpenalised.features) == 2
    alike = dg.Problem(X, np.arange(6.0), "squared", free, 1.0, weights)
    assert len(alike.unpenalised.features) == 1
    assert dg.solve(alike, tol=1e-6).converged


def test_columns_that_depend_up_to_rounding_leave_the_trivial_bound():
    rng = np.random.default_rng(3)
    x = rng.normal(size=20)
    X = np.c_[x, x + 1e-14 * rng.normal(size=20)]
    problem = dg.Problem(X, rng.normal(size=20), "squared", Weighted(L2(), [0.0, 0.0]), 1.0)
    assert problem.unpenalised.collinear
    assert dg.certify(problem, [0.0, 0.0]).dual <= 0.0


# --- columns that are moved -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_moved_columns_are_exact(make, dtype):
    rng = np.random.default_rng(4)
    X = (rng.normal(size=(40, 3)) + np.array([3e4, 0.0, -5e3])).astype(dtype)
    X[:, 1] *= rng.random(40) < 0.5
    problem = dg.Problem(make(X), rng.normal(size=40), lam=0.1, intercept=True)
    np.testing.assert_array_equal(problem.shift.places, [0, 2])
    inside = problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    for j, by in zip(problem.shift.places, problem.shift.by):
        for x, moved in zip(X[:, j].tolist(), inside[:, j].tolist()):
            assert Fraction(x) - Fraction(by) == Fraction(moved)
    np.testing.assert_array_equal(inside[:, 1], X[:, 1])
    assert problem.X.dtype == dtype
    assert np.shares_memory(problem.given if make is np.asarray else X, X)


def test_other_columns_are_not_copied():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 3)) + np.array([0.0, 1.0, 5.0])
    problem = dg.Problem(X, rng.normal(size=100), intercept=True)
    assert problem.shift is None
    assert problem.X is problem.given
    for intercept in (False, "penalised"):
        assert dg.Problem(X + 1e6, rng.normal(size=100), intercept=intercept).shift is None


def test_a_path_goes_through_moved_columns():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 30)) + 1e6
    y = (X[:, 0] - 1e6) + 0.1 * rng.normal(size=50)
    problem = dg.Problem(X, y, "squared", L1(), 1.0, intercept=True)
    for screen in (False, True):
        for solution in path(problem, lams=[0.5, 0.1], screen=screen, tol=1e-6):
            assert solution.converged
            own = dg.certify(solution.problem, solution.coef, solution.dual, solution.intercept)
            assert own.relative_gap <= 2e-6


def test_a_model_file_keeps_the_shift(tmp_path):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(40, 2)) + 1e6
    y = np.where(X[:, 0] > 1e6, 1, -1)
    problem = dg.Problem(X, y, "logistic", L2(), 0.1, intercept=True)
    solution = dg.solve(problem, tol=1e-8)
    models = [
        dg.load_model(dg.save_model(tmp_path / name, problem, solution))
        for name in ("model.json", "model.npz")
    ]
    for model in models:
        assert model.is_proven(X).mean() > 0.9
        np.testing.assert_array_equal(model.decision_radius(X), models[0].decision_radius(X))


# --- contradictions -------------------------------------------------------------------------------


def wrong_loss():
    class Wrong(NamedTuple):
        targets = "real"
        gamma = 1.0
        lipschitz = float("inf")
        differentiable = True
        quadratic = True

        def value(self, z, y):
            return 0.5 * (y - z) * (y - z)

        def slope(self, z, y):
            return z - y

        def curvature(self, z, y):
            return 1.0

        def conj(self, a, y):
            return a * (0.2 * a - y)  # it should be 0.5

        def project(self, a, y):
            return a

        def dual_step(self, a, z, q, y):
            return a + (y - z - a) / (1.0 + q)

    return Wrong()


def wrong_penalty():
    class Wrong(NamedTuple):
        def value(self, w, j):
            return 0.5 * w * w

        def conj(self, u, j):
            return 0.1 * u * u  # it should be 0.5

        def conj_slope(self, u, near, j):
            return u

        def prox(self, u, t, j):
            return u / (1.0 + t)

        def domain(self, j):
            return -float("inf"), float("inf")

        def strength(self, j):
            return 1.0

    return Wrong()


def test_a_bound_above_the_objective_names_the_law():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    with pytest.raises(ValueError, match=r"the loss Wrong breaks φ\(z; y\) \+ φ\*\(−a; y\)"):
        dg.solve(dg.Problem(X, y, wrong_loss(), "l2", 0.1))
    signal = X @ [1.0, 2.0, 0.0]
    with pytest.raises(ValueError, match=r"the penalty Wrong breaks g\(w\) \+ g\*\(u\) ≥ u·w"):
        dg.solve(dg.Problem(X, signal, "squared", wrong_penalty(), 1.0))


def test_what_overflows_has_no_bound():
    """Not a wrong one."""
    rng = np.random.default_rng(8)
    problem = dg.Problem(rng.normal(size=(10, 2)), rng.poisson(1.0, 10), "poisson", intercept=True)
    proof = dg.certify(problem, [1e5, 0.0])
    assert np.isinf(proof.gap)
    assert "infinite" in str(proof)
    with pytest.raises(ValueError, match="rescale X"):
        dg.Problem(rng.normal(size=(10, 2)) * 1e200, np.ones(10))
    large = dg.Problem(rng.normal(size=(10, 2)) * 1e100, rng.normal(size=10), intercept=True)
    assert dg.certify(large, [1.0, 1.0]).dual <= large.primal(large.features.origin)


def test_exponentials_that_underflow_are_charged():
    """e^−2000 is not 0: neither is the objective, nor may its bound be."""
    problem = dg.Problem(np.ones((2, 1)), [0.0, 0.0], "poisson", "l1", 1.0, intercept=True)
    proof = dg.certify(problem, [0.0], intercept=-2000.0)
    assert proof.primal == 0.0
    assert proof.upper > 0.0
    assert proof.gap > 0.0


def test_a_set_of_slopes_is_no_zero():
    """Without a penalty and without data, every coefficient within the bounds is optimal."""
    X = np.array([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0]])
    penalty = Box(0.0, [1.0, 0.5], Weighted(L1(), [1.0, 0.0]))
    problem = dg.Problem(X, [1.0, 2.0, 0.0], "squared", penalty, 0.1)
    solution = dg.solve(problem, tol=1e-9)
    assert not proven_zero(problem, solution.certificate, solution.dual)[1]
    penalised = dg.Problem(X, [1.0, 2.0, 0.0], "squared", L1(), 0.1)
    solution = dg.solve(penalised, tol=1e-9)
    assert proven_zero(penalised, solution.certificate, solution.dual)[1]


def test_norms_of_tiny_entries_are_not_lost():
    """Squares of 1e-170 underflow; the errors of sums that they take part in must not."""
    rng = np.random.default_rng(10)
    X = np.c_[rng.normal(size=30), 1e-170 * rng.normal(size=30)]
    problem = dg.Problem(X, rng.normal(size=30), "squared", L1(), 0.1)
    w = np.array([0.0, 1e150])
    error = error_of_z(problem, w, sharp=False)(slice(0, 30))
    for row, z, bound in zip(X.tolist(), problem.decision(w).tolist(), error.tolist()):
        exact = sum(Fraction(x) * Fraction(v) for x, v in zip(row, w.tolist()))
        assert abs(Fraction(z) - exact) <= Fraction(bound)
    with pytest.raises(ValueError, match="squares underflow: rescale y"):
        dg.Problem(X, 1e-170 * rng.normal(size=30))


def test_a_decision_radius_covers_the_rounding_of_norms():
    n = 65_000
    x = np.r_[1.0, np.full(n, 1e-8)]
    problem = dg.Problem(x[None], [1.0], "squared", L2(), 2.0)
    proof = dg.certify(problem, np.zeros(n + 1))
    square = sum(Fraction(v) ** 2 for v in x.tolist())
    exact = square / (square + 2)  # x·w of the optimum
    assert Fraction(proof.decision_radius(x[None])[0]) >= exact
