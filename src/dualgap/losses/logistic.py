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
        return -y * sigmoid(-y * z)

    def curvature(self, z, y):
        return sigmoid(z) * sigmoid(-z)

    def conj(self, a, y):
        b = y * a
        return xlogx(b) + xlogx(1.0 - b) if 0.0 <= b <= 1.0 else inf

    def project(self, a, y):
        return y * clip(y * a, 0.0, 1.0)

    def dual_step(self, a, z, q, y):
        # With b = σ(s) the optimality condition is f(s) = s + q·σ(s) − r = 0, r = q·b₀ − yz, which
        # keeps b accurate when it is close to 0 or to 1. f is convex and increasing for s < 0,
        # concave for s > 0: on the root's side of 0, Newton's method cannot fail.
        b = y * a
        r = q * b - y * z
        below = 0.5 * q > r
        s = math.log(b / (1.0 - b)) if 0.0 < b < 1.0 else 0.0
        for _ in range(100):
            s = min(s, 0.0) if below else max(s, 0.0)
            p = sigmoid(s)
            move = (s + q * p - r) / (1.0 + q * p * (1.0 - p))
            s -= move
            if abs(move) <= 1e-15 * (1.0 + abs(s)):
                break
        return y * sigmoid(s)
