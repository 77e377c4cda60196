"""Newton steps: Gram matrices, rounded kinks, and data that coordinate steps cannot cope with."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import QuantileRegressor

import dualgap as dg
from dualgap import losses, penalties
from dualgap.linalg import parallel
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.gram import gram
from dualgap.methods import auto
from dualgap.penalties.structure import Shape
from dualgap.steps.newton import model, newton
from dualgap.steps.newton.cholesky import solve_scaled
from dualgap.steps.newton.envelope import SmoothLosses
from dualgap.steps.newton.model import minimum

rng = np.random.default_rng(0)


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_matrices(make, dtype):
    X = make((rng.standard_normal((50, 4)) * (rng.random((50, 4)) < 0.6)).astype(dtype))
    dense = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    positive = np.maximum(rng.standard_normal(50), 0.0)
    for weights in (positive, rng.standard_normal(50), np.zeros(50)):
        np.testing.assert_allclose(
            gram(DesignMatrix(X), weights), dense.T @ (weights[:, None] * dense), atol=1e-13
        )
        bordered = np.column_stack([dense, np.full(50, 2.0)])
        expected = bordered.T @ (weights[:, None] * bordered)
        np.testing.assert_allclose(
            gram(DesignMatrix(X, "penalised", 2.0), weights), expected, atol=1e-13
        )


@pytest.mark.parametrize("constant", [False, True])
def test_rough_gram_matrices_are_as_precise_as_float32(constant):
    X, weights = rng.standard_normal((900, 6)), rng.standard_normal(900)
    exact = gram(DesignMatrix(X, constant), weights)
    assert (gram(DesignMatrix(X, constant), weights, rough=True) == exact).all()
    small = X.astype(np.float32)
    found = gram(DesignMatrix(small, constant), weights, rough=True)
    own = gram(DesignMatrix(small, constant), weights)
    assert (found != own).any()
    np.testing.assert_allclose(found, own, atol=900 * np.finfo(np.float32).eps, rtol=1e-5)
    far = DesignMatrix(np.float32(1e30) * small)  # its squares are beyond float32
    assert (gram(far, weights, rough=True) == gram(far, weights)).all()


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_hessians_of_float32_data_become_exact_where_steps_ask_for_it(loss):
    """Columns that agree to six digits, and next to no penalty: rough systems lead nowhere."""
    own = np.random.default_rng(0)
    X = own.standard_normal((800, 1)) + 1e-6 * own.standard_normal((800, 8))
    X = X.astype(np.float32)
    y = X[:, 0] + 0.3 * own.standard_normal(800)
    problem = dg.Problem(X, y, loss, "l2", 1e-8, intercept=True)
    found = dg.solve(problem, "newton", tol=1e-9, max_epochs=5)
    assert found.converged
    exact = dg.Problem(X.astype(np.float64), y, loss, "l2", 1e-8, intercept=True)
    best = dg.solve(exact, "newton", tol=1e-9).certificate
    assert found.certificate.primal == pytest.approx(best.primal, rel=2e-9)


def test_gram_matrices_of_many_rows_are_added_up(monkeypatch):
    X, weights = rng.standard_normal((50, 4)), rng.random(50)
    whole = gram(DesignMatrix(X), weights)
    monkeypatch.setattr("dualgap.linalg.gram._BLOCK_ENTRIES", 28)
    monkeypatch.setattr("dualgap.linalg.gram._SHARED_FROM", 1)
    np.testing.assert_allclose(gram(DesignMatrix(X), weights), whole, rtol=1e-13)


def slope_of(function, x, step=1e-6):
    return (function(x + step) - function(x - step)) / (2.0 * step)


def test_rounded_losses_have_the_slope_and_curvature_they_say():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    problem = dg.Problem(np.eye(4), y, "hinge", lam=1.0)
    a = np.array([0.3, -0.9, 0.0, -1.0])
    rounded = SmoothLosses(problem, a, 0.5)

    def envelope(z):
        # The largest value over a fine grid of the interval that b is in.
        grid = y[:, None] * np.linspace(0.0, 1.0, 200_001)
        values = y[:, None] * grid - z[:, None] * grid - 0.25 * (grid - a[:, None]) ** 2
        return values.max(axis=1)

    for z in 3.0 * rng.standard_normal((5, 4)):
        b, h = rounded.respond(z).b, rounded.curvatures(z) / problem.c
        np.testing.assert_allclose(-b, slope_of(envelope, z, 1e-3), atol=2e-3)
        np.testing.assert_allclose(h, -slope_of(lambda z: rounded.respond(z).b, z), atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_scales_of_features_do_not_matter(loss):
    """Where the penalty is scaled with them, the optimum is the same, and so is the proof."""
    X = rng.standard_normal((60, 4))
    y = np.sign(X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * rng.standard_normal(60))
    scales = np.array([1e12, 1e-12, 1.0, 1e4])
    plain = penalties.Weighted(penalties.L2(), np.ones(4))
    scaled = penalties.Weighted(penalties.L2(), scales**2)
    one = dg.solve(dg.Problem(X, y, loss, plain, 0.01), "newton", tol=1e-9)
    two = dg.solve(dg.Problem(X * scales, y, loss, scaled, 0.01), "newton", tol=1e-9)
    assert one.converged
    assert two.converged
    assert two.certificate.primal == pytest.approx(one.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(two.coef * scales, one.coef, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("C", [1e-6, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("method", ["newton", "small-newton"])
def test_raw_data(C, method):
    """Columns from 1e-3 to 1e3: a gap of 1e-8, in a few dozen steps, for a loss with kinks."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = dg.Problem(X, y, "hinge", "l2", 1.0 / (C * len(y)), intercept=True)
    solution = dg.solve(problem, method, tol=1e-8)
    assert solution.converged, str(solution)
    assert len(solution.history) < 80


def test_what_it_cannot_do_is_said():
    labels = np.arange(12) % 3
    problem = dg.Problem(rng.standard_normal((12, 3)), labels, "multiclass-hinge", lam=0.1)
    with pytest.raises(ValueError, match="MulticlassHinge loss has no second derivatives"):
        dg.solve(problem, "newton")


def test_a_warm_start_is_where_it_starts():
    X = rng.standard_normal((40, 3))
    y = X @ [2.0, 0.0, -1.0] + rng.standard_normal(40)
    problem = dg.Problem(X, y, losses.Quantile(0.3), "l1", 0.05, intercept=True)
    first = dg.solve(problem, "newton", tol=1e-8)
    again = dg.solve(problem, "newton", tol=1e-6, warm_start=first)
    assert first.converged
    assert len(again.history) <= 2


def test_rounding_errors_end_a_run():
    """What no float64 can reach is given up soon, and said."""
    X = rng.standard_normal((40, 3))
    y = np.sign(X[:, 0] + rng.standard_normal(40))
    solution = dg.solve(dg.Problem(X, y, "hinge", "l1", 0.01), "newton", tol=1e-18)
    assert not solution.converged
    assert solution.certificate.relative_gap < 1e-12
    assert "Stalled" in str(solution)


def badly_scaled(seed, loss):
    """Few samples, features of any size, perhaps far from 0, and any λ."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 40), rng.integers(1, 6)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-4.0, 4.0, d)
    X += (rng.random() < 0.3) * 10.0 ** rng.uniform(-2.0, 2.0)
    z = X @ rng.standard_normal(d)
    z = z / np.abs(z).max() + 0.3 * rng.standard_normal(n)
    if loss == "quantile":
        y = z * 10.0 ** rng.uniform(-3.0, 3.0) + (rng.random() < 0.3) * 1e3
    else:
        y = np.where(z > 0.0, 1, -1)
        y[0], y[-1] = 1, -1
    free = bool(rng.random() < 0.5)
    return dg.Problem(X, y, loss, "l1", 10.0 ** rng.uniform(-5.0, 1.0), intercept=free)


@pytest.mark.parametrize("loss", ["quantile", "hinge", "squared-hinge"])
def test_whatever_the_scales(loss):
    """A system that is all but singular, a wall at the first step, a start far from the data."""
    for seed in range(60):
        problem = badly_scaled(seed, loss)
        solution = dg.solve(problem, "newton", tol=1e-6, max_epochs=300)
        assert solution.converged, f"{seed}: {solution}"
        coef = solution.coef * (1.0 + 0.01 * rng.standard_normal(problem.p))
        other = dg.certify(problem, coef, solution.dual * 0.99, solution.intercept)
        assert other.dual <= solution.certificate.primal
        assert other.gap >= (other.primal - solution.certificate.primal) * (1.0 - 1e-12)


def reference_minimum(hessian, gradient, w, lam, shape):
    """By coordinate steps, very many of them."""
    p = np.clip(w, shape.low, shape.high)
    for _ in range(20_000):
        for j in range(len(p)):
            q = hessian[j, j] + lam * shape.l2[j]
            g = gradient[j] + hessian[j] @ (p - w)
            at = hessian[j, j] * p[j] - g
            t = lam * shape.l1[j]
            p[j] = np.clip((max(at - t, 0.0) + min(at + t, 0.0)) / q, shape.low[j], shape.high[j])
    return p


@pytest.mark.parametrize("kinked", [False, True])
def test_minima_of_models(kinked):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        half = rng.standard_normal((9, 6)) * 10.0 ** rng.uniform(-1.0, 1.0, 6)
        hessian, gradient, w = half.T @ half, 5.0 * rng.standard_normal(6), rng.standard_normal(6)
        shape = Shape(np.zeros(6), np.ones(6), np.full(6, -np.inf), np.full(6, np.inf))
        if kinked:
            shape = Shape(
                np.array([2.0, 2.0, 0.0, 0.0, 1.0, 0.0]),
                np.array([0.0, 1.0, 0.0, 1.0, 0.5, 0.0]),
                np.array([-np.inf, -np.inf, 0.0, -0.1, -np.inf, -np.inf]),
                np.array([np.inf, np.inf, np.inf, 0.1, np.inf, np.inf]),
            )
            w = np.clip(w, shape.low, shape.high)
        found = minimum(hessian, gradient, w, 0.7, shape)
        expected = reference_minimum(hessian, gradient, w, 0.7, shape)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
        assert ((found == 0.0) == (np.abs(expected) < 1e-12)).all()


def test_a_system_that_is_singular_is_solved_all_the_same():
    hessian = np.ones((3, 3))
    found = solve_scaled(hessian, np.ones(3), np.ones(3))
    np.testing.assert_allclose(hessian @ found, np.ones(3), rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_tall_data_start_from_a_sample_and_go_on_near_the_kinks(weighted, monkeypatch):
    """Both save passes, and neither may change the optimum."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6000, 4))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_normal(6000) > 0.0, 1, -1)
    weights = rng.random(6000) if weighted else None
    problem = dg.Problem(X, y, "hinge", "l2", 1e-4, weights)
    sampled, near = [], []
    record(monkeypatch, "sampled", sampled)
    record(monkeypatch, "on_samples", near)
    fast = dg.solve(problem, "newton", tol=1e-7)
    assert sampled
    assert len(near) > len(sampled)  # which are among them
    monkeypatch.setattr(newton, "TUNING", replace(newton.TUNING, least_samples=10_000))
    plain = dg.solve(problem, "newton", tol=1e-7)
    assert fast.converged
    assert plain.converged
    assert fast.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-7)
    np.testing.assert_allclose(fast.coef, plain.coef, atol=1e-3)


def record(monkeypatch, name, calls):
    """Note each call of a method of problems."""
    usual = getattr(dg.Problem, name)

    def noted(problem, places):
        calls.append(places)
        return usual(problem, places)

    monkeypatch.setattr(dg.Problem, name, noted)


def test_some_samples_keep_their_terms():
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    problem = dg.Problem(sp.csr_array(X), y, lam=0.3, sample_weight=rng.random(30))
    places = np.array([2, 3, 11, 29])
    w, a = rng.standard_normal(3), rng.standard_normal(30)
    some = problem.on_samples(places)
    np.testing.assert_allclose(some.decision(w), (X @ w)[places])
    np.testing.assert_allclose(
        some.average(a[places]), X[places].T @ (problem.c[places] * a[places]) / 0.3
    )
    part = problem.sampled(places)
    assert part.c.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(part.c / part.c[0], problem.c[places] / problem.c[places[0]])
    np.testing.assert_allclose(problem.mean_squares(), problem.c @ X**2)


def test_one_hot_codes_are_collinear(monkeypatch):
    """Each group sums to one: the features that others can replace leave one by one, which takes a
    system each, and not as many rounds as are allowed."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.eye(8)[rng.integers(8, size=3000)] for _ in range(6)], axis=1)
    y = np.sign(X @ rng.standard_normal(48) + 0.5 * rng.standard_normal(3000))
    solves = []

    def counted(*args):
        solves.append(0)
        return solve_scaled(*args)

    monkeypatch.setattr(model, "solve_scaled", counted)
    solution = dg.solve(dg.Problem(X, y, "logistic", "l1", 1e-5), "newton", tol=1e-8)
    assert solution.converged
    assert 0 < len(solves) < 500


@pytest.mark.parametrize("d", [50, 200, 2100])
@pytest.mark.parametrize("lam", [0.02, 0.2])
def test_medians_with_l1_and_more_features_than_samples(d, lam):
    """The optimum of a linear program; what auto takes is proven optimal, too."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, d))
    y = X[:, :5] @ [3.0, -2.0, 1.0, 2.0, -1.0] + rng.standard_normal(60)
    theirs = QuantileRegressor(alpha=lam, solver="highs").fit(X, y)
    away = np.abs(y - theirs.predict(X))
    least = 0.5 * away.mean() + lam * np.abs(theirs.coef_).sum()
    problem = dg.Problem(X, y, losses.Quantile(0.5), "l1", lam, intercept=True)
    for method in ("newton", "auto"):
        solution = dg.solve(problem, method, tol=1e-8)
        assert solution.converged, str(solution)
        assert solution.certificate.primal == pytest.approx(least, rel=1e-7)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("shape", [(20_000, 20), (8000, 40), (3000, 200)])
def test_arrays_call_for_newton_steps(shape, penalty):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    y = np.sign(X[:, 0] + rng.standard_normal(len(X)))
    chosen, _ = auto.choose(dg.Problem(X, y, "logistic", penalty, 1.0 / len(X)), 1e-4)
    tall = shape[0] >= 200 * shape[1]
    assert chosen.startswith("auto (newton" if penalty == "l2" or tall else "auto (working-set")


@pytest.mark.parametrize("signed", [False, True])
def test_threads_do_not_change_gram_matrices_of_arrays(signed, monkeypatch):
    monkeypatch.setattr("dualgap.linalg.gram._SHARED_FROM", 1)
    monkeypatch.setattr("dualgap.linalg.gram._BLOCK_ENTRIES", 64)
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((101, 7)), rng.random(101) - 0.5 * signed
    weights[::3] = 0.0
    found = []
    for threads in (1, 2, 5):
        with parallel.at_most(threads):
            found.append(gram(DesignMatrix(X), weights))
    np.testing.assert_allclose(found[0], X.T @ (weights[:, None] * X), rtol=1e-12, atol=1e-12)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_auto_solves_a_machine_on_as_many_unscaled_features_as_samples():
    random = np.random.default_rng(600)
    X = random.normal(size=(300, 300)) * 10.0 ** random.uniform(-3, 3, 300)
    y = X @ (random.normal(size=300) / np.abs(X).mean(axis=0)) > 0.0
    problem = dg.Problem(X, y, "squared-hinge", "l2", 1 / 300, intercept=True)
    assert dg.solve(problem, tol=1e-4, max_epochs=1000).converged
