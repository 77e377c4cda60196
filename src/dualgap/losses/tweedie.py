"""Tweedie loss with a log link, for sums that are often 0, such as claims or rainfall."""

from __future__ import annotations

import math
from math import inf
from typing import NamedTuple

import numpy as np

from dualgap.compile.elementary import exp, log
from dualgap.compile.kernels import careful
from dualgap.compile.rules import curvature, slope
from dualgap.compile.scalar import wright_omega
from dualgap.linalg.validate import number

_LARGEST = 709.0  # its exponential is a float
_ROUNDS = 3  # of Halley's method, whose errors are about 0.03, 1e-6 and 1e-16


class Tweedie(NamedTuple):
    """φ(z; y) = y e^{−(p−1)z}/(p − 1) + e^{(2−p)z}/(2 − p) for numbers y ≥ 0 and 1 < p < 2.

    That is half the deviance, up to a constant, of a variance that grows as μ^p with the mean
    μ = e^z. Smooth on bounded sets only, so γ = 0.
    """

    power: float = 1.5

    targets = "count"
    gamma = 0.0
    lipschitz = inf
    contains_yz = False
    differentiable = True
    quadratic = False
    likelihood = "up to scale"

    def checked(self) -> Tweedie:
        power = number(self.power, "power", 1.0, 2.0, open_low=True)
        if power == 2.0:
            raise ValueError("power must be < 2, not 2: use the loss Gamma")
        return Tweedie(power)

    def mean(self, z):
        return np.exp(z)

    def value(self, z, y):
        falling, rising = (1.0 - self.power) * z, (2.0 - self.power) * z
        found = y * exp(min(falling, _LARGEST)) / (self.power - 1.0)
        found += exp(min(rising, _LARGEST)) / (2.0 - self.power)
        largest = max(rising, falling if y > 0.0 else 0.0)
        return found if largest <= _LARGEST else inf

    def slope(self, z, y):
        fall = y * exp(min((1.0 - self.power) * z, _LARGEST))
        return exp(min((2.0 - self.power) * z, _LARGEST)) - fall

    def curvature(self, z, y):
        fall = y * exp(min((1.0 - self.power) * z, _LARGEST))
        rise = exp(min((2.0 - self.power) * z, _LARGEST))
        return (2.0 - self.power) * rise + (self.power - 1.0) * fall

    def conj(self, a, y):
        # The conjugate of a sum is the least sum of conjugates: of the two terms of φ at slopes −t
        # and v = t − a. Any t gives an upper bound, and one next to the best t differs from it by a
        # square. The smaller of t and v comes from the root, the other one from the difference.
        rate, left = self.power - 1.0, 2.0 - self.power
        z = _where_slope_is(-a, y, rate, left)
        fall = exp(min(-rate * z, _LARGEST))
        rise = exp(min(left * z, _LARGEST))
        t = a + rise if a > 0.0 else y * fall
        v = rise if a > 0.0 else t - a
        log_of_t = log(t / y if y > 0.0 else 1.0) if a > 0.0 else log(fall)
        found = t * (log_of_t - 1.0) / rate + v * (log(v) - 1.0) / left
        return found if y > 0.0 or a <= 0.0 else inf

    def target_size(self, y):
        return 0.0

    def value_size(self, z, y):
        """Exponentials of multiples of z, which are rounded."""
        fall = y * exp(min((1.0 - self.power) * z, _LARGEST))
        return abs(z) * (fall + exp(min((2.0 - self.power) * z, _LARGEST)))

    def conj_size(self, a, y):
        """The terms of ``conj`` by their sizes, at most.

        The smaller of t and v falls on the way from the start to the root, which is at most log 2
        over the smaller exponent away; the larger one is its sum with |a|.
        """
        rate, left = self.power - 1.0, 2.0 - self.power
        start = _start(-a, y, rate, left)
        z = abs(start) + 0.7 / (rate if a > 0.0 else left)
        fall, rise = exp(min(-rate * start, _LARGEST)), exp(min(left * start, _LARGEST))
        t = a + rise if a > 0.0 else y * fall
        v = rise if a > 0.0 else t - a
        return t * (z + 2.0 / rate) + v * (z + 2.0 / left)

    def project(self, a, y):
        return min(a, 0.0) if y == 0.0 else a

    def dual_step(self, a, z, q, y):
        # b = −φ'(s) where s + q φ'(s) = z − q a.
        left = 2.0 - self.power
        if q <= 0.0:
            return -slope(self, z, y)
        r = z - q * a
        if y == 0.0:  # t = q·left·e^{left·s} turns it into t + log t = x
            return -wright_omega(left * r + math.log(q * left)) / (q * left)
        root = math.log(y)  # of φ'; the solution lies between it and r
        low, high = min(r, root), max(r, root)
        s = max(min(z, high), low)
        for _ in range(200):
            off = s + q * slope(self, s, y) - r
            if off > 0.0:
                high = s
            else:
                low = s
            after = s - off / (1.0 + q * curvature(self, s, y))
            if not low <= after <= high:
                after = 0.5 * (low + high)
            if abs(after - s) <= 1e-16 * (1.0 + abs(s)):
                break
            s = after
        # Whichever rounds less.
        return (s - r) / q if q * curvature(self, s, y) > 1.0 else -slope(self, s, y)


@careful
def _where_slope_is(slope: float, y: float, rate: float, left: float) -> float:
    """About the z with φ'(z) = e^{left·z} − y e^{−rate·z} = ``slope``.

    A positive slope has  y e^{−z} + slope·e^{−left·z} = 1,  a convex falling function; a negative
    one  e^z/y + (−slope/y) e^{rate·z} = 1,  a convex rising one. Halley's method starts where the
    larger term is 1. No branches: loops over samples take several at once.
    """
    up = slope > 0.0
    log_y, log_slope = log(y), log(abs(slope))
    of_mean, of_slope = (-1.0 if up else 1.0), (-left if up else rate)
    shift = -log_slope if up else log_y - log_slope
    z = _start(slope, y, rate, left)
    for _ in range(_ROUNDS):
        one = exp(min(of_mean * (z - log_y), 0.0))
        two = exp(min(of_slope * z - shift, 0.0))
        off, first = one + two - 1.0, of_mean * one + of_slope * two
        second = one + of_slope * of_slope * two
        z -= 2.0 * off * first / (2.0 * first * first - off * second)
    return z


@careful
def _start(slope: float, y: float, rate: float, left: float) -> float:
    """Where the larger term is 1."""
    log_y, log_slope = log(y), log(abs(slope))
    above, below = max(log_y, log_slope / left), min(log_y, (log_y - log_slope) / rate)
    return above if slope > 0.0 else below
