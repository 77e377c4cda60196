"""Gram matrices of small dense data, and systems with them, for kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dualgap.compile.kernels import inner

_RIDGES = 12  # trials, each with a ridge 100 times larger: up to far above 1


@inner
def weighted_gram(X: Any, constant: float, weights: Any, out: Any) -> None:
    """out = Σ_i weights_i x_i x_iᵀ, four samples at a time."""
    n, p = X.shape
    used = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if weights[i] != 0.0:
            used[count] = i
            count += 1
    for j in range(len(out)):
        for k in range(len(out)):
            out[j, k] = 0.0
    for first in range(0, count - 3, 4):
        i0, i1, i2, i3 = used[first], used[first + 1], used[first + 2], used[first + 3]
        h0, h1, h2, h3 = weights[i0], weights[i1], weights[i2], weights[i3]
        for j in range(p):
            x0, x1, x2, x3 = h0 * X[i0, j], h1 * X[i1, j], h2 * X[i2, j], h3 * X[i3, j]
            for k in range(j + 1):
                out[j, k] += x0 * X[i0, k] + x1 * X[i1, k] + x2 * X[i2, k] + x3 * X[i3, k]
    for at in range(count - count % 4, count):
        i = used[at]
        for j in range(p):
            x = weights[i] * X[i, j]
            for k in range(j + 1):
                out[j, k] += x * X[i, k]
    if constant > 0.0:
        total = 0.0
        for at in range(count):
            i = used[at]
            total += weights[i]
            for k in range(p):
                out[p, k] += weights[i] * X[i, k]
        for k in range(p):
            out[p, k] *= constant
        out[p, p] = constant * constant * total
    for j in range(len(out)):
        for k in range(j):
            out[k, j] = out[j, k]


@inner
def solve_on(
    matrix: Any, diagonal: Any, places: Any, count: int, right: Any, ridge: float, out: Any
) -> bool:
    """out = M⁻¹ right for the rows and columns of ``matrix`` at ``places``, with this diagonal.

    In units in which the diagonal is 1; ``ridge`` is added to it, and increased until the matrix is
    positive definite. Returns whether that was possible and numbers stayed finite.
    """
    unit, block, factor = np.empty(count), np.empty((count, count)), np.empty((count, count))
    for s in range(count):
        size = diagonal[places[s]]
        unit[s] = 1.0 / math.sqrt(size) if size > 0.0 else 1.0
    for s in range(count):
        for t in range(s):
            block[s, t] = matrix[places[s], places[t]] * unit[s] * unit[t]
    positive = False
    for _ in range(_RIDGES):
        for s in range(count):
            for t in range(s + 1):
                total = 1.0 + ridge if s == t else block[s, t]
                for r in range(t):
                    total -= factor[s, r] * factor[t, r]
                if t < s:
                    factor[s, t] = total / factor[t, t]
                else:
                    positive = total > 0.0
                    factor[s, s] = math.sqrt(total) if positive else 1.0
            if not positive:
                break
        if positive:
            break
        ridge *= 100.0
    finite = True
    for s in range(count):
        total = right[s] * unit[s]
        for r in range(s):
            total -= factor[s, r] * out[r]
        out[s] = total / factor[s, s]
    for s in range(count - 1, -1, -1):
        total = out[s]
        for r in range(s + 1, count):
            total -= factor[r, s] * out[r]
        out[s] = total / factor[s, s]
    for s in range(count):
        out[s] *= unit[s]
        finite = finite and abs(out[s]) < math.inf
    return positive and finite
