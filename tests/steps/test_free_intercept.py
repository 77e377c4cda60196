"""A free intercept in sweeps: optima of other solvers, hard data, and what it costs."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.svm import SVC, SVR

import dualgap as dg
from dualgap import losses, penalties
from dualgap.methods.registry import METHODS
from dualgap.run.solution import Status
from dualgap.steps.base import Start
from dualgap.steps.sweeps.free_intercept import FreeIntercept

CLASSIFY = [losses.Hinge(), losses.SquaredHinge(0.5), losses.Logistic()]
REGRESS = [
    losses.EpsilonInsensitive(0.1),
    losses.Quantile(0.3),
    losses.Squared(),
    losses.Huber(0.5),
]


def data(loss, kind="plain", n=80, d=120, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.1, rng=rng, format="csr")
    score = X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n)
    if kind == "shifted":
        X = X.toarray()
        X[:, :5] += 30.0
    elif kind == "constant":
        X = sp.hstack([X, np.full((n, 2), 3.0)]).tocsr()
    elif kind == "one-hot":
        X = sp.hstack([X, np.eye(4)[rng.integers(0, 4, n)], np.eye(3)[rng.integers(0, 3, n)]])
        X = X.tocsr()
    if getattr(loss, "targets", "") == "binary":
        return X, np.where(score > (1.2 if kind == "imbalanced" else 0.2), 1.0, -1.0)
    return X, score + (1e3 if kind == "imbalanced" else 2.0)


KINDS = ["plain", "shifted", "constant", "one-hot", "imbalanced"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", CLASSIFY + REGRESS, ids=lambda loss: type(loss).__name__)
def test_the_optimum_is_that_of_newton_steps(loss, kind):
    X, y = data(loss, kind)
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    for C, s in ((1.0, None), (1e-3, weights), (100.0, None)):
        problem = dg.Problem(X, y, loss, lam=1 / (C * len(y)), sample_weight=s, intercept=True)
        ours = dg.solve(problem, "sweeps", tol=1e-6, max_epochs=5000)
        other = dg.solve(problem, "newton", tol=1e-8)
        assert ours.status is Status.CONVERGED
        assert ours.certificate.dual <= other.certificate.primal
        away = ours.certificate.primal - other.certificate.primal
        assert abs(away) <= 1e-5 * abs(other.certificate.reference)


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2])
def test_kinks_agree_with_libsvm(C):
    for loss, other in (
        (losses.Hinge(), SVC(kernel="linear", C=C, tol=1e-7)),
        (losses.EpsilonInsensitive(0.1), SVR(kernel="linear", C=C, epsilon=0.1, tol=1e-7)),
    ):
        X, y = data(loss)
        problem = dg.Problem(X, y, loss, lam=1 / (C * len(y)), intercept=True)
        ours = dg.solve(problem, "sweeps", tol=1e-7, max_epochs=5000)
        other.fit(X, y)
        coef = other.coef_.toarray() if sp.issparse(other.coef_) else other.coef_
        best = problem.primal(np.append(coef.ravel(), other.intercept_))
        assert ours.certificate.dual <= best
        assert ours.certificate.primal <= best * (1.0 + 1e-6)


@pytest.mark.parametrize("name", ["logistic", "squared-hinge"])
def test_smooth_losses_agree_with_scipy(name):
    X, y = data(CLASSIFY[0])
    problem = dg.Problem(X, y, name, lam=1e-3, intercept=True)
    ours = dg.solve(problem, "sweeps", tol=1e-8, max_epochs=5000)

    def value(w):
        a = np.array([-problem.loss.slope(z, t) for z, t in zip(problem.decision(w), problem.y)])
        gradient = -problem.lam * problem.average(a)
        gradient[:-1] += problem.lam * w[:-1]
        return problem.primal(w), gradient

    found = minimize(value, np.zeros(problem.d), jac=True, options={"gtol": 1e-9})
    assert ours.certificate.primal == pytest.approx(found.fun, rel=1e-6)
    assert ours.intercept == pytest.approx(found.x[-1], abs=1e-3)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Logistic()], ids=["hinge", "logistic"])
def test_one_of_ten_thousand(loss):
    rng = np.random.default_rng(3)
    n, d = 10_000, 300
    X = sp.random_array((n, d), density=0.03, rng=rng, format="csr")
    y = np.full(n, -1.0)
    y[17] = 1.0
    for C in (1e-2, 1.0, 1e3):
        problem = dg.Problem(X, y, loss, lam=1 / (C * n), intercept=True)
        ours = dg.solve(problem, "sweeps", tol=1e-4)
        assert ours.status is Status.CONVERGED
        assert ours.certificate.primal <= 1.0001 * dg.solve(problem, "newton").certificate.primal


@pytest.mark.parametrize("loss", [CLASSIFY[0], CLASSIFY[1], CLASSIFY[2]], ids=["h", "s", "l"])
def test_a_free_intercept_takes_about_as_many_passes_as_a_penalised_one(loss):
    X, y = data(loss, n=3000, d=6000, seed=5)
    for C in (0.1, 1.0, 10.0):
        passes = [
            dg.solve(dg.Problem(X, y, loss, lam=1 / (C * len(y)), intercept=i), "sweeps").passes
            for i in (True, "penalised")
        ]
        assert passes[0] <= 1.5 * passes[1] + 2.0


def test_other_strongly_convex_penalties_are_accepted():
    X, y = data(losses.Hinge())
    for penalty in (penalties.ElasticNet(0.3), penalties.NonNegative(penalties.L2())):
        problem = dg.Problem(X, y, "hinge", penalty, lam=0.01, intercept=True)
        assert dg.solve(problem, "sweeps", tol=1e-6).status is Status.CONVERGED
    weights = np.ones(X.shape[1])
    weights[3] = 0.0
    free = dg.Problem(X, y, "hinge", penalties.Weighted(penalties.L2(), weights), intercept=True)
    assert "not strongly convex" in METHODS["sweeps"].refusal(free)


def test_pairs_are_balanced_and_rest_on_their_dual_point():
    X, y = data(losses.Hinge())
    problem = dg.Problem(X, y, "hinge", lam=0.01, intercept=True)
    own = FreeIntercept(problem, Start())
    rng = np.random.default_rng(0)
    share = np.where(problem.y > 0.0, np.mean(problem.y < 0.0), np.mean(problem.y > 0.0))
    for _ in range(20):
        a = problem.y * share * rng.random(problem.n)
        pair = own.pair((a, np.append(problem.average(a)[:-1], 0.0)), 1e-3)
        assert abs(np.sum(problem.c * pair.a)) <= 1e-15
        assert (problem.y * pair.a >= 0.0).all()
        assert (problem.y * pair.a <= 1.0).all()
        np.testing.assert_allclose(pair.u, problem.average(pair.a), atol=1e-12)
        np.testing.assert_allclose(pair.z, problem.decision(pair.w), atol=1e-12)
        # No other intercept is much better.
        best = problem.primal(pair.w)
        for step in (-0.1, 0.1):
            other = pair.w.copy()
            other[-1] += step
            assert best <= problem.primal(other) + 1e-3


def test_a_resumed_run_has_the_same_bits(tmp_path):
    X, y = data(losses.Hinge(), n=400, d=800)
    problem = dg.Problem(X, y, "hinge", lam=1e-4, intercept=True)
    whole = dg.solve(problem, "sweeps", tol=1e-9, max_epochs=6)
    dg.solve(problem, "sweeps", tol=1e-9, max_epochs=3, checkpoint=tmp_path / "run")
    resumed = dg.solve(problem, "sweeps", tol=1e-9, max_epochs=6, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(resumed.coef, whole.coef)
    assert resumed.intercept == whole.intercept


def test_a_warm_start_keeps_the_intercept():
    X, y = data(losses.EpsilonInsensitive(0.1), "imbalanced")
    problem = dg.Problem(X, y, losses.EpsilonInsensitive(0.1), lam=1e-3, intercept=True)
    first = dg.solve(problem, "sweeps", tol=1e-6, max_epochs=3000)
    again = dg.solve(problem, "sweeps", tol=1e-5, warm_start=first)
    assert again.passes <= 0.2 * first.passes
    assert again.intercept == pytest.approx(first.intercept, rel=1e-4)
