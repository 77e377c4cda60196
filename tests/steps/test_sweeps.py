"""Sweeps and steps on faces: optima of others, ascent that never leaves the domain."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

import dualgap as dg
from dualgap import losses, penalties
from dualgap.run.solution import Status
from dualgap.steps.coordinate.views import DualView
from dualgap.steps.sweeps import sweeps
from dualgap.steps.sweeps.face import ascend
from dualgap.steps.sweeps.sweeps import shuffle

rng = np.random.default_rng(0)

FACES = [
    losses.Squared(0.7),
    losses.Hinge(),
    losses.SmoothedHinge(0.5),
    losses.SquaredHinge(2.0),
    losses.Huber(0.7),
    losses.EpsilonInsensitive(0.2),
    losses.SquaredEpsilonInsensitive(0.2),
    losses.Quantile(0.3),
]


def wide(n=60, d=150, seed=0):
    """Sparse rows with a few zero rows and duplicates, and labels that X explains in part."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.1, rng=rng, format="csr")
    X = sp.vstack([X, X[:5], sp.csr_array((3, d))]).tocsr()
    score = X @ rng.standard_normal(d) + 0.2 * rng.standard_normal(X.shape[0])
    return X, np.where(score > 0.0, 1.0, -1.0)


@pytest.mark.parametrize("loss", FACES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_faces_are_quadratic_pieces_of_the_conjugate(loss, y):
    for a in y * np.array([-0.6, -0.25, 0.0, 0.2, 0.6]):
        low, high, bend, tilt = loss.face(a, y)
        assert low <= high
        if not low < a < high:
            continue
        inside = np.linspace(max(low, a - 1.0), min(high, a + 1.0), 7)
        piece = [tilt * b + 0.5 * bend * b * b for b in inside]
        np.testing.assert_allclose(
            np.diff([loss.conj(b, y) for b in inside]), np.diff(piece), atol=1e-12
        )
        # The piece is the widest: beyond its end there is a kink or the end of the domain.
        for end, beyond in ((low, low - 0.1), (high, high + 0.1)):
            if np.isfinite(end):
                step = tilt * (beyond - end) + 0.5 * bend * (beyond**2 - end**2)
                assert loss.conj(beyond, y) - loss.conj(end, y) > step + 1e-9


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("shrink", [1.0, 100.0])
def test_a_step_on_the_face_ascends_and_stays_in_the_domain(loss, shrink):
    X, y = wide()
    n = len(y)
    weights = rng.integers(0, 4, n).astype(float)
    problem = dg.Problem(X, y, loss, lam=1.0 / (n * shrink), sample_weight=weights)

    def dual(a, u):
        conjs = sum(
            c * problem.loss.conj(b, t) for c, b, t in zip(problem.c, a, problem.y, strict=True)
        )
        return -conjs - 0.5 * problem.lam * float(u @ u)

    for seed in range(20):
        start = problem.y * np.random.default_rng(seed).random(n)
        view = DualView(problem, start)
        before = dual(view.x, view.v)
        done = ascend(view, 1 + seed, 0.0)
        assert 0 < done.size < n
        assert done.iterations <= 1 + seed
        np.testing.assert_allclose(problem.average(view.x), view.v, rtol=1e-9, atol=1e-9)
        after = dual(view.x, view.v)  # infinite outside of the domain
        assert after > before
        assert after - before == pytest.approx(done.gain, rel=1e-6)


@pytest.mark.parametrize("shrink", [1.0, 30.0])
def test_hinge_and_squared_hinge_agree_with_liblinear(shrink):
    X, y = wide()
    n = len(y)
    for loss, share in (("hinge", 1.0), ("squared-hinge", 0.5)):
        problem = dg.Problem(X, y, loss, lam=1.0 / (n * shrink))
        ours = dg.solve(problem, "sweeps", tol=1e-10, max_epochs=5000)
        assert ours.status is Status.CONVERGED
        other = LinearSVC(
            loss=loss.replace("-", "_"),
            C=shrink * share,
            fit_intercept=False,
            dual=True,
            tol=1e-8,
            max_iter=1_000_000,
        ).fit(X, y)
        best = problem.primal(other.coef_.ravel())
        assert problem.primal(ours.coef) == pytest.approx(best, abs=1e-9 * problem.scale)
        np.testing.assert_allclose(ours.coef, other.coef_.ravel(), atol=1e-3)


def test_ridge_is_one_step_and_agrees_with_the_closed_form():
    X, y = rng.standard_normal((20, 50)), rng.standard_normal(20)
    weights = rng.random(20)
    problem = dg.Problem(X, y, "squared", lam=1e-3, sample_weight=weights)
    ours = dg.solve(problem, "sweeps", tol=1e-12)
    assert ours.status is Status.CONVERGED
    assert len(ours.history.gap) <= 3
    other = Ridge(alpha=1e-3 * weights.sum(), fit_intercept=False, solver="svd")
    other.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef, other.coef_, atol=1e-5)


def test_the_same_with_repeated_samples_as_with_weights():
    X, y = wide(30, 80)
    twice = dg.Problem(sp.vstack([X, X]).tocsr(), np.tile(y, 2), "hinge", lam=0.01)
    once = dg.Problem(X, y, "hinge", lam=0.01)
    a, b = (dg.solve(p, "sweeps", tol=1e-9, max_epochs=5000) for p in (twice, once))
    assert a.certificate.primal == pytest.approx(b.certificate.primal, abs=1e-8)


def test_one_sample_and_one_of_each_class():
    x = np.array([3.0, 0.0, 4.0])
    one = dg.solve(dg.Problem(sp.csr_array([x]), [1.0], "squared", lam=0.1), "sweeps", tol=1e-12)
    np.testing.assert_allclose(one.coef, x / 25.1, rtol=1e-6)
    for loss, size in (("hinge", 1.0), ("squared-hinge", 50.0 / 50.2)):
        pair = dg.Problem(sp.csr_array([x, -x]), [1.0, -1.0], loss, lam=0.1)
        both = dg.solve(pair, "sweeps", tol=1e-12)
        np.testing.assert_allclose(both.coef, size * x / 25.0, rtol=1e-6)


def test_only_zero_rows():
    problem = dg.Problem(sp.csr_array((4, 3)), [1.0, -1.0, 1.0, -1.0], "hinge", lam=0.1)
    solution = dg.solve(problem, "sweeps")
    assert solution.status is Status.CONVERGED
    assert not solution.coef.any()


def test_other_penalties_get_sweeps_alone():
    X, y = wide()
    problem = dg.Problem(X, y, "hinge", penalties.ElasticNet(0.3), lam=0.01)
    assert "faces" not in dg.solve(problem, "sweeps").method
    assert "faces" in dg.solve(dg.Problem(X, y, "hinge", lam=0.01), "sweeps").method


def test_what_it_lacks_is_said_in_words():
    X, y = wide()
    with pytest.raises(ValueError, match="not strongly convex"):
        dg.solve(dg.Problem(X, y, "hinge", "l1", lam=0.01, intercept=True), "sweeps")
    with pytest.raises(ValueError, match="passes over all samples"):
        dg.solve(dg.Problem(X, y, "hinge", lam=0.01), "sweeps", sampling="uniform")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("lam", [1e-1, 1e-9])
def test_ridge_on_few_samples_is_one_system(order, lam):
    n, d, gamma, constant = 12, 30, 0.7, 2.0
    X = np.asarray(rng.standard_normal((n, d)), order=order)
    y, weights = rng.standard_normal(n), rng.integers(0, 3, n).astype(float)
    problem = dg.Problem(
        X, y, losses.Squared(gamma), "l2", lam, weights, "penalised", intercept_scaling=constant
    )
    solution = dg.solve(problem, "sweeps", tol=1e-10)
    wide = np.column_stack([X, np.full(n, constant)])
    scaled = wide.T * (weights / weights.sum() / gamma)
    expected = np.linalg.solve(scaled @ wide + lam * np.eye(d + 1), scaled @ y)
    assert solution.status is Status.CONVERGED
    assert solution.history.gap.shape[0] <= 4
    found = wide @ np.append(solution.coef, solution.intercept / constant)
    heavy = weights > 0.0
    np.testing.assert_allclose(found[heavy], (wide @ expected)[heavy], atol=1e-4)


@pytest.mark.parametrize("few", [0, 2000])
def test_rounds_of_few_and_of_many_samples_reach_the_same_optimum(few, monkeypatch):
    monkeypatch.setattr(sweeps, "TUNING", replace(sweeps.TUNING, few_samples=few))
    X, y = wide()
    found = dg.solve(dg.Problem(X, y, "squared-hinge", lam=0.1 / len(y)), "sweeps", tol=1e-9)
    assert found.status is Status.CONVERGED


def test_random_orders():
    """Each is a permutation, the generator decides which one, and no place is preferred."""
    rng = np.random.default_rng(0)
    counts = np.zeros((7, 7))
    for _ in range(7000):
        order = np.arange(7)
        shuffle(order, rng)
        assert sorted(order) == list(range(7))
        counts[np.arange(7), order] += 1
    assert (np.abs(counts - 1000.0) < 150.0).all()  # five standard deviations
    first, second = np.arange(100), np.arange(100)
    shuffle(first, np.random.default_rng(1))
    shuffle(second, np.random.default_rng(1))
    assert (first == second).all()
    assert (first != np.arange(100)).any()


def test_samples_at_their_bound_are_left_to_the_next_gap_check(monkeypatch):
    """Most samples have no loss: the third sweep of a round visits only those that moved."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 40))
    y = np.sign(X @ rng.standard_normal(40))
    visited = []
    epoch = sweeps.epoch
    monkeypatch.setattr(sweeps, "epoch", lambda *args: visited.append(len(args[5])) or epoch(*args))
    problem = dg.Problem(X, y, "squared-hinge", "l2", 1e-3)
    assert dg.solve(problem, "sweeps", tol=1e-6).converged
    assert visited[:2] == [1500, 1500]
    assert 0 < visited[2] < 0.6 * 1500
