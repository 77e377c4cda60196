"""Squared ε-insensitive loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.scalar import soft
from dualgap.linalg.validate import LARGEST, number, positive


class SquaredEpsilonInsensitive(NamedTuple):
    """φ(z; y) = max(0, |y − z| − ε)²/(2γ)."""

    epsilon: float = 0.1
    gamma: float = 1.0

    targets = "real"
    of_difference = True
    lipschitz = inf
    differentiable = True
    quadratic = False

    def checked(self) -> SquaredEpsilonInsensitive:
        return SquaredEpsilonInsensitive(
            number(self.epsilon, "epsilon", 0.0, LARGEST), positive(self.gamma, "gamma")
        )

    def value(self, z, y):
        r = soft(y - z, self.epsilon)
        return r * r / (2.0 * self.gamma)

    def slope(self, z, y):
        return soft(z - y, self.epsilon) / self.gamma

    def curvature(self, z, y):
        return 1.0 / self.gamma if abs(y - z) >= self.epsilon else 0.0

    def conj(self, a, y):
        return a * (0.5 * self.gamma * a - y) + self.epsilon * abs(a)

    def project(self, a, y):
        return a

    def dual_step(self, a, z, q, y):
        return soft(q * a + y - z, self.epsilon) / (q + self.gamma)

    def face(self, a, y):
        if a == 0.0:
            return 0.0, 0.0, self.gamma, -y
        low, high = (0.0, inf) if a > 0.0 else (-inf, 0.0)
        return low, high, self.gamma, (self.epsilon if a > 0.0 else -self.epsilon) - y
