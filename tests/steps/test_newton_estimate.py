"""Newton steps with the Hessian of a sample; float32 data give what float64 data give."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.linalg import parallel
from dualgap.steps.newton import descent, estimate

rng = np.random.default_rng(0)


def tall(n=40_000, p=40):
    X = rng.standard_normal((n, p))
    score = X @ rng.standard_normal(p) / np.sqrt(p)
    return X, np.where(score + 0.5 * rng.standard_normal(n) > 0.0, 1, 0), score


@pytest.fixture
def hessians(monkeypatch):
    """The numbers of samples of the Hessians that are computed."""
    found, own = [], descent.SmoothLosses.hessian

    def hessian(self, at):
        found.append(self.problem.n)
        return own(self, at)

    monkeypatch.setattr(descent.SmoothLosses, "hessian", hessian)
    return found


def test_a_fit_needs_no_hessian_of_all_samples(hessians):
    X, y, _ = tall()
    problem = dg.Problem(X, y, "logistic", "l2", 1e-4, intercept=True)
    solution = dg.solve(problem, "newton", tol=1e-5)
    assert solution.converged
    assert 0 < max(hessians) < problem.n
    exact = dg.solve(problem, "lbfgs", tol=1e-8)
    assert solution.certificate.primal <= exact.certificate.primal * (1.0 + 1e-5)


def test_features_that_the_sample_lacks_call_for_all_samples(hessians):
    X, y, _ = tall()
    X[:, 7] = 0.0
    X[::10_000, 7] = 3.0
    problem = dg.Problem(X, y, "logistic", "l2", 1e-4, intercept=True)
    assert dg.solve(problem, "newton", tol=1e-8).converged
    assert max(hessians) == problem.n


def test_an_estimate_that_misleads_is_given_up(monkeypatch, hessians):
    X, y, _ = tall()
    problem = dg.Problem(X, y, "logistic", "l2", 1e-4, intercept=True)
    monkeypatch.setattr(estimate, "corrected", lambda matrix, step, change: 0.2 * matrix)
    monkeypatch.setattr(descent, "corrected", lambda matrix, step, change: 0.2 * matrix)
    assert dg.solve(problem, "newton", tol=1e-8).converged
    assert max(hessians) == problem.n


def test_the_correction_explains_the_last_step():
    root = rng.standard_normal((5, 5))
    matrix, step = root @ root.T + np.eye(5), rng.standard_normal(5)
    change = 2.0 * matrix @ step
    better = estimate.corrected(matrix, step, change)
    np.testing.assert_allclose(better @ step, change, rtol=1e-12)
    assert np.linalg.eigvalsh(better).min() > 0.0
    assert estimate.corrected(matrix, step, -change) is None
    assert estimate.corrected(matrix, 0.0 * step, 0.0 * change) is None


MODELS = [
    (dg.LogisticRegression(), True),
    (dg.LinearSVC(loss="squared_hinge"), True),
    (dg.Lasso(alpha=0.05), False),
    (dg.Ridge(), False),
]


@pytest.mark.parametrize(("model", "classes"), MODELS)
@pytest.mark.parametrize("kind", ["C", "F", "csr"])
def test_float32_data_give_the_same_model(model, classes, kind):
    X, y, score = tall(6000, 55)
    X = X.astype(np.float32)
    target = y if classes else score + rng.standard_normal(len(score))

    def stored(X):
        return sp.csr_array(X) if kind == "csr" else np.asarray(X, order=kind)

    wide = model.fit(stored(X.astype(np.float64)), target)
    best, gap = wide.certificate_.primal, wide.certificate_.gap
    narrow = model.fit(stored(X), target)
    assert narrow.coef_.dtype == np.float32
    certificate = narrow.certificate_
    assert certificate.relative_gap <= 1e-4
    assert abs(certificate.primal - best) <= gap + certificate.gap + 1e-6 * abs(best)
    # Neither bound may contradict what the other model reaches.
    assert certificate.dual <= best * (1.0 + 1e-12)


def test_the_certificate_of_a_float32_model_holds_in_exact_arithmetic():
    X = rng.integers(-8, 9, (300, 4)).astype(np.float32) / np.float32(7.0)
    y = (X @ np.array([1.0, -2.0, 0.0, 0.5]) + rng.integers(-3, 4, 300)).astype(np.float64)
    model = dg.Lasso(alpha=0.1).fit(X, y)
    w = [Fraction(float(v)) for v in model.coef_]
    b = Fraction(float(model.intercept_))
    total = Fraction(0)
    for row, target in zip(X, y):
        residual = Fraction(float(target)) - b - sum(Fraction(float(x)) * v for x, v in zip(row, w))
        total += residual * residual
    reached = total / (2 * len(y)) + Fraction(0.1) * sum(abs(v) for v in w)
    certificate = model.certificate_
    assert Fraction(certificate.dual) <= reached <= Fraction(certificate.upper)
    assert reached - Fraction(certificate.dual) <= Fraction(certificate.gap) * 2


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_working_sets_of_wide_arrays(order, dtype):
    """By rows only the columns of the set are copied; bits do not depend on threads."""
    X = np.asarray(rng.standard_normal((80, 1500)), dtype=dtype, order=order)
    y = X[:, :5].astype(np.float64).sum(axis=1) + rng.standard_normal(80)
    lam = 0.1 * float(np.abs(X.T @ (y - y.mean())).max()) / 80
    found = []
    for threads in (1, 2):
        problem = dg.Problem(X, y, "squared", "l1", lam, intercept=True)
        solution = dg.solve(problem, "working-set", tol=1e-8, n_threads=threads)
        assert solution.converged
        found.append(solution.coef)
        if order == "C":
            assert "columns" not in vars(problem)
    assert (found[0] == found[1]).all()
    with parallel.at_most(1):
        newton = dg.solve(problem, "newton", tol=1e-8)
    assert abs(newton.certificate.primal - solution.certificate.primal) <= (
        newton.certificate.gap + solution.certificate.gap
    )
