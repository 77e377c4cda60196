"""Elastic-net penalty."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.powers import soft_steps
from dualgap.compile.rules import conj_slope
from dualgap.compile.scalar import soft
from dualgap.linalg.validate import number
from dualgap.penalties.l1 import L1
from dualgap.penalties.structure import ElasticForm, declares


@declares(uniform=True)
class ElasticNet(NamedTuple):
    """g(w) = ρ‖w‖₁ + ½(1 − ρ)‖w‖², ρ = ``l1_ratio``: L2 at ρ = 0, L1 at ρ = 1."""

    l1_ratio: float = 0.5

    @property
    def elastic_form(self) -> ElasticForm:
        return ElasticForm(self.l1_ratio, 1.0 - self.l1_ratio)

    def checked(self, d: int) -> ElasticNet:
        return ElasticNet(number(self.l1_ratio, "l1_ratio", 0.0, 1.0))

    def value(self, w, j):
        return self.l1_ratio * abs(w) + 0.5 * (1.0 - self.l1_ratio) * w * w

    def conj(self, u, j):
        excess = soft(u, self.l1_ratio)
        if excess == 0.0:
            return 0.0
        return excess * excess / (2.0 * (1.0 - self.l1_ratio)) if self.l1_ratio < 1.0 else inf

    def conj_slope(self, u, near, j):
        if self.l1_ratio < 1.0:
            return soft(u, self.l1_ratio) / (1.0 - self.l1_ratio)
        return conj_slope(L1(), u, near, j)

    def prox(self, u, t, j):
        return soft(u, t * self.l1_ratio) / (1.0 + t * (1.0 - self.l1_ratio))

    def glide(self, x, scale, shift, t, k, j, decay):
        return soft_steps(x, scale, shift, t * self.l1_ratio, t * (1.0 - self.l1_ratio), k, decay)

    def domain(self, j):
        edge = inf if self.l1_ratio < 1.0 else 1.0
        return -edge, edge

    def strength(self, j):
        return 1.0 - self.l1_ratio
