"""ASDCA, APCG, AccProx-SDCA and DisDCA: equal to their papers' iterations, fast, and robust."""

import batch_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.losses import SmoothedHinge, Squared
from dualgap.penalties import L2, Box, ElasticNet
from dualgap.samplings import Distributed, Full, TauNice, Uniform
from dualgap.steps import APCG, ASDCA, SPDC, AccProxSDCA, DisDCA, Quartz, Setting
from dualgap.steps.base import Start
from dualgap.steps.sets.sampling_facts import sampling_facts

GAMMA = 0.5
LINKS = {
    "l2": (L2(), lambda u: u),
    "elastic-net": (ElasticNet(0.4), lambda u: ref.soft(u, 0.4) / 0.6),
    "box": (Box(-0.1, 0.2), lambda u: np.clip(u, -0.1, 0.2)),
}


def make(penalty="l2", n=40, d=12, lam=1e-2, weighted=False, kind=sp.csr_array, spread=0.5):
    X = ref.sparse_rows(n, d, spread=spread)
    s = np.random.default_rng(3).exponential(size=n) if weighted else None
    return dg.Problem(kind(X), ref.labels(X), SmoothedHinge(GAMMA), penalty, lam, s)


def start(problem, step, sampling, warm=Start()):
    bound = sampling.bind(problem)
    run = step.start(problem, warm, Setting(bound))
    return run, bound, sampling_facts(problem, bound)


def check_equal(pair, w, a):
    np.testing.assert_allclose(pair.w, w, rtol=1e-9, atol=1e-10 * np.abs(w).max())
    np.testing.assert_allclose(pair.a, a, atol=1e-10)
    assert np.abs(w).max() > 1e-3


# --- lazy steps are dense steps -------------------------------------------------------------------


@pytest.mark.parametrize("sampling", [Uniform(), TauNice(5), Full()], ids=str)
def test_asdca_is_that_of_the_paper(sampling):
    problem = make(weighted=True)
    run, bound, known = start(problem, ASDCA(), sampling)
    m, ratio = problem.n * known.p[0], GAMMA / known_hardest(problem)
    theta = 0.25 * min(1.0, np.sqrt(ratio / m), ratio, ratio ** (2 / 3) / m ** (1 / 3))
    assert run.features.decay.loss == pytest.approx(theta, rel=1e-14)
    sets = ref.draw_sets(bound, known, 500, np.random.default_rng(0))
    loss, X = ref.SmoothedHinge(problem.y, GAMMA), ref.dense(problem)
    w, a = np.zeros(problem.d), run.a.copy()
    w, a = ref.asdca(X, problem.c, problem.lam, ref.members(sets), loss, theta, w, a)
    run.advance(*sets)
    check_equal(run.pair(), w, a)


def known_hardest(problem):
    """The largest q of a single sample."""
    return (problem.c * (ref.dense(problem) ** 2).sum(axis=1)).max() / problem.lam


@pytest.mark.parametrize("name", LINKS)
def test_apcg_is_the_method_with_three_sequences(name):
    penalty, link = LINKS[name]
    problem = make(penalty, weighted=True)
    run, bound, known = start(problem, APCG(), Uniform())
    order = ref.draw_sets(bound, known, 600, np.random.default_rng(0)).order
    q = known_hardest(problem) / float(problem.features.strength.min())
    loss, X, a = ref.SmoothedHinge(problem.y, GAMMA), ref.dense(problem), run.steady.copy()
    for part in np.split(order, [50, 51, 300]):  # powers start anew with each
        run.advance(part)
    pair = run.pair()
    a = ref.apcg(X, problem.c, problem.lam, order, loss, link, GAMMA, q, a)
    w = link(X.T @ (problem.c * a) / problem.lam)
    check_equal(pair._replace(a=run.fading + run.steady), w, a)
    np.testing.assert_allclose(pair.a, problem.y * np.clip(problem.y * a, 0.0, 1.0), atol=1e-10)


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("variant", ["basic", "practical"])
def test_disdca_is_that_of_machines_with_copies(variant, name):
    penalty, link = LINKS[name]
    problem = make(penalty, weighted=True)
    sampling = Distributed(3, 4)  # parts of 14, 14 and 12
    run, bound, known = start(problem, DisDCA(variant), sampling)
    sets = ref.draw_sets(bound, known, 120, np.random.default_rng(0))
    loss, X = ref.SmoothedHinge(problem.y, GAMMA), ref.dense(problem)
    strength = float(problem.features.strength.min())
    alone = problem.c * (X**2).sum(axis=1) / (problem.lam * strength)
    u, a = ref.disdca(
        *(X, problem.c, problem.lam, ref.members(sets), loss, link),
        *(alone, 3, 4, variant == "practical", run.a.copy()),
    )
    run.advance(*sets)
    check_equal(run.pair(), link(u), a)


# --- rates ----------------------------------------------------------------------------------------


def test_acceleration_pays_where_the_condition_is_bad():
    """λ ≪ 1/n."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 10))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X @ rng.standard_normal(10) + 0.3 * rng.standard_normal(300) > 0, 1.0, -1.0)
    problem = dg.Problem(sp.csr_array(X), y, SmoothedHinge(GAMMA), "l2", 3e-6)
    plain = dg.solve(problem, "sdca", tol=1e-4, max_epochs=8000)
    assert plain.converged
    for method in ("apcg", "spdc", "accprox-sdca"):
        fast = dg.solve(problem, method, tol=1e-4, max_epochs=8000)
        assert fast.converged
        assert fast.passes < plain.passes, method
    counted = dg.solve(problem, AccProxSDCA(passes=2), tol=1e-4, max_epochs=8000)
    assert counted.converged
    assert counted.passes < fast.passes  # which stops inner runs by the accuracies of theory
    with pytest.raises(ValueError, match="passes must be"):
        AccProxSDCA(passes=0)


def test_the_rate_of_apcg_in_the_dual():
    """Theorem 2 of Lin, Lu, Xiao: E[D* − D] ≤ (1 − √μ/n)^t (D* − D(a₀) + ½μ‖a₀ − a*‖²_L)."""
    problem = make(lam=1e-3)
    best = dg.solve(problem, "cd-permutation", tol=1e-14, max_epochs=5000)
    mean = 0.0
    t = 10 * problem.n
    for seed in range(20):
        run, _, known = start(problem, APCG(), Uniform())
        run.advance(np.random.default_rng(seed).integers(problem.n, size=t))
        pair = run.pair()
        u = problem.average(pair.a)
        b = problem.y * pair.a
        dual = problem.c @ (b - GAMMA / 2 * b**2) - problem.lam * (u @ u) / 2
        mean += (best.certificate.dual - dual) / 20
    root = np.sqrt(GAMMA / (GAMMA + known.q.max()))
    size = problem.c @ best.dual**2 * (GAMMA + known.q.max())
    first = best.certificate.dual + 0.5 * root**2 * size  # D(0) = 0
    assert mean <= (1 - root / problem.n) ** t * first
    assert mean > -1e-12


def test_large_primal_steps_of_quartz_pay():
    problem = make()
    slow, fast = (
        dg.solve(problem, Quartz(multiplier=k), tol=1e-5, max_epochs=20_000) for k in (1.0, 100.0)
    )
    assert slow.converged
    assert fast.converged
    assert fast.passes < slow.passes


def test_machines_that_see_their_own_moves_need_fewer_rounds():
    problem = make(lam=1e-3)
    basic, practical = (
        dg.solve(problem, DisDCA(v), Distributed(2, 10), tol=1e-5, max_epochs=20_000)
        for v in ("basic", "practical")
    )
    assert basic.converged
    assert practical.converged
    assert practical.passes < basic.passes


# --- robustness -----------------------------------------------------------------------------------

METHODS = {
    "quartz": (Quartz(), Uniform()),
    "quartz-ii": (Quartz("II"), Uniform()),
    "spdc": (SPDC(), Uniform()),
    "asdca": (ASDCA(), Uniform()),
    "apcg": (APCG(), Uniform()),
    "accprox": (AccProxSDCA(), Uniform()),
    "disdca": (DisDCA(), Distributed(1, 1)),
}
each_method = pytest.mark.parametrize("name", METHODS)


def solve(name, problem, **more):
    return dg.solve(problem, *METHODS[name], **{"tol": 1e-6, "max_epochs": 20_000, **more})


@each_method
def test_a_warm_start_is_not_lost(name):
    problem = make()
    exact = dg.solve(problem, "cd-permutation", tol=1e-10)
    again = solve(name, problem, warm_start=exact)
    assert again.converged
    assert again.passes <= 1.0
    for run in (again, solve(name, problem, warm_start=(exact.coef, exact.dual), max_epochs=3)):
        np.testing.assert_allclose(run.coef, exact.coef, atol=1e-3)
    # And what it starts from is that point: the run itself, not only the loop, knows it.
    step, sampling = METHODS[name]
    run, _, _ = start(problem, step, sampling, Start(exact.coef, exact.dual))
    pair = run.pair()
    np.testing.assert_allclose(pair.a, exact.dual, atol=1e-12)
    np.testing.assert_allclose(pair.w, exact.coef, atol=1e-4)
    run.advance(np.arange(problem.n))
    np.testing.assert_allclose(run.pair().w, exact.coef, atol=1e-3)


@each_method
def test_weights_are_repetitions(name):
    problem = make(n=20, lam=0.1)
    s = 1 + np.arange(20) % 3
    weighted = dg.Problem(problem.X, problem.y, problem.loss, "l2", 0.1, s)
    X = sp.csr_array(np.repeat(ref.dense(problem), s, axis=0))
    repeated = dg.Problem(X, np.repeat(problem.y, s), problem.loss, "l2", 0.1)
    ours, theirs = solve(name, weighted), solve(name, repeated)
    assert ours.converged
    assert theirs.converged
    allowed = ours.certificate.radius + theirs.certificate.radius
    assert np.linalg.norm(ours.coef - theirs.coef) <= allowed
    away = abs(ours.certificate.primal - theirs.certificate.primal)
    assert away <= ours.certificate.gap + theirs.certificate.gap


@each_method
def test_rows_of_zeros_and_samples_of_weight_zero(name):
    problem = make(n=20, lam=0.1)
    X = np.vstack([ref.dense(problem), np.zeros((2, 12)), 100.0 * np.ones((2, 12))])
    y = np.concatenate([problem.y, [1.0, -1.0], [1.0, 1.0]])
    s = np.concatenate([np.ones(22), np.zeros(2)])
    padded = solve(name, dg.Problem(sp.csr_array(X), y, problem.loss, "l2", 0.1 * 20 / 22, s))
    plain = solve(name, problem)
    assert padded.converged
    assert plain.converged
    allowed = padded.certificate.radius + plain.certificate.radius
    assert np.linalg.norm(padded.coef - plain.coef) <= allowed


@each_method
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (6, 1)])
def test_single_samples_and_features(name, shape):
    X, y = np.random.default_rng(0).standard_normal(shape), np.arange(1.0, shape[0] + 1)
    run = solve(name, dg.Problem(sp.csr_array(X), y, Squared(GAMMA), "l2", 0.05))
    assert run.converged
    H = X.T @ X / (GAMMA * shape[0]) + 0.05 * np.eye(shape[1])
    best = np.linalg.solve(H, X.T @ y / (GAMMA * shape[0]))
    np.testing.assert_allclose(run.coef, best, rtol=0.01)


@each_method
def test_nothing_but_zeros(name):
    """No sample can move anything: steps must not divide by zero."""
    for n in (1, 3):
        y = np.arange(1.0, n + 1)
        problem = dg.Problem(sp.csr_array((n, 2)), y, Squared(GAMMA), "l2", 0.05)
        assert solve(name, problem).converged
        step, sampling = METHODS[name]
        run, _, _ = start(problem, step, sampling)
        run.advance(np.arange(n))
        run.advance(np.arange(n))
        pair = run.pair()
        np.testing.assert_array_equal(pair.w, np.zeros(2))
        np.testing.assert_allclose(pair.a, y / GAMMA, atol=1e-12)
