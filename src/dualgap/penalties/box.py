"""Any penalty, with the coefficients kept in an interval."""

from __future__ import annotations

import math
from math import inf
from typing import Any, NamedTuple

from dualgap._rules import conj_slope, domain, glide, prox, strength, value
from dualgap._scalar import clip
from dualgap._validate import LARGEST, number
from dualgap.penalties._check import check_penalty
from dualgap.penalties.l2 import L2


class Box(NamedTuple):
    """g(w) = base(w) for low ≤ w ≤ high, infinite elsewhere."""

    low: float = -1.0
    high: float = 1.0
    base: Any = L2()

    def checked(self, d: int) -> Box:
        low = number(self.low, "low", -inf, LARGEST)
        high = number(self.high, "high", max(low, -LARGEST))
        return Box(low, high, check_penalty(self.base, d))

    def value(self, w, j):
        return value(self.base, w, j) if self.low <= w <= self.high else inf

    def conj(self, u, j):
        w = clip(conj_slope(self.base, u, 0.0, j), self.low, self.high)
        return inf if math.isinf(w) else u * w - value(self.base, w, j)

    def conj_slope(self, u, near, j):
        return clip(conj_slope(self.base, u, near, j), self.low, self.high)

    def prox(self, u, t, j):
        return clip(prox(self.base, u, t, j), self.low, self.high)

    def glide(self, x, scale, shift, t, k, j, decay):
        # Each step moves in the same direction, so a bound that was reached is never left.
        return clip(glide(self.base, x, scale, shift, t, k, j, decay), self.low, self.high)

    def domain(self, j):
        # A bound on one side makes every u of that sign admissible.
        low, high = domain(self.base, j)
        return (
            low if self.low == -inf else -inf,
            high if self.high == inf else inf,
        )

    def strength(self, j):
        return strength(self.base, j)
