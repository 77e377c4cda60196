"""Scalar functions that several rules share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dualgap.compile.kernels import helper

EPS = 2.0**-52


def at(values: Any, j: int) -> float:
    """Entry j of an array, or the number that stands for all of them."""
    return float(values[j] if np.ndim(values) else values)


@helper
def clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


@helper
def soft(x: float, t: float) -> float:
    """S(x, t) = sign(x)·max(|x| − t, 0)."""
    return max(x - t, 0.0) + min(x + t, 0.0)


@helper
def length(x: Any) -> float:
    """‖x‖, also where squares overflow or underflow."""
    largest = 0.0
    for i in range(len(x)):
        largest = max(largest, abs(x[i]))
    scale = 1.0 if 1e-120 < largest < 1e120 or largest == 0.0 else largest
    total = 0.0
    for i in range(len(x)):
        total += (x[i] / scale) * (x[i] / scale)
    return scale * math.sqrt(total)


@helper
def xlogx(x: float) -> float:
    """x log x, continued by 0 at 0."""
    return x * math.log(x) if x > 0.0 else 0.0


@helper
def sigmoid(x: float) -> float:
    """1/(1 + e^−x) without overflow."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@helper
def wright_omega(x: float) -> float:
    """The t > 0 with t + log t = x."""
    # Newton on log t when t is small and on t when it is large: both are convex and stay inside.
    if x <= 0.0:
        s = x
        for _ in range(30):
            e = math.exp(s)
            move = (s + e - x) / (1.0 + e)
            s -= move
            if abs(move) <= 1e-16 * (1.0 + abs(s)):
                break
        return math.exp(s)
    t = max(x - math.log1p(x), 0.5)
    for _ in range(30):
        move = t * (t + math.log(t) - x) / (1.0 + t)
        t = max(t - move, 0.25 * t)
        if abs(move) <= 1e-16 * t:
            break
    return t
