"""Quartz: Theorem 9 for all samplings, the lazy average, threads, and practice."""

from itertools import combinations

import batch_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp
from set_data import blocks, equally_likely

import dualgap as dg
from dualgap.losses import SmoothedHinge, Softmax, Squared
from dualgap.penalties import L2, Box, ElasticNet
from dualgap.proof.certificate import evaluate
from dualgap.samplings import (
    Arbitrary,
    Distributed,
    Full,
    Importance,
    Product,
    TauNice,
    Uniform,
    eso,
    theory,
)
from dualgap.steps import Quartz, Setting
from dualgap.steps.base import Start
from dualgap.steps.sets.quartz import LAST, WIDTH, U, W
from dualgap.steps.sets.sampling_facts import sampling_facts

PENALTIES = {"l2": L2(), "elastic-net": ElasticNet(0.3), "box": Box(-0.05, 0.1)}


def hard(kind, n=8, d=4, seed=0):
    """Data on which sets interfere (aligned), or cannot (blocks)."""
    rng = np.random.default_rng(seed)
    if kind == "blocks":
        return blocks([n // 2 - 1, n - n // 2], zeros=1)[0]
    X = np.outer(np.linspace(0.5, 1.0, n), np.ones(d)) + 0.1 * rng.standard_normal((n, d))
    X[0, :2] = 0.0
    return X


def make(kind="aligned", penalty="l2", weighted=False, lam=0.05, n=8, loss=None, seed=0):
    rng = np.random.default_rng(seed)
    X = hard(kind, n)
    weights = np.concatenate([[0.0, 4.0], rng.exponential(size=n - 2)]) if weighted else None
    y = rng.integers(3, size=n) if loss else rng.standard_normal(n)
    y[:3] = np.arange(3)
    X = sp.csr_array(X)
    return dg.Problem(X, y, loss or Squared(0.5), PENALTIES[penalty], lam, weights)


def start(problem, sampling, option, **more):
    bound = sampling.bind(problem)
    assert sampling.refusal(problem, "dual") is None
    run = Quartz(option, **more).start(problem, Start(), Setting(bound))
    return run, bound, sampling_facts(problem, bound)


def put(run, w, a):
    """Back to iteration 0, at another point."""
    run.time = 0
    run.a[:] = a
    run.cells[LAST::WIDTH] = 0.0
    run.cells[W::WIDTH] = w
    run.cells[U::WIDTH] = run.problem.average(run.a)


def own_gap(run):
    proof = evaluate(run.problem, run.pair())
    return proof.primal - proof.dual


def independent_coins(chance):
    """A draw for Arbitrary: each sample with a probability of its own."""
    return lambda rng: np.flatnonzero(rng.random(len(chance)) < chance)


def coins(n, v="estimate"):
    chance = np.linspace(0.1, 0.9, n)
    return Arbitrary(independent_coins(chance), chance, v)


def sure_v(X):
    """E‖Σ h x‖² for independent coins is at most Σ p h²(‖x‖² + Σ_k p_k‖x_k‖²): Cauchy, Schwarz."""
    squares = (X**2).sum(axis=1)
    return squares + (np.linspace(0.1, 0.9, len(X)) * squares).sum()


SAMPLINGS = {
    "uniform": (Uniform(), "aligned"),
    "importance": (Importance("smooth"), "aligned"),
    "tau-nice-1": (TauNice(1), "aligned"),
    "tau-nice-3": (TauNice(3), "aligned"),
    "tau-nice-8": (TauNice(8), "aligned"),
    "product": (Product(2), "blocks"),
    "distributed": (Distributed(2, 2), "aligned"),
    "distributed-uneven": (Distributed(3, 2), "aligned"),
    "full": (Full(), "aligned"),
    "arbitrary": (coins(8, sure_v(hard("aligned"))), "aligned"),
    "arbitrary-estimate": (coins(8), "aligned"),
}
CASES = [(name, option) for name in SAMPLINGS for option in ("I", "II")]


def outcomes(sampling, known, n):
    """All sets that can be drawn, and their probabilities."""
    if isinstance(sampling, Arbitrary):
        sets = [np.array(s, int) for k in range(n + 1) for s in combinations(range(n), k)]
        inside = np.array([np.isin(np.arange(n), s) for s in sets])
        return sets, np.where(inside, sampling.p, 1.0 - sampling.p).prod(axis=1)
    if not sampling.sets:
        return [np.array([i]) for i in range(n)], known.p
    sets = [np.array(s, int) for s in equally_likely(sampling, n)]
    return sets, np.full(len(sets), 1.0 / len(sets))


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(("name", "option"), CASES)
def test_theorem_9_exactly_for_one_iteration(name, option, penalty, weighted):
    """From any point the gap falls by 1 − θ, in expectation over all sets that can be drawn."""
    sampling, kind = SAMPLINGS[name]
    problem = make(kind, penalty, weighted)
    run, bound, known = start(problem, sampling, option)
    theta = theory.rate(problem, sampling)
    sets, chance = outcomes(bound, known, problem.n)
    assert chance.sum() == pytest.approx(1.0)
    rng = np.random.default_rng(1)
    for scale in (0.0, 0.3, 3.0):
        w = np.clip(scale * rng.standard_normal(problem.d), -0.05, 0.1)
        a = scale * rng.standard_normal(problem.n)
        put(run, w, a)
        before = own_gap(run)
        expected = 0.0
        for S, likely in zip(sets, chance):
            put(run, w, a)
            run.advance(S, np.array([0, len(S)]))
            expected += likely * own_gap(run)
        assert expected <= (1.0 - theta) * before * (1.0 + 1e-10)


@pytest.mark.parametrize("option", ["I", "II"])
def test_a_v_that_is_too_small_breaks_theorem_9(option):
    """The test above is no formality: with the v of single samples, Full overshoots."""
    problem = make(lam=0.005)
    v = np.asarray(problem.row_squares)
    gaps = []
    for given in (v, eso.tau_nice(problem.X, 8)):
        sampling = Arbitrary(lambda rng: np.arange(8), np.ones(8), given)
        run, _, _ = start(problem, sampling, option)
        first = own_gap(run)
        run.advance(np.tile(np.arange(8), 5), 8 * np.arange(6))
        gaps.append(own_gap(run) / (first * (1.0 - theory.rate(problem, sampling)) ** 5))
    assert gaps[0] > 1.0 > gaps[1]


def mean_gaps(problem, sampling, option, seeds, times):
    """Mean and standard error of the run's own gap at some iterations, relative to the first."""
    run, bound, known = start(problem, sampling, option)
    w, a = run.cells[W::WIDTH].copy(), run.a.copy()
    first = own_gap(run)
    gaps = np.empty((seeds, len(times)))
    for seed in range(seeds):
        put(run, w, a)
        sets = ref.draw_sets(bound, known, times[-1], np.random.default_rng(seed))
        done = 0
        for k, t in enumerate(times):
            begin, end = sets.offsets[done], sets.offsets[t]
            run.advance(sets.order[begin:end], sets.offsets[done : t + 1] - begin)
            gaps[seed, k] = own_gap(run) / first
            done = t
    return gaps.mean(axis=0), gaps.std(axis=0) / np.sqrt(seeds)


@pytest.mark.parametrize(("name", "option"), CASES)
def test_theorem_9_for_whole_runs(name, option):
    sampling, kind = SAMPLINGS[name]
    penalty = list(PENALTIES)[len(name) % 3]
    problem = make(kind, penalty, weighted=option == "I")
    theta = theory.rate(problem, sampling)
    slow = isinstance(sampling, Arbitrary)  # whose draws are calls of a Python function
    times = np.unique([1, *(int(np.ceil(k / theta)) for k in (0.2, 0.5, 1.5 if slow else 4.0))])
    mean, error = mean_gaps(problem, sampling, option, 10 if slow else 40, times)
    assert (mean - 4.0 * error <= (1.0 - theta) ** times).all()


@pytest.mark.parametrize("option", ["I", "II"])
@pytest.mark.parametrize("sampling", [Importance("smooth"), TauNice(3)], ids=str)
def test_theorem_9_for_blocks(sampling, option):
    problem = make(loss=Softmax(), lam=0.01, weighted=True)
    theta = theory.rate(problem, sampling)
    times = [1, int(0.5 / theta) + 1, int(2.0 / theta) + 2]
    mean, error = mean_gaps(problem, sampling, option, 20, times)
    assert (mean - 4.0 * error <= (1.0 - theta) ** np.array(times)).all()


# --- lazy steps are dense steps -------------------------------------------------------------------

LINKS = {
    "l2": lambda u: u,
    "elastic-net": lambda u: ref.soft(u, 0.3) / 0.7,
    "box": lambda u: np.clip(u, -0.05, 0.1),
}
LAZY = [
    ("l2", sp.csr_array, Importance("smooth"), 1.0),
    ("l2", sp.csr_array, TauNice(3), 100.0),
    ("l2", sp.csr_array, coins(40), 1e9),
    ("elastic-net", sp.csr_array, Distributed(3, 2), 10.0),
    ("box", sp.csr_array, Uniform(), 7.0),
    ("l2", np.asarray, Full(), 3.0),
    ("l2", sp.csc_array, Uniform(), 20.0),
]


@pytest.mark.parametrize(("penalty", "kind", "sampling", "multiplier"), LAZY)
@pytest.mark.parametrize("option", ["I", "II"])
def test_lazy_steps_are_dense_steps(option, penalty, kind, sampling, multiplier):
    X = ref.sparse_rows(40, 12, spread=0.5)
    s = np.random.default_rng(3).exponential(size=40)
    loss, y = ref.SmoothedHinge(ref.labels(X), 0.5), ref.labels(X)
    problem = dg.Problem(kind(X), y, SmoothedHinge(0.5), PENALTIES[penalty], 0.01, s)
    run, bound, known = start(problem, sampling, option, multiplier=multiplier)
    sets = ref.draw_sets(bound, known, 400, np.random.default_rng(0))
    theta = theory.rate(problem, sampling)
    pace = min(multiplier * theta, 1.0)
    w, a = ref.quartz(
        *(X, problem.c, 0.01, ref.members(sets), loss, LINKS[penalty], option),
        *(known.p, known.q, theta, pace, run.cells[W::WIDTH], run.a),
    )
    run.advance(*sets)
    pair = run.pair()
    assert np.abs(w).max() > 1e-4
    np.testing.assert_allclose(pair.w, w, rtol=1e-9, atol=1e-10 * np.abs(w).max())
    np.testing.assert_allclose(pair.a, a, atol=1e-10)


def test_bad_options_are_named():
    for wrong, says in [({"option": "III"}, "option"), ({"multiplier": 0.0}, "multiplier")]:
        with pytest.raises(ValueError, match=says):
            Quartz(**wrong)
