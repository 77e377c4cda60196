"""Quantile (pinball) loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap._scalar import clip
from dualgap._validate import number


class Quantile(NamedTuple):
    """φ(z; y) = max(q·r, (q − 1)·r) with r = y − z: its minimum is the q-quantile. Not smooth."""

    q: float = 0.5

    targets = "real"
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
        return -a * y if self.q - 1.0 <= a <= self.q else inf

    def project(self, a, y):
        return clip(a, self.q - 1.0, self.q)

    def dual_step(self, a, z, q, y):
        r = y - z
        if r == 0.0:  # also keeps 0/0 away when q = 0
            return clip(a, self.q - 1.0, self.q)
        if q > 0.0:
            return clip(a + r / q, self.q - 1.0, self.q)
        return self.q if r > 0.0 else self.q - 1.0

    def face(self, a, y):
        return self.q - 1.0, self.q, 0.0, -y
