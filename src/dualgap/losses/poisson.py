"""Poisson loss with a log link."""

from __future__ import annotations

import math
from math import inf
from typing import NamedTuple

import numpy as np

from dualgap.compile.elementary import exp, log
from dualgap.compile.scalar import wright_omega


class Poisson(NamedTuple):
    """φ(z; y) = e^z − yz for counts y ≥ 0. Smooth on bounded sets only, so γ = 0."""

    targets = "count"
    gamma = 0.0
    lipschitz = inf
    contains_yz = True
    differentiable = True
    quadratic = False
    likelihood = "exact"

    def mean(self, z):
        return np.exp(z)

    def value(self, z, y):
        return exp(min(z, 709.0)) - y * z if z < 709.0 else inf

    def slope(self, z, y):
        return exp(min(z, 709.0)) - y

    def curvature(self, z, y):
        return exp(min(z, 709.0))

    def conj(self, a, y):
        rate = y - a
        return rate * (log(rate) - 1.0) if rate >= 0.0 else inf

    def project(self, a, y):
        return min(a, y)

    def dual_step(self, a, z, q, y):
        # The rate s = y − b solves log s + q·s = z + q(y − a); t = q·s turns it into t + log t = x.
        if q <= 0.0:
            return y - exp(min(z, 709.0))
        return y - wright_omega(z + q * (y - a) + math.log(q)) / q
