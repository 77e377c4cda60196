"""Quasi-Newton steps for many classes: spaces, memory, scaling, shapes, what auto takes."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.linalg import parallel
from dualgap.steps.base import Setting, Start
from dualgap.steps.newton_cg.losses_at import ClassLosses
from dualgap.steps.newton_cg.products import Products
from dualgap.steps.quasi_newton import QuasiNewton, scaling
from dualgap.steps.quasi_newton.memory import Memory
from dualgap.steps.quasi_newton.scaling import Scaling
from dualgap.steps.quasi_newton.spaces import Coefficients, Combinations, dot
from dualgap.testing import check_step

FORMS = (np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array)
SHAPES = ((60, 5), (20, 70))  # vectors of coefficients, and combinations of samples
INTERCEPTS = (True, "penalised", False)


def problem_with(n=60, d=5, K=3, intercept=True, lam=0.01, make=np.asarray, seed=0, **more):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    y = np.argmax(X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K)), axis=1)
    y[:K] = np.arange(K)
    loss = more.pop("loss", "softmax")
    return dg.Problem(make(X), y, loss, "l2", lam, intercept=intercept, **more)


def space_of(problem, kind=None):
    run = QuasiNewton().start(problem, Start(), Setting())
    assert kind is None or isinstance(run.space, kind)
    return run.space


def some_vectors(problem, space, count):
    """Gradients at random coefficients, which lie in either space."""
    rng, x = np.random.default_rng(1), np.zeros(space.shape)
    vectors = []
    for _ in range(count):
        slopes = rng.standard_normal((problem.n, problem.width))
        vectors.append(space.gradient(x, slopes))
        x = x + vectors[-1]
    return vectors


@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("with_gram", [False, True])
def test_both_spaces_compute_the_same(make, intercept, shape, with_gram):
    problem = problem_with(*shape, intercept=intercept, make=make)
    products, l2 = Products(problem), np.ones((problem.d, problem.width))
    if intercept is True:
        l2[-1] = 0.0
    one, other = Coefficients(products, l2), Combinations(products, l2)
    if with_gram:
        other.find_gram()
    (u, v), (s, t) = some_vectors(problem, one, 2), some_vectors(problem, other, 2)
    for a, b in ((u, s), (v, t)):
        np.testing.assert_allclose(one.coefficients(a), other.coefficients(b), atol=1e-10)
        np.testing.assert_allclose(one.image(a), other.image(b), atol=1e-10)
        np.testing.assert_allclose(one.image(a), products.times(one.coefficients(a)), atol=1e-10)
        assert one.gap_of(a) == pytest.approx(other.gap_of(b))
    assert dot(u, v) == pytest.approx(dot(s, t))
    assert one.penalty(u, v) == pytest.approx(other.penalty(s, t))
    W, V = one.coefficients(u), one.coefficients(v)
    assert one.penalty(u, v) == pytest.approx(problem.lam * float(np.sum(l2 * W * V)))


def test_the_memory_is_that_of_bfgs():
    """Its direction is that of the BFGS updates of γH₀ with all pairs, the oldest first."""
    rng = np.random.default_rng(0)
    size, kept = 6, 3
    A = rng.standard_normal((size, size))
    A, first = A @ A.T + np.eye(size), np.diag(rng.uniform(0.5, 2.0, size))
    memory = Memory(kept, (1, size))
    memory.start_from(lambda v: v @ first)
    gradient, pairs = rng.standard_normal((1, size)), []
    for turn in range(6):
        s = rng.standard_normal((1, size))
        after = gradient + s @ A
        memory.direction(gradient)
        memory.add(s, after - gradient, after)
        pairs, gradient = [*pairs, (s[0], (s @ A)[0])][-kept:], after
        if turn == 3:
            first = np.diag(rng.uniform(0.5, 2.0, size))
            memory.start_from(lambda v, first=first: v @ first)
        s, y = pairs[-1]
        H = first * (s @ y) / (y @ first @ y)
        for s, y in pairs:
            V = np.eye(size) - np.outer(y, s) / (s @ y)
            H = V.T @ H @ V + np.outer(s, s) / (s @ y)
        np.testing.assert_allclose(memory.direction(gradient)[0], -H @ gradient[0], rtol=1e-8)


@pytest.mark.parametrize("intercept", ["penalised", False])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_scaling_of_combinations_inverts_its_matrix(intercept, make):
    problem = problem_with(20, 70, intercept=intercept, make=make)
    space, losses = space_of(problem, Combinations), ClassLosses(problem)
    at = losses.at(np.zeros((problem.n, problem.width)))
    solve = Scaling(space, losses).computed(at)
    X = Products(problem).few_rows(None)
    # At 0 the curvature is 1/K in all directions that sum to 0 over the classes.
    H = X.T @ X / (problem.n * problem.width) + problem.lam * np.eye(problem.d)
    (v,) = some_vectors(problem, space, 1)
    right = space.coefficients(v)
    if problem.has_intercept:  # a gradient changes its unit in the other way
        right[-1] /= space.unit**2
    np.testing.assert_allclose(H @ space.coefficients(solve(v)), right, atol=1e-8)


@pytest.mark.parametrize("cost", [0.0, np.inf])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", [dg.losses.Softmax(), dg.losses.MulticlassHinge(0.5)])
def test_it_finds_the_optimum(cost, intercept, shape, loss, monkeypatch):
    monkeypatch.setattr(scaling, "_cost", lambda problem, of_samples: cost)
    weights = np.random.default_rng(1).integers(0, 3, shape[0]).astype(float)
    problem = problem_with(*shape, intercept=intercept, loss=loss, sample_weight=weights)
    solution = dg.solve(problem, "quasi-newton", tol=1e-9, max_epochs=200)
    other = dg.solve(problem, "prox-point", tol=1e-8, max_epochs=100_000)
    assert solution.converged
    assert other.converged
    assert solution.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_unscaled_and_correlated_columns(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3)) @ rng.standard_normal((3, 40))
    X = (X + 0.1 * rng.standard_normal(X.shape)) * 10.0 ** rng.uniform(-3.0, 3.0, 40)
    y = rng.integers(0, 4, 150)
    problem = dg.Problem(make(X), y, "softmax", "l2", 1.0 / 150, intercept=True)
    solution = dg.solve(problem, "quasi-newton", tol=1e-6)
    reference = dg.solve(problem, "newton-cg", tol=1e-6)
    assert solution.converged
    assert solution.certificate.primal == pytest.approx(reference.certificate.primal, rel=2e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_obeys_the_laws_of_steps(shape):
    check_step(QuasiNewton(), problem_with(*shape, lam=0.1))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_start_at_coefficients_is_that_start(shape):
    problem = problem_with(*shape)
    w = np.random.default_rng(1).standard_normal(problem.coef_size)
    run = QuasiNewton().start(problem, Start(w), Setting())
    np.testing.assert_allclose(run.pair().w, w, rtol=1e-14)
    first = dg.solve(problem, "quasi-newton", tol=1e-3)
    assert dg.solve(problem, "quasi-newton", tol=1e-6, warm_start=first).converged


def test_results_do_not_depend_on_the_number_of_threads():
    for make, shape in ((np.asarray, (700, 50)), (sp.csr_array, (100, 700))):
        problem = problem_with(*shape, K=12, make=make)
        one, two = (dg.solve(problem, "quasi-newton", n_threads=threads) for threads in (1, 3))
        assert np.array_equal(one.coef, two.coef)
    assert parallel.count() >= 1


def test_refusals_say_what_is_missing():
    X, y = np.eye(6), np.array([0, 1, 2] * 2)

    def refusal(y, loss, penalty="l2"):
        return QuasiNewton().refusal(dg.Problem(X, y, loss, penalty, 1.0))

    assert "one decision value" in refusal(y % 2, "logistic")
    assert "L2 parts alone" in refusal(y, "softmax", "l1")


def test_auto_takes_it_for_many_features():
    from dualgap.methods.auto import choose

    assert "(quasi-newton" in choose(problem_with(100, 3000), 1e-4)[0]
    assert "(quasi-newton" in choose(problem_with(100, 3000, make=sp.csr_array), 1e-4)[0]
    assert "(quasi-newton" not in choose(problem_with(100, 5), 1e-4)[0]
    assert "(quasi-newton" not in choose(problem_with(100, 3000, intercept=False, lam=9.0), 1e-4)[0]
