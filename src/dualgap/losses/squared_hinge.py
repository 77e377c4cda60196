"""Squared hinge loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.linalg.validate import positive


class SquaredHinge(NamedTuple):
    """φ(z; y) = max(0, 1 − yz)²/(2γ)."""

    gamma: float = 1.0

    targets = "binary"
    lipschitz = inf
    differentiable = True
    quadratic = False

    def checked(self) -> SquaredHinge:
        return SquaredHinge(positive(self.gamma, "gamma"))

    def value(self, z, y):
        slack = max(0.0, 1.0 - y * z)
        return slack * slack / (2.0 * self.gamma)

    def slope(self, z, y):
        return -y * max(0.0, 1.0 - y * z) / self.gamma

    def curvature(self, z, y):
        return 1.0 / self.gamma if y * z < 1.0 else 0.0

    def conj(self, a, y):
        b = y * a
        return b * (0.5 * self.gamma * b - 1.0) if b >= 0.0 else inf

    def project(self, a, y):
        return y * max(0.0, y * a)

    def dual_step(self, a, z, q, y):
        b = y * a
        return y * max(0.0, b + (1.0 - y * z - self.gamma * b) / (q + self.gamma))

    def face(self, a, y):
        return (0.0 if y > 0.0 else -inf), (inf if y > 0.0 else 0.0), self.gamma, -y
