"""Any penalty, with a coefficient for each of K classes: feature j is at jK to jK + K − 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.rules import conj, conj_slope, domain, prox, strength, value
from dualgap.penalties.box import Box
from dualgap.penalties.elastic_net import ElasticNet
from dualgap.penalties.l1 import L1
from dualgap.penalties.l2 import L2
from dualgap.penalties.weighted import Weighted


def per_class(penalty: Any, width: int) -> Any:
    """The penalty of all places; ours without a wrapper, whose division is slow."""
    if width == 1 or type(penalty) in (L1, L2, ElasticNet):
        return penalty
    if type(penalty) is Box:
        low, high = _repeated(penalty.low, width), _repeated(penalty.high, width)
        return Box(low, high, per_class(penalty.base, width))
    if type(penalty) is Weighted:
        return Weighted(per_class(penalty.base, width), _repeated(penalty.weights, width))
    return PerClass(penalty, width)


def _repeated(values: Any, width: int) -> Any:
    if np.ndim(values) == 0:
        return values
    values = np.repeat(values, width)
    values.flags.writeable = False
    return values


class PerClass(NamedTuple):
    """g(w) = Σ_j Σ_k base_j(w_jk)."""

    base: Any
    width: int

    def value(self, w, j):
        return value(self.base, w, j // self.width)

    def conj(self, u, j):
        return conj(self.base, u, j // self.width)

    def conj_slope(self, u, near, j):
        return conj_slope(self.base, u, near, j // self.width)

    def prox(self, u, t, j):
        return prox(self.base, u, t, j // self.width)

    def domain(self, j):
        return domain(self.base, j // self.width)

    def strength(self, j):
        return strength(self.base, j // self.width)
