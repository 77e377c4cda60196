"""log cosh of the residual: a smooth cousin of the absolute value, for regression."""

import math
from math import inf
from typing import NamedTuple

from dualgap.extend import clip, xlogx


class LogCosh(NamedTuple):
    """φ(z; y) = log cosh(y − z)."""

    targets = "real"  # or "binary", "count", "classes", or a domain of your own
    gamma = 1.0  # φ' is (1/gamma)-Lipschitz; 0 if φ is not smooth
    lipschitz = 1.0  # |φ'| never exceeds it; math.inf if nothing bounds it
    differentiable = True  # no kinks
    quadratic = False  # φ'' is not constant

    def value(self, z, y):
        r = abs(y - z)
        return r + math.log1p(math.exp(-2.0 * r)) - math.log(2.0)

    def slope(self, z, y):
        return math.tanh(z - y)

    def curvature(self, z, y):
        t = math.tanh(z - y)
        return 1.0 - t * t

    def conj(self, a, y):
        """φ*(−a): infinite outside its domain."""
        return 0.5 * (xlogx(1.0 + a) + xlogx(1.0 - a)) - a * y if abs(a) <= 1.0 else inf

    def project(self, a, y):
        """The point of that domain nearest to a."""
        return clip(a, -1.0, 1.0)

    def dual_step(self, a, z, q, y):
        """argmax −φ*(−b) − z b − (q/2)(b − a)². With b = tanh(s): s + q tanh(s) = y − z + q a."""
        r = y - z + q * a
        s = 0.0  # s + q tanh(s) is concave for s > 0, convex for s < 0: Newton from 0 cannot fail
        for _ in range(100):
            t = math.tanh(s)
            move = (s + q * t - r) / (1.0 + q * (1.0 - t * t))
            s -= move
            if abs(move) <= 1e-15 * (1.0 + abs(s)):
                break
        return math.tanh(s)
