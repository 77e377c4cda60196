"""Decision values of the exact optimum lie within the radius of any certified model."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import losses, penalties
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Pair, attempt
from dualgap.proof.dual_point import FLOAT64
from dualgap.proof.prove import prove
from dualgap.proof.radius import Radius, certified_signs, radius
from dualgap.proof.rounding import error_of_z

RNG = np.random.default_rng(3)
N, P = 50, 4
X = RNG.standard_normal((N, P)) + np.array([0.0, 3.0, 0.0, -1.0])
SIGNAL = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * RNG.standard_normal(N)
TARGETS = {
    "binary": np.where(np.median(SIGNAL) < SIGNAL, 1.0, -1.0),
    "real": SIGNAL,
    "count": np.round(np.exp(0.3 * (SIGNAL - SIGNAL.mean()))),
    "classes": np.digitize(SIGNAL, np.quantile(SIGNAL, [0.3, 0.7])),
}


def problem_of(loss, penalty="l2", lam=0.05, intercept=True, weights=None, data=X):
    y = TARGETS[loss.targets]
    return dg.Problem(data, y, loss, penalty, lam, weights, intercept=intercept)


def bounds(problem, coef, intercept, dual=None):
    """The radius of a model, after its certificate."""
    flat = None if dual is None else problem.flat(dual, "dual", problem.n)
    proof, dual = prove(problem, joined(problem, coef, intercept), flat)
    return radius(problem, coef, intercept, problem.shaped(dual), proof)


def optimum(problem):
    solution = dg.solve(problem, "newton", tol=1e-13, max_epochs=500)
    assert solution.certificate.gap < 1e-10 * problem.scale, str(solution)
    return solution


@pytest.mark.parametrize(
    "loss",
    [
        losses.Hinge(),
        losses.Logistic(),
        losses.Squared(),
        losses.Quantile(0.3),
        losses.Poisson(),
    ],
)
@pytest.mark.parametrize("distance", [1e-6, 1e-3, 0.1])
def test_the_optimum_is_inside(loss, distance):
    weights = np.where(np.arange(N) % 7 == 0, 0.0, 1.0 + np.arange(N) % 3)
    problem = problem_of(loss, weights=weights)
    best = optimum(problem)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        coef = best.coef + distance * rng.standard_normal(P)
        intercept = best.intercept + distance * rng.standard_normal()
        dual = best.dual + distance * rng.standard_normal(N)
        found = bounds(problem, coef, intercept, dual)
        assert (np.abs(X @ (coef - best.coef)) <= found.of_features(X)).all()
        assert abs(intercept - best.intercept) <= found.intercept
        # Not only true, but of use: for strongly convex sums, errors of the order of the distance.
        if distance <= 1e-3 and loss.gamma > 0.0:
            assert found.intercept < 300.0 * distance


def test_every_optimal_intercept_is_inside():
    # With four points and a wide margin, a whole interval of intercepts is optimal.
    data = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    problem = dg.Problem(
        data, [-1.0, -1.0, 1.0, 1.0], losses.Hinge(), penalties.L2(), 2.0, intercept=True
    )
    best = optimum(problem)
    found = bounds(problem, best.coef, best.intercept, best.dual)
    for intercept in np.linspace(-2.0, 2.0, 81):
        if problem.primal(np.append(best.coef, intercept)) <= best.certificate.dual + 1e-12:
            assert abs(intercept - best.intercept) <= found.intercept


@pytest.mark.parametrize("distance", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("intercept", [True, False, "penalised"])
def test_softmax_differences_are_inside(distance, intercept):
    problem = problem_of(losses.Softmax(), intercept=intercept)
    best = optimum(problem)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        coef = best.coef + distance * rng.standard_normal((P, 3))
        moved = distance * rng.standard_normal(3) * (intercept is not False)
        found = bounds(problem, coef, best.intercept + moved, best.dual)
        apart = np.abs(X @ (coef - best.coef) + (moved if intercept == "penalised" else 0.0))
        assert (apart <= found.of_features(X)[:, None]).all()
        if intercept is True:
            assert (np.abs(moved[:, None] - moved) <= found.between).all()
            assert (np.abs(moved - moved.mean()) <= found.intercept).all()
            assert np.isfinite(found.between).all()


def test_nothing_is_claimed_where_nothing_is_proven():
    lasso = problem_of(losses.Squared(), "l1")
    found = bounds(lasso, np.zeros(P), 0.0)
    assert np.isinf(found.of_features(X)).all()
    assert np.isinf(found.intercept)
    some = penalties.Weighted(penalties.L2(), [1.0, 0.0, 1.0, np.inf])
    partly = bounds(problem_of(losses.Squared(), some), np.zeros(P), 0.0)
    rows = np.array([[1.0, 0.0, 2.0, 5.0], [0.0, 1e-9, 0.0, 0.0]])
    np.testing.assert_array_equal(np.isinf(partly.of_features(rows)), [False, True])


@pytest.mark.parametrize("form", [np.asfortranarray, sp.csr_array, sp.csc_array])
def test_storage_makes_no_difference(form):
    problem = problem_of(losses.Logistic())
    best = optimum(problem)
    found = bounds(problem, best.coef * 1.01, best.intercept)
    np.testing.assert_allclose(found.of_features(form(X)), found.of_features(X), rtol=1e-12)


def test_a_gap_of_zero_says_nothing_of_features_without_strong_convexity():
    free = Radius(0.0, np.array([1.0, np.inf]), 0.0, 0.0, None)
    np.testing.assert_array_equal(free.of_features(np.array([[1.0, 1.0], [1.0, 0.0]])), [np.inf, 0])
    constant = Radius(0.0, np.ones(1), np.inf, 0.0, None)
    np.testing.assert_array_equal(constant.of_features(np.ones((1, 1))), [np.inf])


def test_an_intercept_under_a_weak_penalty_has_no_radius():
    """The row of zeros has the intercept as its decision value, of which nothing is known."""
    X = np.array([[0.0], [1.0], [-1.0]])
    problem = dg.Problem(X, [1, 1, -1], "logistic", "l1", 1e-3, intercept="penalised")
    optimum = dg.solve(problem, tol=1e-10)
    assert optimum.intercept > 1.0
    proof, dual = prove(problem, joined(problem, [1.0], -2.0), None)
    signs, _ = certified_signs(problem, [1.0], -2.0, dual, proof)
    assert not signs.any()
    assert np.isinf(radius(problem, [1.0], -2.0, dual, proof).of_features(X)).all()


@pytest.mark.parametrize("entry", [0.1, 1.0 / 3.0, 1.1])
def test_decision_values_of_wide_data_are_summed_in_the_blocks_that_radii_count_on(entry):
    wide = np.full((2, 1 << 17), entry) * [[1.0], [0.9]]  # errors of long sums have one sign
    problem = dg.Problem(wide, [1.0, -1.0], "logistic", "l2", 1.0)
    w, a = np.ones(problem.d), np.array([0.5, -0.5])
    found = attempt(problem, Pair(w, a, np.empty(0), np.empty(0)), FLOAT64)
    errors = np.abs(found.pair.z - [math.fsum(row) for row in wide])
    assert (errors <= 0.1 * error_of_z(problem, w, sharp=False)(slice(0, 2))).all()
