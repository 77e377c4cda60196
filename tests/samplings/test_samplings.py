"""The samplings of the papers, by their formulas, and the structures they draw from."""

from itertools import product

import numpy as np
import pytest
from plain_clocks import plain_draws
from scipy.stats import chisquare

import dualgap as dg
from dualgap import samplings
from dualgap.proof.certificate import evaluate
from dualgap.samplings import clocks
from dualgap.samplings.alias import draw_alias
from dualgap.samplings.clocks import draw_decaying
from dualgap.steps.base import Start
from dualgap.steps.coordinate.coordinate import Coordinate


@pytest.fixture
def dual_run():
    """A ridge problem after one epoch, seen through its samples."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)) * rng.exponential(size=(30, 1)), rng.standard_normal(30)
    problem = dg.Problem(X, y, dg.losses.Squared(0.5), "l2", 0.2)
    run = Coordinate("dual").start(problem, Start())
    run.advance(rng.permutation(30))
    return problem, run


def scores_of(problem, run):
    pair = run.pair()
    return pair, run.scores(pair, evaluate(problem, pair))


def assert_proportional(found, expected):
    np.testing.assert_allclose(
        found / found.sum(), expected / expected.sum(), rtol=1e-9, atol=1e-12
    )


def test_dual_view_scores_are_those_of_the_papers(dual_run):
    problem, run = dual_run
    pair, scores = scores_of(problem, run)
    n, lam, gamma = problem.n, problem.lam, problem.loss.gamma
    v = (problem.X**2).sum(axis=1)
    kappa = np.abs(pair.a + (problem.X @ pair.w - problem.y) / gamma)
    gap = (problem.X @ pair.w - problem.y) ** 2 / (2 * gamma) + gamma * pair.a**2 / 2
    gap += pair.a * (problem.X @ pair.w - problem.y)
    np.testing.assert_allclose(scores.residue, kappa, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores.gap, gap / n, rtol=1e-9)
    assert_proportional(samplings.Importance("smooth").weights(scores), v + n * lam * gamma)
    assert_proportional(samplings.Residue().weights(scores), kappa * np.sqrt(v + n * lam * gamma))
    assert_proportional(samplings.Adaptive().weights(scores), kappa * np.sqrt(v))
    assert_proportional(samplings.AdaGap().weights(scores), gap)
    support = scores.residue > 0  # without the coordinate that was updated last
    assert 28 <= support.sum() <= 29
    mixed = 0.25 * support / support.sum() + 0.75 * kappa * np.sqrt(v) / (kappa @ np.sqrt(v))
    assert_proportional(samplings.AdaUniform(0.25).weights(scores), mixed)


def test_lipschitz_importance_of_the_hinge():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((20, 3)), np.where(rng.random(20) < 0.5, -1.0, 1.0)
    problem = dg.Problem(X, y, "hinge", "l2", 0.1)
    _, scores = scores_of(problem, Coordinate("dual").start(problem, Start()))
    assert_proportional(samplings.Importance().weights(scores), np.linalg.norm(X, axis=1))


def test_lasso_scores_use_the_lipschitzing_trick():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((25, 7)), rng.standard_normal(25)
    lam = 0.05
    problem = dg.Problem(X, y, "squared", "l1", lam)
    run = Coordinate("primal").start(problem, Start())
    run.advance(np.array([0, 3, 5]))
    pair, scores = scores_of(problem, run)
    gradient = X.T @ (X @ pair.w - y) / 25
    objective = ((X @ pair.w - y) ** 2).mean() / 2 + lam * np.abs(pair.w).sum()
    B = objective / lam
    gap = B * np.maximum(np.abs(gradient) - lam, 0) + lam * np.abs(pair.w) + pair.w * gradient
    np.testing.assert_allclose(scores.gap, gap, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(scores.lipschitz, B)
    # The sum of these parts is a bound as well, though a loose one.
    best = dg.solve(problem, tol=1e-10).certificate.primal
    assert scores.gap.sum() >= objective - best
    assert_proportional(
        samplings.Importance("lipschitz").weights(scores), np.linalg.norm(X, axis=0)
    )


def test_support_set_is_uniform_where_the_residue_is_not_zero(dual_run):
    _, scores = scores_of(*dual_run)
    scores = scores._replace(residue=np.where(np.arange(30) % 3 == 0, 0.0, scores.residue))
    weights = samplings.SupportSet().weights(scores)
    assert set(weights) == {0.0, 1.0}
    assert (weights == (scores.residue > 0)).all()


def test_alias_table_draws_the_distribution():
    weights = np.array([0.0, 1.0, 5.0, 0.0, 0.5, 1e-12, 3.5])
    rng = np.random.default_rng(0)
    draws = draw_alias(weights, rng.random(200_000), rng.random(200_000))
    counts = np.bincount(draws, minlength=7)
    assert counts[0] == counts[3] == 0
    used = [1, 2, 4, 6]
    assert chisquare(counts[used], 200_000 * weights[used] / weights[used].sum()).pvalue > 1e-4


@pytest.mark.parametrize("factor", [1.5, 10.0])
@pytest.mark.parametrize("n", [1, 2, 5, 64])
def test_clocks_ring_in_the_order_of_their_times(n, factor):
    """Plain Python, with the same exponential numbers."""
    weights = np.random.default_rng(100 + n).exponential(size=n)
    drawn = draw_decaying(weights, 3 * n, factor, np.random.default_rng(n))
    assert list(drawn) == plain_draws(weights, 3 * n, factor, np.random.default_rng(n))


def laws(weights, factor, length):
    """The probability of each sequence of draws."""
    found = {}
    for drawn in product(range(len(weights)), repeat=length):
        p, left = 1.0, weights.copy()
        for i in drawn:
            p *= left[i] / left.sum()
            left[i] /= factor
        found[drawn] = p
    return found


@pytest.mark.parametrize("short", [False, True], ids=["", "several rounds"])
def test_sequences_of_decaying_draws_have_their_law(short, monkeypatch):
    """Exactly, against all sequences; also where too few clocks have rung."""
    if short:
        horizon = clocks._horizon
        monkeypatch.setattr(clocks, "_horizon", lambda *args: 0.05 * horizon(*args))
    weights, factor, rng = np.array([3.0, 0.0, 1.0, 0.3]), 3.0, np.random.default_rng(0)
    expected = {k: p for k, p in laws(weights, factor, 4).items() if p > 0.0}
    trials = 4_000
    counts = dict.fromkeys(expected, 0)
    for _ in range(trials):
        counts[tuple(int(i) for i in draw_decaying(weights, 4, factor, rng))] += 1
    rare = [k for k, p in expected.items() if p * trials < 5.0]
    often = [k for k in expected if k not in rare]
    found = [*(counts[k] for k in often), sum(counts[k] for k in rare)]
    wanted = [*(expected[k] for k in often), sum(expected[k] for k in rare)]
    assert chisquare(found, trials * np.array(wanted)).pvalue > 1e-3


def test_another_factor_has_another_law():
    """The test above can fail."""
    one, two = (laws(np.array([3.0, 1.0, 0.3]), m, 3) for m in (3.0, 9.0))
    assert max(abs(one[k] - two[k]) for k in one) > 0.05


@pytest.mark.parametrize("factor", [1.01, 50.0, 1e100])
def test_decaying_draws_survive_weights_that_fade_away(factor):
    weights = np.array([0.0, 1.0, 0.0, 1e-300, 5e-324])
    drawn = draw_decaying(weights, 300, factor, np.random.default_rng(0))
    assert len(drawn) == 300
    assert set(drawn) <= {1, 3, 4}
    if factor == 50.0:
        assert {1, 3} <= set(drawn)


def test_visits_spread_as_the_factor_says():
    """After many draws all weights are alike: visits differ by log w / log m."""
    weights = np.array([1.0, 1e-4, 1e-8])
    drawn = draw_decaying(weights, 3_000, 10.0, np.random.default_rng(0))
    visits = np.bincount(drawn)
    np.testing.assert_allclose(visits - visits.mean(), [4.0, 0.0, -4.0], atol=2.0)


def test_large_m_is_a_permutation():
    drawn = draw_decaying(np.ones(50), 50, 1e12, np.random.default_rng(0))
    assert sorted(drawn) == list(range(50))


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: samplings.AdaUniform(1.5), "sigma"),
        (lambda: samplings.ResidueDecay(1.0), "m "),
        (lambda: samplings.GapPerEpoch(m=0.5), "m "),
        (lambda: samplings.ResidueDecay(option="III"), "option"),
        (lambda: samplings.Importance("other"), "kind"),
        (lambda: samplings.Custom(np.ones(3), refresh="daily"), "refresh"),
    ],
)
def test_bad_parameters_are_named(make, names):
    with pytest.raises(ValueError, match=names):
        make()


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (np.ones(5), "shape"),
        (lambda scores: scores.residue * np.nan, "non-finite"),
        (lambda scores: -np.ones_like(scores.residue), "negative"),
    ],
)
def test_bad_custom_weights_are_refused(rule, says):
    problem = dg.Problem(np.eye(3), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=says):
        dg.solve(problem, sampling=samplings.Custom(rule))


@pytest.mark.parametrize(
    ("loss", "penalty", "sampling", "says"),
    [
        ("hinge", "l2", samplings.Importance("smooth"), "loss is not smooth"),
        ("squared", "l2", samplings.Importance("lipschitz"), "has no bound"),
        ("logistic", "l1", samplings.ResidueDecay(option="II"), "not strongly convex"),
    ],
)
def test_importance_refuses_what_it_cannot_bound(loss, penalty, sampling, says):
    problem = dg.Problem(np.eye(4), [1.0, -1.0, 1.0, -1.0], loss, penalty)
    with pytest.raises(ValueError, match=says):
        dg.solve(problem, sampling=sampling)


@pytest.mark.parametrize("size", [1e308, 5e-324])
def test_extreme_weights_stay_inside(size):
    problem = dg.Problem(np.eye(12), np.arange(12.0), lam=0.1)
    for refresh in ("step", "epoch"):
        sampling = samplings.Custom(np.full(12, size), refresh)
        assert dg.solve(problem, sampling=sampling).converged
    one = samplings.Custom(np.eye(12)[3] * size, "step")
    assert (dg.solve(problem, sampling=one).coef != 0).sum() == 1
    drawn = samplings.Adaptive().draw(np.array([1.0, 1e-300, 0.0]), 1, np.random.default_rng(0))
    assert drawn[0] == 0


def test_decay_around_unresolved_coordinates_ends_early():
    weights = np.zeros(10_000)
    weights[[5, 7]] = 1.0, 1e-9
    drawn = samplings.GapPerEpoch(m=10.0).draw(weights, 10_000, np.random.default_rng(0))
    assert set(drawn) == {5, 7}
    assert len(drawn) == 60


@pytest.mark.parametrize("order", [[0, 99], [-1], [], [[0, 1]]])
def test_indices_out_of_bounds_never_reach_a_kernel(order):
    class Wild(samplings.Uniform):
        def draw(self, weights, count, rng):
            return np.array(order, dtype=int)

    with pytest.raises(ValueError, match="Wild must draw a vector of indices below 3"):
        dg.solve(dg.Problem(np.eye(3), [1.0, 2.0, 3.0]), sampling=Wild())
