"""Gamma loss with a log link."""

from __future__ import annotations

import math
from math import inf
from typing import NamedTuple

import numpy as np

from dualgap.compile.elementary import exp, log
from dualgap.compile.scalar import wright_omega


class Gamma(NamedTuple):
    """φ(z; y) = y e^{−z} + z for numbers y > 0: half the Gamma deviance, up to a constant.

    Smooth on bounded sets only, so γ = 0.
    """

    targets = "positive"
    gamma = 0.0
    lipschitz = inf
    differentiable = True
    quadratic = False
    likelihood = "up to scale"

    def mean(self, z):
        return np.exp(z)

    def value(self, z, y):
        return y * exp(min(-z, 709.0)) + z if z > -709.0 else inf

    def slope(self, z, y):
        return 1.0 - y * exp(min(-z, 709.0))

    def curvature(self, z, y):
        return y * exp(min(-z, 709.0))

    def conj(self, a, y):
        t = 1.0 + a
        return t * (log(t / y) - 1.0) if t >= 0.0 else inf

    def target_size(self, y):
        return 0.0

    def value_size(self, z, y):
        return y * exp(min(-z, 709.0))

    def conj_size(self, a, y):
        return 1.0 + a

    def project(self, a, y):
        return max(a, -1.0)

    def dual_step(self, a, z, q, y):
        # With b = t − 1 the optimality condition is log t + q·t = log y − z + q(1 + a).
        if q <= 0.0:
            return y * exp(min(-z, 709.0)) - 1.0
        return wright_omega(math.log(y) - z + q * (1.0 + a) + math.log(q)) / q - 1.0
