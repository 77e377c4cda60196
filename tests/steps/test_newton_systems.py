"""Newton systems that are solved by products: every kind of preconditioner inverts its matrix, and
fits end at the optimum that another method finds."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.linalg import parallel
from dualgap.steps.newton import preconditioners, systems
from dualgap.steps.newton.hessian_products import HessianProducts

rng = np.random.default_rng(0)
LOSSES = ("logistic", "squared_hinge", "poisson", "huber", "squared", "hinge", "quantile")


def targets(loss, score):
    if loss == "poisson":
        return rng.poisson(np.exp(0.5 * score)).astype(float)
    return np.where(score > 0.2, 1, -1) if "hinge" in loss or loss == "logistic" else score


def problem_of(loss, kind, n=250, p=90, lam=1e-3, **more):
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-1, 1, p)
    if kind != "scaled":
        X[rng.random(X.shape) > 0.2] = 0.0
    score = X @ rng.standard_normal(p)
    score = score / score.std() + 0.3 * rng.standard_normal(n)
    stored = {"csr": sp.csr_array, "csc": sp.csc_array, "fortran": np.asfortranarray}
    X = stored.get(kind, np.asarray)(X)
    name = {"squared_hinge": "squared-hinge"}.get(loss, loss)
    return dg.Problem(X, targets(loss, score), name, more.pop("penalty", "l2"), lam, **more)


@pytest.fixture
def by_products(monkeypatch):
    """Systems are solved by products whatever they cost; counts them."""
    found, own = [], systems.Systems.solve

    def solve(self, *given):
        found.append(self.problem.n)
        return own(self, *given)

    monkeypatch.setattr(systems.Systems, "solve", solve)
    monkeypatch.setattr(systems, "TUNING", systems.TUNING.__class__(factor_products=0.0))
    return found


@pytest.mark.parametrize("intercept", [False, True, "penalised"])
@pytest.mark.parametrize("kind", ["scaled", "csr", "csc", "fortran"])
def test_products_and_preconditioners_are_those_of_the_hessian(kind, intercept):
    n = 60
    problem = problem_of("logistic", kind, n=n, intercept=intercept)
    X = np.stack([problem.times(e, 1) for e in np.eye(problem.d)], axis=1)
    weights = rng.random(n) * (rng.random(n) > 0.2)
    quadratic = problem.lam * problem.penalty_shape.l2
    hessian = X.T @ (weights[:, None] * X) + np.diag(quadratic)
    products, v = HessianProducts(problem), rng.standard_normal(problem.d)
    image, curved = products.times(weights, v)
    np.testing.assert_allclose(image, X @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(curved + quadratic * v, hessian @ v, rtol=1e-10, atol=1e-10)
    sums, squares = products.moments(weights)
    np.testing.assert_allclose(sums, X.T @ weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(squares, (X * X).T @ weights, rtol=1e-10)
    kernel = preconditioners.SampleKernel(problem, quadratic)
    for solve in (
        preconditioners.GramFactor(problem, weights, quadratic),
        preconditioners.SampleFactor(kernel, weights),
    ):
        right = rng.standard_normal(problem.d)
        np.testing.assert_allclose(hessian @ solve(right), right, rtol=1e-6, atol=1e-6)
    moments = preconditioners.Variances(products, weights, quadratic)
    matrix = np.stack([moments(e) for e in np.eye(problem.d)], axis=1)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12)
    assert np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min() > 0.0


@pytest.mark.parametrize("shape", [(250, 90), (60, 150)])
@pytest.mark.parametrize("loss", LOSSES)
def test_fits_by_products_end_at_the_optimum(by_products, loss, shape):
    n, p = shape
    for kind, intercept in (("scaled", True), ("csr", True), ("csc", "penalised"), ("csr", False)):
        problem = problem_of(loss, kind, n, p, intercept=intercept)
        solution = dg.solve(problem, "newton", tol=1e-6, relative_to="start")
        assert solution.converged
        assert by_products
        other = "prox-point" if loss == "poisson" else "sweeps"
        bound = dg.solve(problem, other, tol=1e-5, relative_to="start", max_epochs=60)
        assert solution.certificate.primal >= bound.certificate.dual
        assert solution.certificate.dual <= bound.certificate.primal


def test_penalties_with_weights_and_sample_weights(by_products):
    weights = rng.uniform(0.1, 3.0, 90)
    penalty = dg.penalties.Weighted(dg.penalties.L2(), weights)
    problem = problem_of(
        "logistic", "csr", penalty=penalty, sample_weight=rng.integers(0, 3, 250), intercept=True
    )
    solution = dg.solve(problem, "newton", tol=1e-8, relative_to="start")
    exact = dg.solve(problem, "lbfgs", tol=1e-6, relative_to="start", max_epochs=500)
    assert solution.converged
    assert by_products
    assert exact.certificate.dual <= solution.certificate.primal <= exact.certificate.primal


def test_the_number_of_threads_changes_no_bit():
    X = rng.standard_normal((4000, 300))
    y = np.where(X @ rng.standard_normal(300) + rng.standard_normal(4000) > 0.0, 1, 0)
    found = []
    for threads in (1, 2):
        with parallel.at_most(threads):
            problem = dg.Problem(X, y, "logistic", "l2", 1e-4, intercept=True)
            found.append(dg.solve(problem, "newton", n_threads=threads).coef)
    np.testing.assert_array_equal(*found)


def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one(tmp_path):
    X = rng.standard_normal((600, 400)) * 10.0 ** rng.uniform(-2, 2, 400)
    y = np.where(X @ rng.standard_normal(400) > 0.0, 1, 0)
    problem = dg.Problem(X, y, "logistic", "l2", 1e-6, intercept=True)
    store = tmp_path / "run.npz"
    whole = dg.solve(problem, "newton", tol=1e-8)
    assert len(whole.history) > 3
    for rounds in range(1, 40):
        part = dg.solve(
            problem, "newton", tol=1e-8, checkpoint=store, checkpoint_every=0.0, max_epochs=rounds
        )
        if part.converged:
            break
    np.testing.assert_array_equal(part.coef, whole.coef)
