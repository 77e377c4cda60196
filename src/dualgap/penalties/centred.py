"""L2 penalty around a centre that was computed from the data."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from dualgap.compile.scalar import EPS


class Centred(NamedTuple):
    """g(w) = ½‖w − centre‖², where each entry of the true centre is within ``error`` of this one.

    Proofs hold for the true centre: what its rounding can change counts as a rounding error.
    """

    centre: Any
    error: Any

    def value(self, w, j):
        away = w - self.centre[j]
        return 0.5 * away * away

    def conj(self, u, j):
        return u * self.centre[j] + 0.5 * u * u

    def conj_slope(self, u, near, j):
        return self.centre[j] + u

    def prox(self, u, t, j):
        return (u + t * self.centre[j]) / (1.0 + t)

    def domain(self, j):
        return -inf, inf

    def strength(self, j):
        return 1.0

    def value_size(self, w, j):
        error = self.error[j]
        return (abs(w - self.centre[j]) + error) * (error / EPS)

    def conj_size(self, u, j):
        return abs(u) * (abs(self.centre[j]) + abs(u) + self.error[j] / EPS)
