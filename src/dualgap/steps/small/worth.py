"""What a pair of ``descend`` is worth: objective, contributions to the gap, slopes; for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner
from dualgap.compile.rules import conj, value
from dualgap.compile.scalar import EPS


@inner
def multiplier_move(c: Any, a: Any, b: Any, q: float) -> float:
    """How far b is from the multipliers, in units of the objective."""
    total = 0.0
    for i in range(len(a) if q > 0.0 else 0):
        total += 0.5 * q * c[i] * (b[i] - a[i]) * (b[i] - a[i])
    return total


@inner
def objective(loss: Any, data: Any, shape: Any, z: Any, w: Any) -> float:
    total = 0.0
    for i in range(len(z)):
        total += data.c[i] * value(loss, z[i], data.y[i])
    for j in range(len(w)):
        total += data.lam * (shape[0][j] * abs(w[j]) + 0.5 * shape[1][j] * w[j] * w[j])
    return total


@inner
def gap_of_samples(loss: Any, y: Any, c: Any, z: Any, b: Any) -> float:
    total = 0.0
    for i in range(len(y)):
        total += c[i] * (value(loss, z[i], y[i]) + conj(loss, b[i], y[i]) + b[i] * z[i])
    return total


@inner
def fall(u: Any, w: Any, direction: Any, l1: Any, l2: Any) -> float:
    """How fast the objective decreases at w along a direction, in units of λ."""
    total = 0.0
    for j in range(len(w)):
        ahead = np.sign(w[j]) if w[j] != 0.0 else np.sign(direction[j])
        total += (u[j] - l1[j] * ahead - l2[j] * w[j]) * direction[j]
    return total


@inner
def coefficient_gap(lam: float, u: Any, w: Any, l2: Any) -> float:
    """What w ≠ ∇g*(u) contributes to the gap, for features with an L2 part."""
    total = 0.0
    for j in range(len(w)):
        if l2[j] > 0.0:
            away = u[j] - l2[j] * w[j]
            total += 0.5 * lam * away * away / l2[j]
    return total


@inner
def coefficient_rounding(data: Any, b: Any, l2: Any) -> float:
    """What rounding errors of u contribute to that, roughly; steps cannot reduce it.

    It matters where X is so large that next to nothing is left of the penalty.
    """
    size = 0.0
    for i in range(len(b)):
        size += data.c[i] * b[i] * b[i]
    total = 0.0
    for j in range(len(l2)):
        if l2[j] > 0.0:
            total += 0.5 * EPS * EPS * size * data.mean_squares[j] / (data.lam * l2[j])
    return total
