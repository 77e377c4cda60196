"""The rate of Quartz and its speed-ups, against the formulas of the paper."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import samplings
from dualgap.samplings import Distributed, Full, Product, TauNice, Uniform, theory


def make(n=30, d=12, loss=None, lam=0.01, penalty="l2", weights=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.exponential(size=(n, 1)) * (rng.random((n, d)) < 0.4)
    loss = loss or dg.losses.Squared(0.7)
    return dg.Problem(sp.csr_array(X), rng.standard_normal(n), loss, penalty, lam, weights)


def complexity(problem, tau):
    """T(τ) of (34), by hand."""
    X, n, lam, gamma = problem.X.toarray(), problem.n, problem.lam, problem.loss.gamma
    omega = (X != 0).sum(axis=0)
    v = X**2 @ (1 + (omega - 1) * (tau - 1) / (n - 1))
    return n / tau + v.max() / (lam * gamma * tau)


@pytest.mark.parametrize("tau", [1, 2, 7, 30])
@pytest.mark.parametrize("lam", [1e-4, 0.1, 10.0])
def test_tau_nice_agrees_with_34(tau, lam):
    problem = make(lam=lam)
    serial, sets = complexity(problem, 1), complexity(problem, tau)
    np.testing.assert_allclose(theory.rate(problem, TauNice(tau)), 1 / sets)
    np.testing.assert_allclose(theory.speedup(problem, TauNice(tau)), serial / sets)
    expected = int(np.ceil(sets * np.log(1e6)))
    assert abs(theory.iterations(problem, TauNice(tau), 1.0, 1e-6) - expected) <= 1


def test_serial_rates_are_those_of_corollaries_10_and_11():
    problem = make()
    squares = (problem.X.toarray() ** 2).sum(axis=1)
    lam_gamma = problem.lam * problem.loss.gamma
    uniform, best = 30 + squares.max() / lam_gamma, 30 + squares.mean() / lam_gamma
    np.testing.assert_allclose(1 / theory.rate(problem, Uniform()), uniform)
    np.testing.assert_allclose(1 / theory.rate(problem, samplings.Importance("smooth")), best)
    np.testing.assert_allclose(
        theory.speedup(problem, samplings.Importance("smooth")), uniform / best
    )


def test_distributed_agrees_with_41():
    problem = make()
    X, lam_gamma = problem.X.toarray(), problem.lam * problem.loss.gamma
    omega = (X != 0).sum(axis=0)
    active = (np.abs(X).reshape(5, 6, -1).sum(axis=1) > 0).sum(axis=0)
    tau, c, n = 3, 5, 30
    inner = max(n / c - 1, 1)
    factors = 1 + (tau - 1) * (omega - 1) / inner
    factors = factors + (tau * c / n - (tau - 1) / inner) * (active - 1) / active * omega
    expected = n / (c * tau) + (X**2 @ factors).max() / (lam_gamma * c * tau)
    np.testing.assert_allclose(1 / theory.rate(problem, Distributed(c, tau)), expected)
    np.testing.assert_allclose(
        theory.rate(problem, Distributed(1, 7)), theory.rate(problem, TauNice(7))
    )


def test_product_is_as_good_as_its_groups_are_balanced():
    X = sp.block_diag([np.ones((5, 2))] * 4, format="csr")
    problem = dg.Problem(X, np.zeros(20), lam=1e-3)
    assert theory.speedup(problem, Product(4)) == pytest.approx(4.0)
    assert theory.speedup(problem, Product(3)) == pytest.approx(2.0)
    assert theory.speedup(problem, TauNice(4)) < 3.0


def test_a_weight_is_worth_repetition():
    """A sample twice in X, or once with weight 2: the same objective and the same q."""
    once = make(weights=[2.0] + [1.0] * 29, loss=dg.losses.Squared(0.7))
    q = once.c * (once.X.toarray() ** 2).sum(axis=1) / once.lam
    np.testing.assert_allclose(theory.rate(once, Uniform()), (0.7 / (0.7 + q)).min() / 30)
    ignored = make(weights=[0.0] + [1.0] * 29)
    rest = dg.Problem(ignored.X[1:], np.zeros(29), ignored.loss, lam=ignored.lam)
    np.testing.assert_allclose(
        30 * theory.rate(ignored, Uniform()), 29 * theory.rate(rest, Uniform())
    )


def test_the_strength_of_the_penalty_counts_like_lam():
    strong = make(penalty=dg.penalties.Weighted("l2", np.full(12, 4.0)))
    for sampling in (Uniform(), TauNice(5), Distributed(4, 2), Full()):
        np.testing.assert_allclose(
            theory.rate(strong, sampling), theory.rate(make(lam=0.04), sampling)
        )


def test_no_iteration_is_needed_below_the_target():
    problem = make()
    assert theory.iterations(problem, Uniform(), 1e-9, 1e-6) == 0
    assert theory.iterations(problem, Uniform(), 0.0, 1e-6) == 0
    more = [theory.iterations(problem, Uniform(), 1.0, target) for target in (1e-2, 1e-4, 1e-8)]
    np.testing.assert_allclose(np.array(more) / more[0], [1, 2, 4], rtol=1e-3)


# --- closed formulas ----------------------------------------------------------------------------


def test_speedup_formulas_are_those_of_data_that_fit_them():
    """A circulant pattern: unit rows, four entries in each row and column."""
    n = 24
    X = sum(np.roll(np.eye(n), 6 * k, axis=1) for k in range(4)) / 2.0
    problem = dg.Problem(X, np.zeros(n), dg.losses.Squared(0.5), lam=0.03)
    for tau in (1, 3, 24):
        np.testing.assert_allclose(
            theory.tau_nice_speedup(n, tau, 4, 0.03, 0.5), theory.speedup(problem, TauNice(tau))
        )
    for c, tau in [(1, 5), (4, 1), (4, 6), (2, 3), (24, 1)]:
        found = theory.distributed_speedup(n, c, tau, 4, 0.03, 0.5)
        np.testing.assert_allclose(found, theory.speedup(problem, Distributed(c, tau)))
    odd = theory.distributed_speedup(n - 1, 4, 2, 4, 0.03, 0.5)
    part = dg.Problem(X[:-1], np.zeros(n - 1), dg.losses.Squared(0.5), lam=0.03)
    np.testing.assert_allclose(odd, theory.speedup(part, Distributed(4, 2)))


def test_limits_of_the_speedup():
    n = 10**6
    for tau in (1, 10, 10**4):
        assert theory.tau_nice_speedup(n, tau, 1, 1e-9) == pytest.approx(tau)  # fully sparse
        assert theory.tau_nice_speedup(n, tau, n, 1e6) == pytest.approx(tau, rel=1e-6)
        assert theory.tau_nice_speedup(n, tau, n, 1e-12) == pytest.approx(1.0, rel=0.02)
        assert theory.distributed_speedup(n, 1, tau, 50, 1e-3) == pytest.approx(
            theory.tau_nice_speedup(n, tau, 50, 1e-3)
        )
    assert theory.tau_nice_speedup(1, 1, 1, 0.1) == pytest.approx(1.0)
    assert theory.distributed_speedup(100, 100, 1, 1, 1e-9) == pytest.approx(100.0)


def test_speedups_grow_with_sets_and_fall_with_density():
    n, lam = 10**6, 1e-3
    taus = [1, 10, 100, 1000, 10**4]
    speedups = np.array(
        [[theory.tau_nice_speedup(n, t, w, lam) for t in taus] for w in (1e2, 1e4, 1e6)]
    )
    assert (np.diff(speedups, axis=1) > 0.0).all()
    assert (np.diff(speedups, axis=0)[:, 1:] < 0.0).all()
    # (37): half of a linear speed-up up to τ = 2 + λγn, whatever the data.
    assert theory.tau_nice_speedup(n, 1002, n, lam) >= 1002 / 2


def test_parts_cost_little():
    """(44): what matters is cτ, the number of samples in a set."""
    whole = theory.tau_nice_speedup(10**6, 1000, 1e4, 1e-3)
    for c, tau in [(10, 100), (100, 10), (1000, 1)]:
        assert theory.distributed_speedup(10**6, c, tau, 1e4, 1e-3) == pytest.approx(
            whole, rel=0.02
        )


@pytest.mark.parametrize("omega", [1, 2, 30, 99, 100])
@pytest.mark.parametrize("tau", [1, 3, 50, 100])
def test_lemma_14(tau, omega):
    n = 100
    factor = samplings.eso.tau_nice_factors(omega, n, tau)
    assert factor - 1 <= omega * tau / n + 1e-12
    assert omega * tau / n <= factor + 1e-12


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "sampling", "says"),
    [
        (dg.Problem(np.eye(2), [1, 2], "hinge"), Uniform(), "not smooth"),
        (dg.Problem(np.eye(2), [1, 2], "squared", "l1"), Uniform(), "not strongly convex"),
        (make(), samplings.GapPerEpoch(), "changes them"),
        (make(), samplings.Residue(), "changes them"),
        (make(), samplings.Permutation(), "independent draws"),
        (make(), samplings.ResidueDecay(option="II"), "independent draws"),
        (make(), TauNice(31), "fewer than tau=31"),
        (make(), samplings.Custom(np.arange(30.0)), "never draws sample 0"),
    ],
)
def test_no_rate_is_invented(problem, sampling, says):
    with pytest.raises(ValueError, match=says):
        theory.rate(problem, sampling)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: theory.tau_nice_speedup(5, 6, 1, 0.1), "tau"),
        (lambda: theory.tau_nice_speedup(5, 2, 6, 0.1), "omega"),
        (lambda: theory.tau_nice_speedup(5, 2, 1, 0.0), "lam"),
        (lambda: theory.distributed_speedup(5, 6, 1, 1, 0.1), "c must"),
        (lambda: theory.distributed_speedup(6, 3, 3, 1, 0.1), "tau"),
        (lambda: theory.iterations(make(), Uniform(), 1.0, 0.0), "target"),
    ],
)
def test_bad_numbers_are_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_chances_are_what_a_step_needs():
    _, known = theory.bound_facts(make(), samplings.Importance("smooth"))
    np.testing.assert_allclose(known.p.sum(), 1.0)
    np.testing.assert_allclose(known.p / known.p.max(), known.weights)
    bound, known = theory.bound_facts(dg.Problem(np.eye(6), np.zeros(6)), Product(3))
    assert len(bound.groups) == 3
    np.testing.assert_array_equal(known.p, np.full(6, 0.5))
