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
        # With b = σ(s) the optimality condition is s + q·σ(s) = q·b₀ − yz: increasing in s, with
        # its root in [r − q, r]. Solving for s keeps b accurate when it is close to 0 or to 1.
        b = y * a
        r = q * b - y * z
        low, high = r - q, r
        s = math.log(b / (1.0 - b)) if 0.0 < b < 1.0 else r - q * b
        s = clip(s, low, high)
        for _ in range(60):
            p = sigmoid(s)
            excess = s + q * p - r
            if excess > 0.0:
                high = s
            else:
                low = s
            move = excess / (1.0 + q * p * (1.0 - p))
            new = s - move
            if not low <= new <= high:
                new = 0.5 * (low + high)
            if abs(new - s) <= 1e-15 * (1.0 + abs(s)):
                s = new
                break
            s = new
        return y * sigmoid(s)
