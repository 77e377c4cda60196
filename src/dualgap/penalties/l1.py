"""L1 penalty."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.powers import soft_steps
from dualgap.compile.scalar import soft
from dualgap.penalties.structure import ElasticForm, declares


@declares(uniform=True, elastic_form=ElasticForm(l1=1.0, l2=0.0))
class L1(NamedTuple):
    """g(w) = ‖w‖₁."""

    def value(self, w, j):
        return abs(w)

    def conj(self, u, j):
        return 0.0 if abs(u) <= 1.0 else inf

    def conj_slope(self, u, near, j):
        if abs(u) > 1.0:
            return inf if u > 0.0 else -inf
        if u == 1.0:
            return max(near, 0.0)
        return min(near, 0.0) if u == -1.0 else 0.0

    def prox(self, u, t, j):
        return soft(u, t)

    def glide(self, x, scale, shift, t, k, j, decay):
        return soft_steps(x, scale, shift, t, 0.0, k, decay)

    def domain(self, j):
        return -1.0, 1.0

    def strength(self, j):
        return 0.0
