"""Logistic loss."""

from __future__ import annotations

import math
from math import inf
from typing import NamedTuple

from dualgap._scalar import clip, sigmoid, softplus, xlogx


class Logistic(NamedTuple):
    """φ(z; y) = log(1 + exp(−yz))."""

    targets = "binary"
    gamma = 4.0
    lipschitz = 1.0
    differentiable = True
    quadratic = False

    def value(self, z, y):
        return softplus(-y * z)

    def slope(self, z, y):
        e = math.exp(-abs(z))  # as in ``curvature``, so that a kernel that wants both computes one
        return -y * (e if y * z >= 0.0 else 1.0) / (1.0 + e)

    def curvature(self, z, y):
        e = math.exp(-abs(z))
        return e / ((1.0 + e) * (1.0 + e))

    def conj(self, a, y):
        b = y * a
        if b == 1.0:
            return 0.0
        # log1p: for a small b the second term must not lose what 1 − b rounds away.
        return xlogx(b) + (1.0 - b) * math.log1p(-b) if 0.0 <= b < 1.0 else inf

    def project(self, a, y):
        return y * clip(y * a, 0.0, 1.0)

    def dual_step(self, a, z, q, y):
        if q == 0.0:
            return y * sigmoid(-y * z)
        # With b = σ(s) the optimality condition is f(s) = s + q·σ(s) − r = 0, r = q·b₀ − yz, which
        # keeps b accurate when it is close to 0 or to 1. f is convex and increasing for s < 0,
        # concave for s > 0: on the root's side of 0, Newton's method cannot fail.
        b = y * a
        r = q * b - y * z
        below = 0.5 * q > r
        edge = min(r, 0.0) if below else max(r - q, 0.0)  # the root lies beyond
        s, p = edge, b
        if 0.0 < b < 1.0:
            s = math.log(b / (1.0 - b))
        for trial in range(100):
            inside = min(s, edge) if below else max(s, edge)
            if trial > 0 or inside != s or not 0.0 < b < 1.0:  # else p is known
                s, p = inside, sigmoid(inside)
            move = (s + q * p - r) / (1.0 + q * p * (1.0 - p))
            if abs(move) <= max(1e-4, 1e-15 * abs(s)):
                return y * (p - p * (1.0 - p) * move)  # off by the square of the move
            s -= move
        return y * sigmoid(s)
