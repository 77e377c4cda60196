"""Gram matrices Σ_i weights_i x_i x_iᵀ, for methods that solve systems with few features."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap._validate import Floats
from dualgap.linalg import storage

_ENTRIES = 4_000_000  # of the rows that are scaled at a time


def gram(problem: Any, weights: Floats) -> Floats:
    """In float64; rows of weight 0 cost nothing, and weights ≥ 0 half as much as others."""
    X = problem.X
    used = np.flatnonzero(weights)
    total = np.zeros((X.shape[1], X.shape[1]))
    block = max(1, _ENTRIES // X.shape[1])
    for first in range(0, len(used), block):
        rows = used[first : first + block]
        total += _part(X[rows].astype(np.float64), weights[rows])
    return total


def _part(X: Any, weights: Floats) -> Any:
    if (weights < 0.0).any():
        part = X.T @ _scaled(X, weights)
    else:
        scaled = _scaled(X, np.sqrt(weights))
        part = scaled.T @ scaled
    return part.toarray() if storage.is_sparse(part) else part


def _scaled(X: Any, factors: Floats) -> Any:
    if not storage.is_sparse(X):
        return X * factors[:, None]
    return X.multiply(factors[:, None]).tocsr()
