"""ε-insensitive loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.scalar import clip, soft
from dualgap.linalg.validate import LARGEST, number


class EpsilonInsensitive(NamedTuple):
    """φ(z; y) = max(0, |y − z| − ε): support vector regression. Not smooth."""

    epsilon: float = 0.1

    targets = "real"
    of_difference = True
    gamma = 0.0
    lipschitz = 1.0
    differentiable = False
    quadratic = False

    def checked(self) -> EpsilonInsensitive:
        return EpsilonInsensitive(number(self.epsilon, "epsilon", 0.0, LARGEST))

    def value(self, z, y):
        return max(0.0, abs(y - z) - self.epsilon)

    def slope(self, z, y):
        r = y - z
        return -1.0 if r > self.epsilon else (1.0 if r < -self.epsilon else 0.0)

    def curvature(self, z, y):
        return 0.0

    def conj(self, a, y):
        return self.epsilon * abs(a) - a * y if abs(a) <= 1.0 else inf

    def project(self, a, y):
        return clip(a, -1.0, 1.0)

    def dual_step(self, a, z, q, y):
        r = y - z
        if q > 0.0:
            return clip(soft(a + r / q, self.epsilon / q), -1.0, 1.0)
        if abs(r) > self.epsilon:
            return 1.0 if r > 0.0 else -1.0
        return clip(a, -1.0 if r == -self.epsilon else 0.0, 1.0 if r == self.epsilon else 0.0)

    def face(self, a, y):
        if a == 0.0:
            return 0.0, 0.0, 0.0, -y
        low, high = (0.0, 1.0) if a > 0.0 else (-1.0, 0.0)
        return low, high, 0.0, (self.epsilon if a > 0.0 else -self.epsilon) - y
