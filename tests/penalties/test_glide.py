"""Many steps at once: ``glide`` of every penalty is k explicit prox steps, at any k."""

import functools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dualgap as dg
from dualgap.compile import rules
from dualgap.compile.kernels import kernel
from dualgap.compile.powers import compound, decay_of, decayed
from dualgap.penalties import L1, L2, Box, ElasticNet, NonNegative, Weighted
from dualgap.penalties.proximal import Proximal

WEIGHTS = np.array([0.7, 0.0, np.inf])
CENTRE = np.array([0.4, -2.0, 0.0])
PENALTIES = {
    "l2": L2(),
    "l1": L1(),
    "elastic-net": ElasticNet(0.4),
    "box": Box(-0.5, 0.75),
    "nonnegative-l1": NonNegative(L1()),
    "weighted": Weighted(ElasticNet(0.4), WEIGHTS),
    "proximal": Proximal(L1(), np.array([0.3, 0.0, 2.0]), CENTRE),
    "proximal-box-weighted": Proximal(
        Box(-1.0, 1.0, Weighted(L1(), WEIGHTS)), np.full(3, 0.01), CENTRE
    ),
}


@kernel
def compiled(penalty, x, scale, shift, t, k, j, decay):
    return rules.glide(penalty, x, scale, shift, t, k, j, decay)


@kernel
def explicit(penalty, x, scale, shift, t, k, j):
    """k prox steps, the last point and the largest on the way."""
    largest = abs(x)
    for _ in range(k):
        x = rules.prox(penalty, scale * x + shift, t, j)
        largest = max(largest, abs(x))
    return x, largest


sizes = st.floats(-4.0, 1.5).map(lambda power: 10.0**power)
either = st.one_of(st.just(0.0), sizes, sizes.map(lambda size: -size))
scales = st.one_of(st.just(1.0), st.floats(1e-3, 1.0), sizes.map(lambda s: 1.0 / (1.0 + s / 100)))


@functools.cache
def table(loss, most):
    return decay_of(loss, most)


@pytest.mark.parametrize("name", PENALTIES)
@settings(max_examples=250, deadline=None)
@example(1.0, 1.0, -0.01, 0.0, 5000, 1, "other")
@example(1.0, 0.5, 0.0, 0.0, 5000, 0, "own")
@example(3.0, 0.7, 0.0, 0.3, 4000, 0, "own")
@example(-2.0, 1.0, 0.03, 0.01, 700, 0, "short")
@given(
    either,
    scales,
    either,
    st.one_of(st.just(0.0), sizes),
    st.one_of(st.integers(0, 5), st.integers(0, 5000)),
    st.integers(0, 2),
    st.sampled_from(["own", "short", "other"]),
)
def test_glide_is_k_prox_steps(name, x, scale, shift, t, k, j, fits):
    penalty = PENALTIES[name]
    x = penalty.prox(x, 0.0, j)  # a coefficient is always within its constraint
    pull = (1.0 - scale) + t * (0.0 if np.isinf(penalty.strength(j)) else penalty.strength(j))
    loss = 0.01 if fits == "other" else min(pull / (1.0 + pull - (1.0 - scale)), 1.0)
    decay = table(loss, 100 if fits == "short" else 5000)
    found = compiled(penalty, x, scale, shift, t, k, j, decay)
    expected, largest = explicit(penalty, x, scale, shift, t, k, j)
    # Each explicit step rounds, by as much as the largest of its terms.
    room = 4e-16 * (k + 10) * max(largest, abs(shift), abs(x))
    assert abs(found - expected) <= room
    if k == 0:
        assert found == x


@pytest.mark.parametrize("name", ["l1", "elastic-net", "proximal"])
def test_what_rests_at_zero_is_exactly_zero(name):
    """Sparse coefficients are zeros, not rounding errors."""
    penalty, decay = PENALTIES[name], table(0.01, 100)
    for k in (200, 1000, 10**9):
        assert compiled(penalty, 1.0, 1.0, -0.02, 0.05, k, 2, decay) == 0.0
        assert compiled(penalty, -1.0, 1.0, 0.0, 0.05, k, 2, decay) == 0.0


def test_the_fixed_point_is_that_of_the_penalty():
    """k → ∞: w minimises λg(w) − λu·w, so w = ∇g*(u)."""
    for name in ("l2", "elastic-net", "box", "proximal"):
        penalty = PENALTIES[name]
        for t, u in [(1e-3, 0.9), (0.1, -3.0), (5.0, 0.2)]:
            end = compiled(penalty, 0.1, 1.0, t * u, t, 10**9, 0, table(t / (1 + t), 1000))
            assert end == pytest.approx(penalty.conj_slope(u, 0.0, 0), rel=1e-9, abs=1e-12)


# --- powers ---------------------------------------------------------------------------------------


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(st.floats(1e-17, 1.0), st.floats(-16.0, 0.0).map(lambda power: 10.0**power)),
    st.one_of(st.integers(1, 3000), st.integers(1, 10**7)),
    st.sampled_from([0, 100, 1024, 5000, 10**6]),
)
def test_powers_have_no_cancellation(loss, k, most):
    exact = np.expm1(np.longdouble(k) * np.log1p(-np.longdouble(loss))) if loss < 1.0 else -1.0
    fine = decayed(decay_of(loss, most), k)
    assert abs(fine - exact) <= 1e-14 * abs(exact)
    assert -1.0 <= compound(loss, k) < 0.0
    # Squaring doubles the relative error of a power, but its error is at most that of k steps.
    assert abs(compound(loss, k) - exact) <= 1e-14 * abs(exact)


def test_powers_at_the_ends():
    assert compound(0.3, 0) == 0.0
    assert decayed(decay_of(0.3, 5), 0) == 0.0
    for loss in (1.0, 0.999999):
        assert decayed(decay_of(loss, 10**5), 10**5) == -1.0
        assert compound(loss, 10**6) == -1.0
    assert decayed(decay_of(0.0, 10), 5) == 0.0


# --- a user's penalty -----------------------------------------------------------------------------


class Ridge(NamedTuple):
    """L2 without ``glide``."""

    def value(self, w, j):
        return 0.5 * w * w

    def conj(self, u, j):
        return 0.5 * u * u

    def conj_slope(self, u, near, j):
        return u

    def prox(self, u, t, j):
        return u / (1.0 + t)

    def domain(self, j):
        return -np.inf, np.inf

    def strength(self, j):
        return 1.0


def test_a_penalty_without_glide_steps_one_by_one():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    X[1:, 4] = 0.0  # a feature that one sample wakes
    runs = [
        dg.solve(dg.Problem(X, y, "squared", penalty, 0.05), "spdc", tol=1e-8)
        for penalty in (Ridge(), L2())
    ]
    assert all(run.converged for run in runs)
    np.testing.assert_allclose(runs[0].history.gap, runs[1].history.gap, rtol=1e-4)
    np.testing.assert_allclose(runs[0].coef, runs[1].coef, rtol=1e-9)
