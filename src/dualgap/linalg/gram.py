"""Gram matrices Σ_i weights_i x_i x_iᵀ, for methods that solve systems with few features."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, span
from dualgap.linalg import coded_products, parallel, products, storage
from dualgap.linalg.cells import groups_of
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats

# Entries of a block of dense rows, so that its scaled copy stays in a cache, and its least number
# of rows. 400,000 x 50 numbers: 82 ms, where blocks of 2,000,000 entries took 224.
_BLOCK_ENTRIES = 40_000
_BLOCK_ROWS = 256
_SECTIONS = 4  # of dense rows, each with a matrix of its own
_ROUGH = 1e-10, 1e10  # sizes of X whose products stay within the range of float32
_SHARED_FROM = 10_000_000  # products below which starting threads costs more than it saves


def gram(data: DesignMatrix, weights: Floats, rough: bool = False) -> Floats:
    """In float64, with the constant feature if there is one; rows of weight 0 cost nothing.

    If it may be ``rough``, the products of dense float32 rows have that precision, which takes half
    the time; sums of blocks of rows have twice as much.
    """
    p, constant = data.p, data.constant
    if not storage.is_sparse(data.X):
        if rough and data.X.dtype == np.float32 and _ROUGH[0] < data.size < _ROUGH[1]:
            return _of_dense(data.X, weights, constant, np.float32)
        return _of_dense(data.X, weights, constant)
    if storage.is_coded(data.X):
        return _of_codes(data, weights)
    total = np.zeros((data.d, data.d))
    total[:p, :p] = _of_sparse(data.stored_rows, weights, p)
    if constant:
        sums = data.summed(weights, 1)
        total[p] = total[:, p] = constant * sums
    return total


def _of_codes(data: DesignMatrix, weights: Floats) -> Floats:
    """Numbers meet numbers by BLAS, and levels in tables of cells."""
    p, constant = data.p, data.constant
    rows: Any = data.stored_rows
    q = rows.used
    table = coded_products.tables_of_cells(rows, weights)
    sums = np.empty((p - q, 1 + q))
    products.scatter(rows.levels, table.ravel(), sums.ravel())
    lower = np.zeros((p - q, p - q))
    _add_sparse(rows.levels, np.ascontiguousarray(table[:, 0]), lower)
    groups = groups_of(data.X)
    if len(groups) > 1:
        own = np.empty(rows.codes.shape[1], np.int64)
        for g, group in enumerate(groups):
            own[group] = g
        lower = lower + coded_products.cross_tabulate(rows, weights, own)
    total = np.zeros((data.d, data.d))
    total[q:p, :q], total[:q, q:p] = sums[:, 1:], sums[:, 1:].T
    total[q:p, q:p] = lower + np.tril(lower, -1).T
    numbers = np.r_[:q, p] if constant else np.arange(q)
    if len(numbers):
        total[np.ix_(numbers, numbers)] = _of_dense(data.X.numbers, weights, constant)
    if constant:
        total[p, q:p] = total[q:p, p] = constant * sums[:, 0]
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


def _of_dense(X: Any, weights: Floats, constant: float, precision: Any = np.float64) -> Floats:
    """By sections of the rows, whose number depends on the data alone."""
    n, p = X.shape
    count = _SECTIONS if n * p * p >= _SHARED_FROM and n * _SECTIONS >= p else 1
    ends = [n * turn // count for turn in range(count + 1)]
    calls = [(X, weights, constant, precision, *some) for some in pairwise(ends)]
    with single_threaded_blas():
        return np.asarray(sum(parallel.together(_product, calls)))


def _product(
    X: Any, weights: Floats, constant: float, precision: Any, first: int, last: int
) -> Floats:
    """Σ weights_i x_i x_iᵀ of some rows, block by block, each small enough for a cache.

    BLAS sees that both factors of ``part.T @ part`` are one, which halves its work.
    """
    d = X.shape[1] + (constant != 0.0)
    total = np.zeros((d, d))
    size = max(_BLOCK_ENTRIES // d, _BLOCK_ROWS)
    packed = np.empty((min(size, last - first), d), precision)
    for begin in range(first, last, size):
        end = min(begin + size, last)
        rows, shares = storage.read_only(np.ascontiguousarray(X[begin:end])), weights[begin:end]
        part = packed[: _pack(rows, shares, 1.0, constant, packed)]
        total += part.T @ part
        part = packed[: _pack(rows, shares, -1.0, constant, packed)]
        if len(part):
            total -= part.T @ part
    return total


@kernel
def _pack(rows: Any, weights: Any, sign: float, constant: float, out: Any) -> int:
    """The rows whose weights have this sign, with their constant entry, times the roots of their
    sizes; returns how many they are."""
    count = 0
    for i in range(len(rows)):
        weight = sign * weights[i]
        if weight > 0.0:
            root = math.sqrt(weight)
            row, own = rows[i], out[count]
            for t in range(len(row)):
                own[t] = root * row[t]
            if len(own) > len(row):
                own[len(row)] = root * constant
            count += 1
    return count
