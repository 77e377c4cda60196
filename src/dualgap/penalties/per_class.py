"""Any penalty, on a coefficient for each of K classes: those of feature j are jK to jK + K − 1."""

from __future__ import annotations

from typing import Any, NamedTuple

from dualgap.compile.rules import conj, conj_slope, domain, prox, strength, value


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
