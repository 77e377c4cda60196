"""Negative binomial loss with a log link, for counts that vary more than Poisson's."""

from __future__ import annotations

import math
from math import inf
from typing import NamedTuple

import numpy as np

from dualgap.compile.elementary import exp, log, log1p
from dualgap.compile.rules import slope
from dualgap.compile.scalar import clip, sigmoid
from dualgap.linalg.validate import positive


class NegativeBinomial(NamedTuple):
    """φ(z; y) = y log(1 + θe^{−z}) + θ log(1 + e^z/θ) for counts y ≥ 0: −log L up to a constant.

    The variance is μ + μ²/θ at the mean μ = e^z; statsmodels calls 1/θ alpha. φ is a logistic loss
    at z − log θ, of y samples with one label and θ with the other. φ'' is at most (y + θ)/4, which
    no γ bounds for every y: γ = 0.
    """

    theta: float = 1.0

    targets = "count"
    gamma = 0.0
    lipschitz = inf
    contains_yz = False
    differentiable = True
    quadratic = False
    likelihood = "exact"

    def checked(self) -> NegativeBinomial:
        return NegativeBinomial(positive(self.theta, "theta"))

    def mean(self, z):
        return np.exp(z)

    def value(self, z, y):
        s = z - math.log(self.theta)
        below = log1p(exp(-abs(s)))
        return y * (max(-s, 0.0) + below) + self.theta * (max(s, 0.0) + below)

    def slope(self, z, y):
        s = z - math.log(self.theta)
        e = exp(-abs(s))
        share = (1.0 if s >= 0.0 else e) / (1.0 + e)
        return self.theta * share - y * ((e if s >= 0.0 else 1.0) / (1.0 + e))

    def curvature(self, z, y):
        e = exp(-abs(z - math.log(self.theta)))
        return (y + self.theta) * (e / ((1.0 + e) * (1.0 + e)))

    def conj(self, a, y):
        # No branches: loops over samples take several at once.
        own, other = y - a, self.theta + a
        few, many = min(own, other), max(own, other)
        ratio = few / (y + self.theta)
        found = few * log(ratio) + many * log1p(-ratio) - a * math.log(self.theta)
        return found if few >= 0.0 else inf

    def target_size(self, y):
        return 0.0

    def value_size(self, z, y):
        """z − log θ rounds log θ."""
        return abs(slope(self, z, y) * math.log(self.theta))

    def conj_size(self, a, y):
        return 2.0 * (min(y - a, self.theta + a) + abs(a * math.log(self.theta)))

    def project(self, a, y):
        return clip(a, -self.theta, y)

    def dual_step(self, a, z, q, y):
        start = z - math.log(self.theta)
        if q <= 0.0:
            return clip(y * sigmoid(-start) - self.theta * sigmoid(start), -self.theta, y)
        # With b = y − (y + θ) sigmoid(s): s + Q sigmoid(s) = r with Q = q(y + θ). Where the root is
        # positive, −s takes the place of s. For s < 0 the left side is convex and increasing, so
        # that Newton's method from 0 cannot fail.
        Q = q * (y + self.theta)
        above = start + q * (0.5 * (y - self.theta) - a) > 0.0
        r = q * (self.theta + a) - start if above else start + q * (y - a)
        s, p = 0.0, 0.5
        for _ in range(200):
            move = (s + Q * p - r) / (1.0 + Q * p * (1.0 - p))
            s -= move
            p = sigmoid(s)
            if abs(move) <= 1e-15 * (1.0 + abs(s)):
                break
        b = y * p - self.theta * sigmoid(-s) if above else y * sigmoid(-s) - self.theta * p
        return clip(b, -self.theta, y)
