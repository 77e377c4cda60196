"""Gram matrices Σ_i weights_i x_i x_iᵀ, for methods that solve systems with few features."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, span
from dualgap.linalg import parallel, storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats

_BLOCK_ENTRIES = 2_000_000  # of dense rows that a thread scales at a time: bounds the copy
_SHARED_FROM = 100_000  # dense entries below which starting threads costs more than it saves
_MATRICES_AT_ONCE = 8  # Gram matrices that wait to be added up: bounds their memory


def gram(data: DesignMatrix, weights: Floats) -> Floats:
    """In float64, with the constant feature if there is one; rows of weight 0 cost nothing."""
    p, constant = data.p, data.constant
    total = np.zeros((data.d, data.d))
    if storage.is_sparse(data.X):
        total[:p, :p] = _of_sparse(data.stored_rows, weights, p)
    else:
        total[:p, :p] = _of_dense(data.X, weights)
    if constant:
        sums = data.summed(weights, 1)
        total[p] = total[:, p] = constant * sums
    return total


def _of_sparse(rows: Any, weights: Floats, p: int) -> Floats:
    share = np.count_nonzero(weights != 0.0) / len(weights)
    ranges = parallel.across(rows, p * p, share * 0.5 * parallel.entries(rows) ** 2 / len(weights))
    totals = parallel.arrays(len(ranges), p, p)
    parallel.together(
        _add_sparse,
        [
            (parallel.section(rows, lines), weights[lines], out)
            for lines, out in zip(ranges, totals)
        ],
    )
    lower = sum(totals[1:], start=totals[0])
    total = lower + lower.T
    np.fill_diagonal(total, np.diag(lower))
    return np.asarray(total)


@kernel
def _add_sparse(rows: Any, weights: Any, out: Any) -> None:
    """To the lower triangle: places of a row are sorted."""
    for i in range(len(weights)):
        weight = weights[i]
        if weight != 0.0:
            start, stop = span(rows, i)
            for t in range(start, stop):
                factor = weight * entry(rows, i, t)
                line = out[np.uint64(place(rows, i, t))]
                for s in range(start, t + 1):
                    # An index without a sign need not be asked whether it counts from the end.
                    line[np.uint64(place(rows, i, s))] += factor * entry(rows, i, s)


def _of_dense(X: Any, weights: Floats) -> Floats:
    """In an even number of blocks, which depends on the data alone."""
    used, p = np.flatnonzero(weights), X.shape[1]
    count = 2 * -(-len(used) * p // (2 * _BLOCK_ENTRIES)) if len(used) * p >= _SHARED_FROM else 1
    ends = [len(used) * turn // count for turn in range(count + 1)]
    calls = [(X, weights, used[first:last]) for first, last in pairwise(ends)]
    total = np.zeros((p, p))
    with single_threaded_blas():
        for first in range(0, count, _MATRICES_AT_ONCE):
            total += sum(parallel.together(_product, calls[first : first + _MATRICES_AT_ONCE]))
    return total


def _product(X: Any, weights: Floats, rows: Any) -> Floats:
    part, share = X[rows].astype(np.float64, copy=False), weights[rows]
    if (share < 0.0).any():
        return np.asarray(part.T @ (part * share[:, None]))
    part = part * np.sqrt(share)[:, None]
    return np.asarray(part.T @ part)  # half the work: BLAS sees that both factors are one
