"""Whole Hessians of many classes, from pairs of features and pairs of classes.

    Σ_i x_i x_iᵀ ⊗ (diag(h_i) − h_i h_iᵀ/Σh_i)
An entry for features j, m and classes k ≠ l is −Σ_i (x_ij x_im)(h_ik h_il/Σh_i): all of them are
one product of two matrices, one of which has a row for each pair of features and the other for each
pair of classes. As Hessians of losses are 0 along what is the same for all classes, a block on the
diagonal is minus the sum of the others in its row. That is half the arithmetic of rows spread over
all classes, and none of these has to be written. Where features are many, each pair of classes has
a Gram matrix of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from dualgap.linalg import parallel
from dualgap.linalg.validate import Floats

MANY_FEATURES = 64  # from which BLAS is as fast on Gram matrices as on one product of all pairs
_CHUNK_ENTRIES = 1 << 17  # 1 MB, which stays in the cache
_LEAST_ROWS = 64  # of a chunk
_SECTIONS = 4  # of rows, each with sums of its own
_SHARED_FROM = 4_000_000  # multiplications below which starting threads costs more than it saves


def summed_pairs(X: Floats, h: Floats, over_sums: Floats) -> Floats:
    """The matrix above in the order of coefficients: feature, then class; ``over_sums`` is 1/Σh."""
    (n, d), width = X.shape, h.shape[1]
    own = np.arange(width)
    if d == 1:
        blocks = -((h * (over_sums[:, None] * X * X)).T @ h)[:, :, None, None]
        blocks[own, own] = 0.0
    else:
        work = 0.25 * n * (d * width) ** 2
        count = _SECTIONS if work >= _SHARED_FROM and n >= _SECTIONS else 1
        cuts = [n * turn // count for turn in range(count + 1)]
        calls = [(X[i:j], h[i:j], over_sums[i:j]) for i, j in pairwise(cuts)]
        many = d >= MANY_FEATURES
        sums: Any = sum(parallel.together(_grams if many else _products, calls))
        blocks = np.zeros((width, width, d, d))
        blocks[np.tril_indices(width, -1)] = -(sums if many else unfolded(sums, d))
        blocks += blocks.swapaxes(0, 1)
    blocks[own, own] = -blocks.sum(axis=1)
    return np.ascontiguousarray(blocks.transpose(2, 0, 3, 1)).reshape(d * width, d * width)


def _products(X: Floats, h: Floats, over_sums: Floats) -> Floats:
    """Σ (h_ik h_il/Σh_i)(x_ij x_im) for each pair of classes and each pair of features."""
    d, width = X.shape[1], h.shape[1]
    total = np.zeros((width * (width - 1) // 2, d * (d + 1) // 2))
    for features, rows in feature_pairs(X, len(total)):
        one = h[rows].T.copy()
        other = one * over_sums[rows]
        classes = np.empty((len(total), features.shape[1]))
        for k in range(1, width):
            at = k * (k - 1) // 2
            np.multiply(one[:k], other[k], out=classes[at : at + k])
        total += classes @ features.T
    return total


def feature_pairs(X: Floats, others: int = 0) -> Iterator[tuple[Floats, slice]]:
    """A row of products x_j x_m for each pair of features, a chunk of samples at a time; these are
    fewer if the cache has to hold as many ``others``."""
    n, d = X.shape
    pairs = d * (d + 1) // 2
    size = max(_CHUNK_ENTRIES // (pairs + others), _LEAST_ROWS)
    products = np.empty((pairs, min(size, n)))
    for first in range(0, n, size):
        rows = slice(first, min(first + size, n))
        x = X[rows].T.copy()
        found = products[:, : x.shape[1]]
        for j in range(d):
            at = j * (j + 1) // 2
            np.multiply(x[: j + 1], x[j], out=found[at : at + j + 1])
        yield found, rows


def unfolded(sums: Floats, d: int) -> Floats:
    """A symmetric matrix for each row of sums over pairs of features."""
    places = np.empty((d, d), np.int64)
    row, column = np.tril_indices(d)
    places[row, column] = places[column, row] = np.arange(len(row))
    return np.asarray(sums[:, places])


def _grams(X: Floats, h: Floats, over_sums: Floats) -> Floats:
    """Σ h_ik h_il/Σh_i x_i x_iᵀ for each pair of classes."""
    pairs: Any = list(zip(*np.tril_indices(h.shape[1], -1)))
    total = np.zeros((len(pairs), X.shape[1], X.shape[1]))
    rows = max(_CHUNK_ENTRIES // X.shape[1], _LEAST_ROWS)
    for first in range(0, len(X), rows):
        x, one, unit = (part[first : first + rows] for part in (X, h, over_sums))
        for turn, (k, m) in enumerate(pairs):
            part = x * np.sqrt(one[:, k] * one[:, m] * unit)[:, None]
            total[turn] += part.T @ part
    return total
