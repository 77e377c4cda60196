"""Products with a small dense matrix, for kernels that call them many times.

``X`` has the samples as rows; with ``constant`` > 0 there is one more feature of this value.
"""

from __future__ import annotations

from typing import Any

from dualgap.compile.kernels import inner


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
def summed(X: Any, constant: float, weights: Any, out: Any) -> None:
    """out = Xᵀ weights."""
    n, p = X.shape
    for j in range(p):
        out[j] = 0.0
    total = 0.0
    for i in range(n):
        weight = weights[i]
        total += weight
        if weight != 0.0:
            for j in range(p):
                out[j] += weight * X[i, j]
    if constant > 0.0:
        out[p] = constant * total
