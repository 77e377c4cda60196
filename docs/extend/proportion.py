"""Cross-entropy for proportions: logistic regression whose targets are shares, not labels."""

import math
from math import inf
from typing import NamedTuple

import numpy as np

from dualgap.extend import Numbers, clip, sigmoid, xlogx


class Proportion(NamedTuple):
    """φ(z; y) = log(1 + e^z) − y z for y from 0 to 1."""

    targets = Numbers(0.0, 1.0, "proportions from 0 to 1")  # a domain of its own
    contains_yz = True  # φ contains the product y·z, whose rounding error certificates count
    gamma = 4.0
    lipschitz = 1.0
    differentiable = True
    quadratic = False

    def mean(self, z):
        """The proportion that a decision value stands for, of arrays."""
        return 1.0 / (1.0 + np.exp(-z))

    def value(self, z, y):
        return max(z, 0.0) + math.log1p(math.exp(-abs(z))) - y * z

    def slope(self, z, y):
        return sigmoid(z) - y

    def curvature(self, z, y):
        return sigmoid(z) * sigmoid(-z)

    def conj(self, a, y):
        p = y - a
        return xlogx(p) + xlogx(1.0 - p) if 0.0 <= p <= 1.0 else inf

    def project(self, a, y):
        return clip(a, y - 1.0, y)

    def dual_step(self, a, z, q, y):
        """With b = y − sigmoid(s): s + q sigmoid(s) = z + q (y − a)."""
        r = z + q * (y - a - 0.5)
        s = 0.0  # s + q (sigmoid(s) − ½) is concave for s > 0, convex for s < 0
        for _ in range(100):
            p = sigmoid(s)
            move = (s + q * (p - 0.5) - r) / (1.0 + q * p * (1.0 - p))
            s -= move
            if abs(move) <= 1e-15 * (1.0 + abs(s)):
                break
        return clip(y - sigmoid(s), y - 1.0, y)
