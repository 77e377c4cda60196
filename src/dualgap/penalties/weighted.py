"""Any penalty, with a weight for each feature."""

from __future__ import annotations

import math
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.powers import affine_steps
from dualgap.compile.rules import (
    conj,
    conj_size,
    conj_slope,
    domain,
    glide,
    prox,
    strength,
    value,
    value_size,
)
from dualgap.linalg.validate import real_array
from dualgap.penalties import arrays, structure
from dualgap.penalties.l2 import L2


class Weighted(NamedTuple):
    """g(w) = Σ_j ω_j·base(w_j). ω_j = 0 leaves feature j unpenalised, ω_j = ∞ switches it off.

    A constraint goes outside: ``Box(0, 1, Weighted(L1(), weights))``.
    """

    base: Any
    weights: Any

    def checked(self, d: int) -> Weighted:
        base = structure.check_base(self.base, d)
        if hasattr(base, "low") or isinstance(base, Weighted):
            raise ValueError(
                "penalty: put Weighted inside a constraint and use it once, "
                "as in Box(0, 1, Weighted(L1(), weights))"
            )
        weights = real_array(self.weights, "weights").astype(np.float64)
        if weights.shape != (d,):
            raise ValueError(f"weights must have one entry for each of the {d} features")
        if not (weights >= 0.0).all():
            raise ValueError("weights must be >= 0, not negative or NaN")
        weights.flags.writeable = False
        return Weighted(base, weights)

    @property
    def elastic_form(self) -> structure.ElasticForm | None:
        base = structure.elastic_form(self.base)
        return None if base is None else base._replace(weights=self.weights)

    def on_features(self, features: Any) -> Weighted | None:
        base = structure.on_features(self.base, features)
        return None if base is None else Weighted(base, self.weights[features])

    def with_constant(self, d: int, weight: float) -> Weighted:
        if weight:
            arrays.refuse_arrays(self.base)
        return self._replace(weights=arrays.appended(self.weights, d, weight))

    def per_class(self, width: int) -> Weighted:
        base = structure.per_class(self.base, width)
        return Weighted(base, arrays.repeated(self.weights, width))

    def without_strength(self, d: int) -> Weighted:
        weights = np.zeros(d)
        if np.shape(self.weights) == (d,):
            weights[np.isinf(self.weights)] = inf
        return Weighted(L2(), weights)

    def value(self, w, j):
        weight = self.weights[j]
        if weight == 0.0:
            return 0.0  # the base may hold no parameters of this feature
        if math.isinf(weight):
            return 0.0 if w == 0.0 else inf
        return weight * value(self.base, w, j)

    def conj(self, u, j):
        weight = self.weights[j]
        if weight == 0.0:
            return 0.0 if u == 0.0 else inf
        return 0.0 if math.isinf(weight) else weight * conj(self.base, u / weight, j)

    def conj_slope(self, u, near, j):
        weight = self.weights[j]
        if weight == 0.0:
            return near if u == 0.0 else math.copysign(inf, u)
        return 0.0 if math.isinf(weight) else conj_slope(self.base, u / weight, near, j)

    def value_size(self, w, j):
        weight = self.weights[j]
        return weight * value_size(self.base, w, j) if 0.0 < weight < inf else 0.0

    def conj_size(self, u, j):
        weight = self.weights[j]
        return weight * conj_size(self.base, u / weight, j) if 0.0 < weight < inf else 0.0

    def prox(self, u, t, j):
        weight = self.weights[j]
        if weight == 0.0:
            return u
        return 0.0 if math.isinf(weight) else prox(self.base, u, t * weight, j)

    def glide(self, x, scale, shift, t, k, j, decay):
        weight = self.weights[j]
        if math.isinf(weight):
            return 0.0 if k > 0 else x
        if weight == 0.0:
            return affine_steps(x, 1.0 - scale, shift, k, decay)
        return glide(self.base, x, scale, shift, t * weight, k, j, decay)

    def domain(self, j):
        weight = self.weights[j]
        if math.isinf(weight):
            return -inf, inf
        if weight == 0.0:
            return 0.0, 0.0
        low, high = domain(self.base, j)
        return weight * low, weight * high

    def strength(self, j):
        weight = self.weights[j]
        return weight * strength(self.base, j) if 0.0 < weight < inf else weight
