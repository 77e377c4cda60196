"""Gram matrices Σ_i weights_i x_i x_iᵀ, for methods that solve systems with few features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap._validate import Floats
from dualgap.linalg import storage

_ENTRIES = 4_000_000  # of the rows that are scaled at a time


def gram(X: Any, weights: Floats, constant: float = 0.0) -> Floats:
    """In float64; rows of weight 0 cost nothing, and weights ≥ 0 half as much as others.

    A ``constant`` other than 0 is the last entry of each x_i.
    """
    p = X.shape[1]
    total = np.zeros((p + 1, p + 1))
    for part, share in _parts(X, weights):
        total[:p, :p] += _product(part, share)
        total[p, :p] += constant * (part.T @ share)
    total[:p, p] = total[p, :p]
    total[p, p] = constant**2 * np.sum(weights)
    return total if constant else total[:p, :p]


def _parts(X: Any, weights: Floats) -> Any:
    """Rows of X whose weight is not 0, some at a time, with these weights."""
    if storage.is_sparse(X) and X.format == "csc":  # selecting its rows costs more than it saves
        yield X.astype(np.float64, copy=False), weights
        return
    used = np.flatnonzero(weights)
    block = max(1, _ENTRIES // X.shape[1])
    for first in range(0, len(used), block):
        rows = used[first : first + block]
        yield X[rows].astype(np.float64, copy=False), weights[rows]


def _product(X: Any, weights: Floats) -> Any:
    if (weights < 0.0).any():
        product = X.T @ _scaled(X, weights)
    else:
        scaled = _scaled(X, np.sqrt(weights))
        product = scaled.T @ scaled
    return product.toarray() if storage.is_sparse(product) else product


def _scaled(X: Any, factors: Floats) -> Any:
    return sp.diags_array(factors) @ X if storage.is_sparse(X) else X * factors[:, None]
