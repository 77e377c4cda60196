"""Features that the gap-safe rule discards are zero in every optimum."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import losses, penalties
from dualgap.proof.prove import prove
from dualgap.proof.screening import proven_zero

RNG = np.random.default_rng(5)
N, P = 60, 12
X = RNG.standard_normal((N, P)) + 4.0
Y = X[:, 0] - 2.0 * X[:, 1] + 0.3 * RNG.standard_normal(N)


def problem_of(loss=losses.Squared(), penalty=penalties.L1(), intercept=True, data=X, lam=0.3):
    y = Y if loss.targets == "real" else np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
    return dg.Problem(data, y, loss, penalty, lam, intercept=intercept)


def found_at(problem, distance, seed=0):
    """What is proven a little away from the optimum, and the optimum."""
    best = dg.solve(problem, "newton", tol=1e-13, max_epochs=500)
    rng = np.random.default_rng(seed)
    w = np.concatenate([best.coef.ravel(), np.atleast_1d(best.intercept)[: problem.d - problem.p]])
    if problem.width > 1:
        w = np.concatenate([best.coef.ravel(), np.ravel(best.intercept)])[: problem.coef_size]
    w = w + distance * rng.standard_normal(len(w))
    proof, dual = prove(problem, w, problem.flat(best.dual, "dual", problem.n))
    return proven_zero(problem, proof, problem.shaped(dual)), best.coef


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", [penalties.L1(), penalties.ElasticNet(0.7)])
def test_what_is_discarded_is_zero(penalty, intercept):
    problem = problem_of(penalty=penalty, intercept=intercept)
    counts = []
    for distance in (1e-1, 1e-2, 1e-4, 0.0):
        proven, coef = found_at(problem, distance)
        assert proven.shape == (P,)
        assert (np.abs(coef[proven]) <= 1e-9).all()
        counts.append(proven.sum())
    assert counts == sorted(counts)
    assert counts[-1] == (np.abs(coef) <= 1e-9).sum() > 0


def test_an_intercept_centres_the_features():
    """Shifting X changes neither the problem nor what is proven."""
    shifted = [found_at(problem_of(data=X + shift), 0.0)[0] for shift in (0.0, -4.0)]
    np.testing.assert_array_equal(*shifted)


def test_classes_have_masks_of_their_own():
    proven, coef = found_at(problem_of(losses.Softmax(), lam=0.1), 0.0)
    assert proven.shape == coef.shape == (P, 3)
    assert proven.any()
    assert (np.abs(coef[proven]) <= 1e-8).all()


@pytest.mark.parametrize("form", [np.asfortranarray, sp.csr_array, sp.csc_array])
def test_storage_makes_no_difference(form):
    problem, other = problem_of(), problem_of(data=form(X))
    best = dg.solve(problem, "newton", tol=1e-10)
    masks = [proven_zero(each, best.certificate, best.dual) for each in (problem, other)]
    np.testing.assert_array_equal(*masks)


def test_bounds_prove_zeros_too_and_kinks_nothing():
    proven, coef = found_at(problem_of(penalty=penalties.NonNegative()), 0.0)
    assert proven.any()
    assert (coef[proven] == 0.0).all()
    proven, coef = found_at(problem_of(losses.Quantile(0.5)), 0.0)
    assert not proven.any()
    proven, coef = found_at(problem_of(penalty=penalties.L2()), 0.0)
    assert not proven.any()


def test_squares_that_underflow_prove_no_zero():
    X = np.array([[1e-165, 1.0], [-1e-165, 2.0], [0.0, -1.0]])
    penalty = penalties.Box(0.0, np.inf, penalties.L2())
    problem = dg.Problem(X, [3.0, -1.0, 0.5], "squared", penalty, 1e-100)
    solution = dg.solve(problem, tol=1e-10)
    assert solution.coef[0] > 0.0
    assert not proven_zero(problem, solution.certificate, solution.dual)[0]
