"""Squared loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.linalg.validate import positive


class Squared(NamedTuple):
    """φ(z; y) = (y − z)²/(2γ). With γ = 1 and an L2 penalty: ridge regression."""

    gamma: float = 1.0

    targets = "real"
    of_difference = True
    lipschitz = inf
    differentiable = True
    quadratic = True
    likelihood = "up to scale"

    def checked(self) -> Squared:
        return Squared(positive(self.gamma, "gamma"))

    def value(self, z, y):
        return (y - z) * (y - z) / (2.0 * self.gamma)

    def slope(self, z, y):
        return (z - y) / self.gamma

    def curvature(self, z, y):
        return 1.0 / self.gamma

    def conj(self, a, y):
        return a * (0.5 * self.gamma * a - y)

    def project(self, a, y):
        return a

    def dual_step(self, a, z, q, y):
        return a + (y - z - self.gamma * a) / (self.gamma + q)

    def face(self, a, y):
        return -inf, inf, self.gamma, -y
