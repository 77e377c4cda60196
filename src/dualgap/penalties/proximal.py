"""Any penalty plus a quadratic around a centre, as one step of a proximal-point method has it."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from dualgap.compile.rules import conj, conj_slope, domain, glide, prox, strength, value


class Proximal(NamedTuple):
    """g(w) = base(w) + Σ_j (ρ_j/2)(w_j − centre_j)²; a feature with ρ_j = 0 has the base alone."""

    base: Any
    rho: Any
    centre: Any

    def value(self, w, j):
        away = w - self.centre[j]
        return value(self.base, w, j) + 0.5 * self.rho[j] * away * away

    def conj(self, u, j):
        rho = self.rho[j]
        if rho == 0.0:
            return conj(self.base, u, j)
        w = prox(self.base, self.centre[j] + u / rho, 1.0 / rho, j)
        away = w - self.centre[j]
        return u * w - value(self.base, w, j) - 0.5 * rho * away * away

    def conj_slope(self, u, near, j):
        rho = self.rho[j]
        if rho == 0.0:
            return conj_slope(self.base, u, near, j)
        return prox(self.base, self.centre[j] + u / rho, 1.0 / rho, j)

    def prox(self, u, t, j):
        pull = t * self.rho[j]
        shrink = 1.0 / (1.0 + pull)
        return prox(self.base, (u + pull * self.centre[j]) * shrink, t * shrink, j)

    def glide(self, x, scale, shift, t, k, j, decay):
        pull = t * self.rho[j]
        shrink = 1.0 / (1.0 + pull)
        shift = (shift + pull * self.centre[j]) * shrink
        return glide(self.base, x, scale * shrink, shift, t * shrink, k, j, decay)

    def domain(self, j):
        low, high = domain(self.base, j)
        return (low, high) if self.rho[j] == 0.0 else (-inf, inf)

    def strength(self, j):
        return strength(self.base, j) + self.rho[j]
