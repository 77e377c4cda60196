"""Hinge loss."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.scalar import clip


class Hinge(NamedTuple):
    """φ(z; y) = max(0, 1 − yz): the support vector machine. Not smooth."""

    targets = "binary"
    gamma = 0.0
    lipschitz = 1.0
    differentiable = False
    quadratic = False

    def value(self, z, y):
        return max(0.0, 1.0 - y * z)

    def slope(self, z, y):
        return -y if y * z < 1.0 else 0.0

    def curvature(self, z, y):
        return 0.0

    def conj(self, a, y):
        b = y * a
        return -b if 0.0 <= b <= 1.0 else inf

    def project(self, a, y):
        return y * clip(y * a, 0.0, 1.0)

    def dual_step(self, a, z, q, y):
        slack = 1.0 - y * z
        if slack == 0.0:  # also keeps 0/0 away when q = 0
            return y * clip(y * a, 0.0, 1.0)
        return y * clip(y * a + slack / q, 0.0, 1.0) if q > 0.0 else (y if slack > 0.0 else 0.0)

    def face(self, a, y):
        return min(0.0, y), max(0.0, y), 0.0, -y
