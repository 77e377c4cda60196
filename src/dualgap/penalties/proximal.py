"""Any penalty, held close to a centre: what one step of the proximal-point method minimises."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from dualgap._rules import glide, prox, strength, value


class Proximal(NamedTuple):
    """g(w) = base(w) + (ρ/2)‖w − centre‖²: strongly convex whatever the base."""

    base: Any
    rho: float
    centre: Any

    def value(self, w, j):
        away = w - self.centre[j]
        return value(self.base, w, j) + 0.5 * self.rho * away * away

    def conj(self, u, j):
        w = prox(self.base, self.centre[j] + u / self.rho, 1.0 / self.rho, j)
        away = w - self.centre[j]
        return u * w - value(self.base, w, j) - 0.5 * self.rho * away * away

    def conj_slope(self, u, near, j):
        return prox(self.base, self.centre[j] + u / self.rho, 1.0 / self.rho, j)

    def prox(self, u, t, j):
        shrink = 1.0 / (1.0 + t * self.rho)
        return prox(self.base, (u + t * self.rho * self.centre[j]) * shrink, t * shrink, j)

    def glide(self, x, scale, shift, t, k, j, decay):
        shrink = 1.0 / (1.0 + t * self.rho)
        shift = (shift + t * self.rho * self.centre[j]) * shrink
        return glide(self.base, x, scale * shrink, shift, t * shrink, k, j, decay)

    def domain(self, j):
        return -inf, inf

    def strength(self, j):
        return strength(self.base, j) + self.rho
