"""Sums of products in twice the precision of float64, for proofs.

A sum u_j = Σ_i c_i a_i x_ij that should be small but has large terms, as for features of size 1e12,
loses all its digits in float64. Here each product and each addition hands on its rounding error
(Dekker 1971; Ogita, Rump, Oishi 2005). Costs some twenty operations for each entry, in one pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import careful, kernel
from dualgap.compile.rules import entry, place, span
from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats

_SPLIT = 134217729.0  # 2²⁷ + 1: halves the digits of a float64


def average(problem: Any, a: Floats) -> tuple[Floats, Floats]:
    """u = (1/(λS)) Σ s a x for a scalar loss, S = Σ s, and a bound on its error.

    By the weights s as they were given, since shares c = s/S are rounded.
    """
    high, low = np.zeros((2, problem.coef_size))
    weights, lost = a, np.zeros(problem.n)
    whole, part = float(problem.n), 0.0
    if problem.s is not None:
        # A power of two changes nothing but keeps products in the range of float64.
        s = np.ldexp(problem.s, -int(np.frexp(problem.s.max())[1]))
        weights = np.empty(problem.n)
        whole, part = total_of(s, lost)
        multiply(s, a, weights, lost)
    passes = scatter if problem.by_rows else gather
    passes(problem._stored, weights, lost, high[: problem.p], low[: problem.p])
    if problem.has_intercept:
        total, rest = total_of(weights, lost)
        high[-1], low[-1] = problem.constant * total, problem.constant * rest
    divisor = problem.lam * (whole + part)
    u = (high + low) / divisor
    size = np.sqrt(problem.column_squares * np.sum(weights * weights)) / divisor
    terms = (4.0 + problem.column_counts) * EPS
    return u, np.asarray(8.0 * EPS * np.abs(u) + terms * terms * size)


@careful
def plus(x: float, y: float) -> float:
    """x + y, in sums that keep their order: a loop that also writes to arrays is compiled twice,
    and which of both runs depends on where in memory these lie."""
    return x + y


@careful
def _sum(x: float, y: float) -> tuple[float, float]:
    """x + y, and its rounding error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


@careful
def added(total: float, rest: float, x: float) -> tuple[float, float]:
    """total + rest + x, as a sum of two numbers; infinities stay in the first."""
    total, error = _sum(total, x)
    return total, rest + (error if error == error else 0.0)


@careful
def _product(x: float, y: float) -> tuple[float, float]:
    """x·y, and its rounding error."""
    whole = x * y
    cut = _SPLIT * x
    x_high = cut - (cut - x)
    cut = _SPLIT * y
    y_high = cut - (cut - y)
    x_low, y_low = x - x_high, y - y_high
    error = x_low * y_low - (((whole - x_high * y_high) - x_low * y_high) - x_high * y_low)
    return whole, error


@kernel
def multiply(c: Any, a: Any, weights: Any, lost: Any) -> None:
    """weights + lost = c a."""
    for i in range(len(a)):
        weights[i], lost[i] = _product(c[i], a[i])


@kernel
def scatter(matrix: Any, weights: Any, lost: Any, high: Any, low: Any) -> None:
    """high + low = Σ_i (weights + lost)_i A_i."""
    for i in range(len(weights)):
        weight = weights[i]
        if weight == 0.0:
            continue
        start, stop = span(matrix, i)
        for t in range(start, stop):
            x = np.float64(entry(matrix, i, t))
            k = place(matrix, i, t)
            term, rest = _product(weight, x)
            high[k], error = _sum(high[k], term)
            low[k] += error + rest + lost[i] * x


@kernel
def gather(matrix: Any, weights: Any, lost: Any, high: Any, low: Any) -> None:
    """high_j + low_j = Σ_k A_jk (weights + lost)_k."""
    for j in range(len(high)):
        total = 0.0
        remainder = 0.0
        start, stop = span(matrix, j)
        for t in range(start, stop):
            x = np.float64(entry(matrix, j, t))
            k = place(matrix, j, t)
            term, rest = _product(weights[k], x)
            total, error = _sum(total, term)
            remainder += error + rest + lost[k] * x
        high[j] = total
        low[j] = remainder


@kernel
def total_of(weights: Any, lost: Any) -> tuple[float, float]:
    """Σ (weights + lost), as a sum of two numbers."""
    total = 0.0
    remainder = 0.0
    for i in range(len(weights)):
        total, error = _sum(total, weights[i])
        remainder += error + lost[i]
    return total, remainder
