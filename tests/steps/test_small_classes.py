"""Newton steps for the softmax loss as one call of a kernel: the same optimum, and when."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import dualgap as dg
from dualgap.steps.base import Setting, Start
from dualgap.steps.newton_cg import NewtonCG, newton_cg, small_steps
from dualgap.steps.newton_cg.losses_at import ClassLosses
from dualgap.testing import check_step


def plain(inner):
    """The Python function of one that only kernels can call."""
    return getattr(inner, "py_func", inner)


def problem_with(n=90, d=4, K=3, seed=0, make=np.asarray, weights=None, intercept=True, lam=0.01):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1.0, 1.0, d)
    y = rng.integers(0, K, n)
    y[:K] = np.arange(K)
    s = rng.integers(0, 3, n) + (np.arange(n) < K) if weights else None
    return dg.Problem(make(X), y, "softmax", "l2", lam, sample_weight=s, intercept=intercept)


def in_one_call(problem):
    return NewtonCG().start(problem, Start(), Setting()).small is not None


def optimum(problem):
    """The least objective, as SciPy finds it."""
    n, d, K = problem.n, problem.d, problem.width
    X = problem.given.toarray() if sp.issparse(problem.given) else np.asarray(problem.given, float)
    X = np.column_stack([X, np.ones(n)]) if problem.has_intercept else X
    held = np.ones((d, 1))
    held[-1] = 0.0 if problem.intercept is True else 1.0
    y = problem.y.astype(int)

    def objective(w):
        W = w.reshape(d, K)
        Z = X @ W
        top = Z.max(axis=1, keepdims=True)
        E = np.exp(Z - top)
        total = E.sum(axis=1, keepdims=True)
        losses = (np.log(total) + top)[:, 0] - Z[np.arange(n), y]
        slopes = E / total
        slopes[np.arange(n), y] -= 1.0
        gradient = X.T @ (problem.c[:, None] * slopes) + problem.lam * held * W
        return problem.c @ losses + 0.5 * problem.lam * np.sum(held * W * W), gradient.ravel()

    options = {"maxiter": 10_000, "gtol": 1e-9}
    return minimize(objective, np.zeros(d * K), jac=True, method="BFGS", options=options).fun


@pytest.mark.parametrize("intercept", [True, False, "penalised"])
@pytest.mark.parametrize("K", [3, 5, 10])
def test_finds_the_optimum_of_scipy(K, intercept):
    for weights in (False, True):
        problem = problem_with(K=K, weights=weights, intercept=intercept)
        assert in_one_call(problem)
        found = dg.solve(problem, "newton-cg", tol=1e-10)
        assert found.converged
        assert found.certificate.primal == pytest.approx(optimum(problem), rel=1e-8)


@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_array, lambda X: X + 1e3])
def test_forms_of_data(make):
    problem = problem_with(make=make)
    assert in_one_call(problem)
    found = dg.solve(problem, "newton-cg", tol=1e-8)
    assert found.converged
    assert found.certificate.primal == pytest.approx(optimum(problem), rel=1e-7)


def test_steps_are_those_of_numpy(monkeypatch):
    problem = problem_with(n=200, K=4)
    one = dg.solve(problem, "newton-cg", tol=1e-6)
    monkeypatch.setattr(newton_cg, "suits_one_call", lambda problem: False)
    other = dg.solve(problem, "newton-cg", tol=1e-6)
    assert one.passes == pytest.approx(other.passes)
    np.testing.assert_allclose(one.coef, other.coef, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.intercept, other.intercept, rtol=1e-8, atol=1e-10)


def test_a_step_that_has_to_be_cut():
    """Labels that a plane nearly separates, and next to no penalty."""
    X = np.linspace(-1.0, 1.0, 40)[:, None] * [1.0, 30.0]
    y = np.searchsorted([-0.3, 0.4], X[:, 0])
    problem = dg.Problem(X, y, "softmax", "l2", 1e-9, intercept=True)
    found = dg.solve(problem, "newton-cg", tol=1e-5)
    assert found.converged


def test_laws():
    check_step(NewtonCG(), problem_with())


def test_the_loop_and_its_short_cut_end_at_the_same_model():
    problem = problem_with()
    alone = dg.solve(problem, "newton-cg")
    seen = dg.solve(problem, "newton-cg", callback=lambda snapshot: False)
    np.testing.assert_array_equal(alone.coef, seen.coef)
    assert alone.certificate.gap == seen.certificate.gap
    hopeless = dg.solve(problem, "newton-cg", tol=0.0)
    assert hopeless.certificate.gap <= 1e-12 * problem.scale


def test_free_intercepts_are_balanced_up_to_rounding_and_centred():
    problem = problem_with(n=300)
    run = NewtonCG().start(problem, Start(), Setting())
    run.advance(None)
    pair = run.pair()
    assert np.abs((problem.lam * pair.u)[problem.free_places]).max() <= 1e-13
    assert abs(np.sum(pair.w[problem.free_places])) <= 1e-12


def test_responses_and_hessians_of_the_kernel():
    problem = problem_with(weights=True)
    losses, n, K = ClassLosses(problem), problem.n, problem.width
    z = np.random.default_rng(1).standard_normal((n, K))
    at = losses.at(z)
    slopes = np.empty((K, n))
    value = plain(small_steps._respond)(losses.y, problem.c, z.T.copy(), slopes)
    assert value == pytest.approx(at.value, rel=1e-13)
    np.testing.assert_allclose(slopes.T, at.slopes, atol=1e-16)
    X = np.ascontiguousarray(problem.X, dtype=float)
    size = problem.d * K
    data = small_steps.ClassData(X, problem.constant, True, losses.y, problem.c, None, None)
    found, block = np.empty((size, size)), np.empty((problem.d, problem.d))
    plain(small_steps._fill_hessian)(data, slopes, np.empty(n), block, found)
    full = np.column_stack([X, np.full(n, problem.constant)])
    expected = losses.curvature(at).hessian(full)
    order = np.arange(size).reshape(problem.d, K).T.ravel()  # class by class
    expected = expected[np.ix_(order, order)]
    np.testing.assert_allclose(np.tril(found), np.tril(expected), atol=1e-12)


def test_larger_data_and_other_losses_go_the_general_way():
    assert not in_one_call(problem_with(n=2000, d=30, K=10))
    smooth = dg.losses.MulticlassHinge(0.5)
    X, y = np.eye(6), np.array([0, 1, 2] * 2)
    assert not in_one_call(dg.Problem(X, y, smooth, "l2", 0.1))
    absent = dg.Problem(X, y, "softmax", "l2", 0.1, y < 2.0, intercept=True)
    assert not in_one_call(absent)
