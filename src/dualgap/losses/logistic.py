"""Logistic loss."""

from __future__ import annotations

import math
from math import inf
from typing import NamedTuple

from dualgap.compile.elementary import exp, log, log1p
from dualgap.compile.scalar import clip, sigmoid


class Logistic(NamedTuple):
    """φ(z; y) = log(1 + exp(−yz))."""

    targets = "binary"
    gamma = 4.0
    lipschitz = 1.0
    differentiable = True
    likelihood = "exact"
    quadratic = False

    def value(self, z, y):
        return max(-y * z, 0.0) + log1p(exp(-abs(z)))

    def slope(self, z, y):
        e = exp(-abs(z))  # as in ``curvature``, so that a kernel that wants both computes one
        return -y * (e if y * z >= 0.0 else 1.0) / (1.0 + e)

    def curvature(self, z, y):
        e = exp(-abs(z))
        return e / ((1.0 + e) * (1.0 + e))

    def conj(self, a, y):
        b = y * a
        # log1p: for a small b the second term must not lose what 1 − b rounds away.
        entropy = b * log(b) + (1.0 - b) * log1p(-b)
        return entropy if 0.0 <= b <= 1.0 else inf

    def project(self, a, y):
        return y * clip(y * a, 0.0, 1.0)

    def dual_step(self, a, z, q, y):
        if q == 0.0:
            return y * sigmoid(-y * z)
        # With b = σ(s) the optimality condition is f(s) = s + q·σ(s) − r = 0, r = q·b₀ − yz, which
        # keeps b accurate when it is close to 0. Where it is closer to 1, 1 − b takes its place, so
        # that the root is negative, where f is convex and increasing and Newton's method cannot
        # fail. Halley's, which takes fewer exponentials, begins once a step is short.
        b, z = y * a, y * z
        above = q * b - z > 0.5 * q
        if above:
            b, z = 1.0 - b, -z
        r = q * b - z
        edge, known = min(r, 0.0), 0.0 < b < 1.0  # the root lies beyond the edge
        s, p = edge, b
        if known:
            s = math.log(b / (1.0 - b))
        elif q > 3.0 and r + math.log(q) > 1.0:
            s = math.log((r + math.log(q)) / q)  # nearly solves s + q·exp(s) = r
        for trial in range(100):
            if trial > 0 or s > edge or not known:
                s = min(s, edge)
                p = sigmoid(s)
            off, bend = s + q * p - r, q * p * (1.0 - p)
            steep = 1.0 + bend
            if abs(off) < steep and trial < 10:
                move = off * steep / (steep * steep - 0.5 * off * bend * (1.0 - 2.0 * p))
            else:
                move = off / steep
            if abs(move) <= max(2e-3, 1e-15 * abs(s)):
                p -= p * (1.0 - p) * move * (1.0 - 0.5 * (1.0 - 2.0 * p) * move)  # up to its cube
                break
            s -= move
        return y * (1.0 - p if above else p)
