"""Smoothed hinge loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.scalar import clip
from dualgap.linalg.validate import positive


class SmoothedHinge(NamedTuple):
    """The hinge with its kink rounded over a width γ: 0 for yz ≥ 1, 1 − yz − γ/2 for yz ≤ 1 − γ."""

    gamma: float = 1.0

    targets = "binary"
    lipschitz = 1.0
    differentiable = True
    quadratic = False

    def checked(self) -> SmoothedHinge:
        return SmoothedHinge(positive(self.gamma, "gamma"))

    def value(self, z, y):
        slack = 1.0 - y * z
        if slack <= 0.0:
            return 0.0
        if slack >= self.gamma:
            return slack - 0.5 * self.gamma
        return slack * slack / (2.0 * self.gamma)

    def slope(self, z, y):
        return -y * clip((1.0 - y * z) / self.gamma, 0.0, 1.0)

    def curvature(self, z, y):
        return 1.0 / self.gamma if 0.0 < 1.0 - y * z < self.gamma else 0.0

    def conj(self, a, y):
        b = y * a
        return b * (0.5 * self.gamma * b - 1.0) if 0.0 <= b <= 1.0 else inf

    def project(self, a, y):
        return y * clip(y * a, 0.0, 1.0)

    def dual_step(self, a, z, q, y):
        b = y * a
        return y * clip(b + (1.0 - y * z - self.gamma * b) / (q + self.gamma), 0.0, 1.0)

    def face(self, a, y):
        return min(0.0, y), max(0.0, y), self.gamma, -y
