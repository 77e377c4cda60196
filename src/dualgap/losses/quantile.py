"""Quantile (pinball) loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.kernels import careful
from dualgap.compile.scalar import EPS, clip
from dualgap.linalg.validate import number


@careful
def _lowest(q: float) -> float:
    """The least dual variable: q − 1, or where that is rounded down a float just above it."""
    low = q - 1.0
    return low if q - (low + 1.0) <= 0.0 else low * (1.0 - EPS)


class Quantile(NamedTuple):
    """φ(z; y) = max(q·r, (q − 1)·r) with r = y − z: its minimum is the q-quantile. Not smooth."""

    q: float = 0.5

    targets = "real"
    of_difference = True
    gamma = 0.0
    differentiable = False
    quadratic = False

    @property
    def lipschitz(self) -> float:
        return max(self.q, 1.0 - self.q)

    def checked(self) -> Quantile:
        return Quantile(number(self.q, "q", 0.0, 1.0))

    def value(self, z, y):
        r = y - z
        return max(self.q * r, (self.q - 1.0) * r)

    def slope(self, z, y):
        return -self.q if y > z else 1.0 - self.q

    def curvature(self, z, y):
        return 0.0

    def conj(self, a, y):
        return -a * y if _lowest(self.q) <= a <= self.q else inf

    def project(self, a, y):
        return clip(a, _lowest(self.q), self.q)

    def dual_step(self, a, z, q, y):
        r = y - z
        if r == 0.0:  # also keeps 0/0 away when q = 0
            return clip(a, _lowest(self.q), self.q)
        if q > 0.0:
            return clip(a + r / q, _lowest(self.q), self.q)
        return self.q if r > 0.0 else _lowest(self.q)

    def face(self, a, y):
        return _lowest(self.q), self.q, 0.0, -y
