"""Products with a small dense matrix, for kernels that call them many times.

``X`` has the samples as rows; with ``constant`` > 0 there is one more feature of this value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner
from dualgap.linalg.dense import BLOCK

# One of so many entries: reading an entry out of order costs as much as reading a line of a cache.
_FEW = 16


@inner
def times(X: Any, constant: float, w: Any, out: Any) -> None:
    """out = X w."""
    n, p = X.shape
    for i in range(n):
        total = 0.0
        for j in range(p):
            total += X[i, j] * w[j]
        out[i] = total
    if constant > 0.0:
        for i in range(n):
            out[i] += constant * w[p]


@inner
def times_in_blocks(X: Any, constant: float, w: Any, out: Any) -> None:
    """The same for long rows, in the blocks that bounds on rounding errors count on. Of a vector
    with few entries other than 0 only these are multiplied."""
    n, p = X.shape
    used, count = np.empty(min(p // _FEW, BLOCK) + 1, np.int64), 0
    for j in range(p):
        if w[j] != 0.0 and count < len(used):
            used[count] = j
            count += 1
    for i in range(n):
        total = 0.0
        if count < len(used):
            for t in range(count):
                total += X[i, used[t]] * w[used[t]]
        else:
            for first in range(0, p, BLOCK):
                # Slices, whose indices do not count from the end, else without vector instructions
                x, v, block = X[i, first : min(first + BLOCK, p)], w[first : first + BLOCK], 0.0
                for t in range(len(x)):
                    block += x[t] * v[t]
                total += block
        out[i] = total + constant * w[p] if constant > 0.0 else total


@inner
def dot(X: Any, i: int, constant: float, w: Any) -> float:
    """x_i·w."""
    total = 0.0
    p = X.shape[1]
    for j in range(p):
        total += X[i, j] * w[j]
    return total + constant * w[p] if constant > 0.0 else total


@inner
def summed(X: Any, constant: float, weights: Any, out: Any) -> None:
    """out = Xᵀ weights."""
    n, p = X.shape
    for j in range(p):
        out[j] = 0.0
    total, even = 0.0, n - n % 4
    for i in range(0, even, 4):
        w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        total += (w0 + w1) + (w2 + w3)
        for j in range(p):
            x0, x1, x2, x3 = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
            out[j] += (w0 * x0 + w1 * x1) + (w2 * x2 + w3 * x3)
    for i in range(even, n):
        total += weights[i]
        for j in range(p):
            out[j] += weights[i] * X[i, j]
    if constant > 0.0:
        out[p] = constant * total
