"""Any penalty, with bounds on the coefficients."""

from __future__ import annotations

import math
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.rules import conj_slope, domain, glide, prox, strength, value
from dualgap.compile.scalar import at, clip
from dualgap.linalg.validate import LARGEST, Floats, number, real_array
from dualgap.penalties import arrays, structure
from dualgap.penalties.l2 import L2


class Box(NamedTuple):
    """g(w) = base(w) for low ≤ w ≤ high, infinite elsewhere.

    Each bound is a number, or an array with one for each feature.
    """

    low: Any = -1.0
    high: Any = 1.0
    base: Any = L2()

    def checked(self, d: int) -> Box:
        base = structure.check_base(self.base, d)
        if np.ndim(self.low) or np.ndim(self.high):
            lows, highs = _bounds(self.low, self.high, d)
            return Box(lows, highs, base)
        low = number(self.low, "low", -inf, LARGEST)
        high = number(self.high, "high", max(low, -LARGEST))
        return Box(low, high, base)

    @property
    def bounds(self) -> tuple[Any, Any]:
        low, high = structure.bounds(self.base)
        return np.maximum(low, self.low), np.minimum(high, self.high)

    @property
    def elastic_form(self) -> structure.ElasticForm | None:
        base = structure.elastic_form(self.base)
        low, high = self.bounds
        return None if base is None else base._replace(low=low, high=high)

    def on_features(self, features: Any) -> Box | None:
        base = structure.on_features(self.base, features)
        low, high = (
            bound if np.ndim(bound) == 0 else bound[features] for bound in (self.low, self.high)
        )
        return None if base is None else Box(low, high, base)

    def with_constant(self, d: int, weight: float) -> Box:
        low, high = arrays.appended(self.low, d, -inf), arrays.appended(self.high, d, inf)
        return Box(low, high, structure.with_constant(self.base, d, weight))

    def per_class(self, width: int) -> Box:
        low, high = arrays.repeated(self.low, width), arrays.repeated(self.high, width)
        return Box(low, high, structure.per_class(self.base, width))

    def without_strength(self, d: int) -> Box:
        return self._replace(base=structure.without_strength(self.base, d))

    def value(self, w, j):
        return value(self.base, w, j) if at(self.low, j) <= w <= at(self.high, j) else inf

    def conj(self, u, j):
        w = clip(conj_slope(self.base, u, 0.0, j), at(self.low, j), at(self.high, j))
        return inf if math.isinf(w) else u * w - value(self.base, w, j)

    def conj_slope(self, u, near, j):
        return clip(conj_slope(self.base, u, near, j), at(self.low, j), at(self.high, j))

    def prox(self, u, t, j):
        return clip(prox(self.base, u, t, j), at(self.low, j), at(self.high, j))

    def glide(self, x, scale, shift, t, k, j, decay):
        # Each step moves in the same direction, so a bound that was reached is never left.
        x = glide(self.base, x, scale, shift, t, k, j, decay)
        return clip(x, at(self.low, j), at(self.high, j))

    def domain(self, j):
        # A bound on one side makes every u of that sign admissible.
        low, high = domain(self.base, j)
        return (
            low if at(self.low, j) == -inf else -inf,
            high if at(self.high, j) == inf else inf,
        )

    def strength(self, j):
        return strength(self.base, j)


def _bounds(low: Any, high: Any, d: int) -> list[Floats]:
    """Both as arrays of d numbers, checked."""
    bounds = []
    for bound, name in ((low, "low"), (high, "high")):
        array = real_array(bound, name).astype(np.float64)
        if array.shape not in ((), (d,)):
            raise ValueError(f"{name} must be a number or have one for each of the {d} features")
        bounds.append(np.array(np.broadcast_to(array, d)))
        bounds[-1].flags.writeable = False
    low, high = bounds
    if not ((low <= high) & (low <= LARGEST) & (high >= -LARGEST)).all():
        raise ValueError("low must be <= high for each feature, with finite numbers between")
    return bounds
