"""The penalty of ordinal regression: any penalty on coefficients, and a barrier on gaps."""

from __future__ import annotations

import math
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.rules import conj, conj_slope, domain, prox, strength, value
from dualgap.linalg.validate import Floats
from dualgap.penalties.arrays import appended
from dualgap.penalties.structure import Shape, declares, shape_of, with_constant

_WIDEST = 800.0  # the barrier of a gap beyond it is 0 in float64


@declares(barrier=True)
class Thresholds(NamedTuple):
    """g_j(w) = −rate_j log(1 − e^{−w}) for w > 0, a gap between two thresholds; where rate_j = 0
    that of the base. Its conjugate, for u = −rate τ, is rate (τ log τ − (1 + τ) log(1 + τ))."""

    base: Any
    rates: Any

    def with_constant(self, d: int, weight: float) -> Thresholds:
        return Thresholds(with_constant(self.base, d, weight), appended(self.rates, d, 0.0))

    def value(self, w, j):
        rate = self.rates[j]
        if rate == 0.0:
            return value(self.base, w, j)
        if w <= 0.0:
            return inf
        return -rate * (math.log(-math.expm1(-w)) if w < 0.7 else math.log1p(-math.exp(-w)))

    def conj(self, u, j):
        rate = self.rates[j]
        if rate == 0.0:
            return conj(self.base, u, j)
        if u > 0.0:
            return inf
        tau = -u / rate
        share = tau * math.log1p(1.0 / tau) if tau > 1e-300 else 0.0
        return -rate * (math.log1p(tau) + share)

    def conj_slope(self, u, near, j):
        rate = self.rates[j]
        if rate == 0.0:
            return conj_slope(self.base, u, near, j)
        if u > 0.0:
            return inf
        tau = -u / rate
        return min(math.log1p(1.0 / tau), _WIDEST) if tau > 1e-300 else _WIDEST

    def prox(self, u, t, j):
        rate = self.rates[j]
        if rate == 0.0:
            return prox(self.base, u, t, j)
        # The root of w − u = κ/(e^w − 1). The start is below it, where 1/w − ½ replaces the
        # quotient; the difference of both sides is concave, so that Newton's steps stay below.
        kappa = t * rate
        middle = u - 0.5 * kappa
        size = math.sqrt(middle * middle + 4.0 * kappa)
        w = 0.5 * (middle + size) if middle > 0.0 else 2.0 * kappa / (size - middle)
        w = max(w, u, 1e-300)
        for _ in range(1000):
            odds = 1.0 / math.expm1(w) if w < 700.0 else 0.0
            move = (w - u - kappa * odds) / (1.0 + kappa * odds * (1.0 + odds))
            w = max(w - move, 0.5 * w)
            if abs(move) <= 1e-15 * w:
                break
        return w

    def domain(self, j):
        return domain(self.base, j) if self.rates[j] == 0.0 else (-inf, 0.0)

    def strength(self, j):
        return strength(self.base, j) if self.rates[j] == 0.0 else 0.0


def base_shape(penalty: Any, d: int) -> Shape | None:
    """The base as numbers; None if it has no such form or is not smooth."""
    shape = shape_of(penalty.base, d) if isinstance(penalty, Thresholds) else None
    smooth = shape is not None and not (shape.l1 > 0.0).any()
    return shape if smooth else None


def gap_slopes(rates: Floats, gaps: Floats) -> tuple[Floats, Floats]:
    """g' and g'' of gaps."""
    with np.errstate(over="ignore"):
        odds = 1.0 / np.expm1(gaps)
    return -rates * odds, rates * odds * (1.0 + odds)
