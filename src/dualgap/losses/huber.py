"""Huber loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.scalar import clip
from dualgap.linalg.validate import positive


class Huber(NamedTuple):
    """φ(z; y) = r²/2 for |r| ≤ δ, else δ|r| − δ²/2, with r = y − z."""

    delta: float = 1.0

    targets = "real"
    of_difference = True
    gamma = 1.0
    differentiable = True
    quadratic = False

    @property
    def lipschitz(self) -> float:
        return self.delta

    def checked(self) -> Huber:
        return Huber(positive(self.delta, "delta"))

    def value(self, z, y):
        r = abs(y - z)
        return 0.5 * r * r if r <= self.delta else self.delta * (r - 0.5 * self.delta)

    def slope(self, z, y):
        return clip(z - y, -self.delta, self.delta)

    def curvature(self, z, y):
        return 1.0 if abs(y - z) < self.delta else 0.0

    def conj(self, a, y):
        return a * (0.5 * a - y) if abs(a) <= self.delta else inf

    def project(self, a, y):
        return clip(a, -self.delta, self.delta)

    def dual_step(self, a, z, q, y):
        return clip(a + (y - z - a) / (1.0 + q), -self.delta, self.delta)

    def face(self, a, y):
        return -self.delta, self.delta, 1.0, -y
