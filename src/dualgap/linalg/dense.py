"""Passes over dense matrices, which are read in order, a stretch of places at a time.

A stretch is so short that what is added up over it stays in the cache, whatever the shape is. Where
places outnumber coordinates, threads share the places: then sums across coordinates need no arrays
of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.linalg import storage
from dualgap.linalg.matrices import Dense
from dualgap.linalg.parallel import (
    TUNING,
    across,
    along,
    arrays,
    section,
    stretches,
    together,
)
from dualgap.linalg.validate import Floats

# Long sums are added up in blocks: rounding errors grow with the size of a block, not with n.
BLOCK = 1024
# Reading an entry out of order costs as much as reading so many in order, a line of a cache.
_FEW = 16
_LONG_ROW = 256  # places from which it pays to look for zeros
# Places up to which four rows are added at once. In float32, with one row at a time in brackets:
# 1,000,000 × 50: 6.8 ms (13.7), 1,000,000 × 10: 1.8 (11.6), 100,000 × 200: 3.5 (2.3).
_SHORT_ROW = 64
_SHORTEST_ROW = 20  # the same for squares. 20,640 × 8: 58 µs (34), 5,000 × 24: 17 (17)
# Entries of a column that is far from 0 (``shift.py``) differ by that share of their size at most;
# so many rows rule out most columns without a pass over the data.
RELATIVE_SPREAD, INSPECTED_ROWS = 0.125, 64
_ONE_SECTION = TUNING.worthwhile * TUNING.dense_speed  # entries: too few for threads
_RARE = 16  # one weight of so many other than 0: then rows are skipped


def gather(matrix: Dense, vector: Any, out: Any) -> None:
    """out_i = A_i · vector. Of a vector with few entries other than 0 only these are multiplied."""
    if len(vector) >= _LONG_ROW:
        used = np.flatnonzero(vector)
        if _FEW * len(used) <= len(vector):
            matrix = Dense(storage.read_only(np.take(matrix.data, used, axis=1)))
            vector = vector[used]
    together(_gather, [(section(matrix, s).data, vector, out[s]) for s in along(matrix)])


@kernel
def _gather(data: Any, vector: Any, out: Any) -> None:
    for i in range(len(out)):
        row = data[i]
        total = 0.0
        for first in range(0, len(row), BLOCK):
            x, v = row[first : first + BLOCK], vector[first : first + BLOCK]
            block = 0.0
            for t in range(len(x)):
                block += x[t] * v[t]
            total += block
        out[i] = total


def scatter(matrix: Dense, weights: Any, out: Any) -> None:
    """out = Σ_i weights_i A_i."""
    rows, places = matrix.shape
    if places > rows:
        lines = stretches(matrix, BLOCK)
        together(_scatter, [(matrix.data, weights, s.start, out[s]) for s in lines])
        return
    lines = across(matrix)
    sums = [out] if len(lines) == 1 else arrays(len(lines), places)
    parts = [(matrix.data[s], weights[s]) for s in lines]
    if places <= _SHORT_ROW and _RARE * np.count_nonzero(weights) >= rows:
        together(_scatter_short, [(*part, own) for part, own in zip(parts, sums)])
    else:
        together(_scatter, [(*part, 0, own) for part, own in zip(parts, sums)])
    if len(lines) > 1:
        out[:] = sum(sums[1:], start=sums[0])


@kernel
def _scatter(data: Any, weights: Any, begin: int, out: Any) -> None:
    """For the places from ``begin`` on."""
    for first in range(0, len(out), BLOCK):
        own = out[first : first + BLOCK]
        own[:] = 0.0
        for i in range(len(weights)):
            weight = weights[i]
            if weight != 0.0:
                x = data[i, begin + first : begin + first + len(own)]
                for t in range(len(own)):
                    own[t] += weight * x[t]


@kernel
def _scatter_short(data: Any, weights: Any, out: Any) -> None:
    """The same for short rows, four at a time: sums are read and written once for all four.

    Rows of weight 0 are read, too: a question inside of the loop would cost more.
    """
    out[:] = 0.0
    even = len(weights) - len(weights) % 4
    for i in range(0, even, 4):
        w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        x0, x1, x2, x3 = data[i], data[i + 1], data[i + 2], data[i + 3]
        for t in range(len(x0)):
            out[t] += (w0 * x0[t] + w1 * x1[t]) + (w2 * x2[t] + w3 * x3[t])
    for i in range(even, len(weights)):
        x = data[i]
        for t in range(len(x)):
            out[t] += weights[i] * x[t]


def measure(matrix: Dense) -> tuple[Floats, Floats]:
    """The squared norms of coordinates and of places, in one pass."""
    rows, places = matrix.data.shape
    if matrix.data.size < _ONE_SECTION:
        of_rows, of_places = np.zeros(rows), np.zeros(places)
        if places <= _SHORTEST_ROW:
            _measure_short(matrix.data, of_rows, of_places)
        else:
            _measure(matrix.data, 0, of_rows, of_places)
        return of_rows, of_places
    if places > rows:
        of_places, lines = np.zeros(places), stretches(matrix, BLOCK, even=True)
        sums = arrays(len(lines), rows)
        calls = [(matrix.data, s.start, own, of_places[s]) for s, own in zip(lines, sums)]
        together(_measure, calls)
        return sum(sums[1:], start=sums[0]).copy(), of_places
    of_rows, lines = np.zeros(rows), across(matrix)
    sums = arrays(len(lines), places)
    together(_measure, [(matrix.data[s], 0, of_rows[s], own) for s, own in zip(lines, sums)])
    return of_rows, sum(sums[1:], start=sums[0]).copy()


@kernel
def _measure(data: Any, begin: int, of_rows: Any, of_places: Any) -> None:
    """Add what the places from ``begin`` on contribute."""
    for first in range(0, len(of_places), BLOCK):
        own = of_places[first : first + BLOCK]
        for i in range(len(of_rows)):
            row = data[i, begin + first : begin + first + len(own)]
            total = 0.0
            for t in range(len(own)):
                x = np.float64(row[t])
                x *= x
                total += x
                own[t] += x
            of_rows[i] += total


@kernel
def _measure_short(data: Any, of_rows: Any, of_places: Any) -> None:
    """The same for short rows, four at a time."""
    even = len(of_rows) - len(of_rows) % 4
    for i in range(0, even, 4):
        r0, r1, r2, r3 = data[i], data[i + 1], data[i + 2], data[i + 3]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for t in range(len(of_places)):
            x0, x1, x2, x3 = (
                np.float64(r0[t]),
                np.float64(r1[t]),
                np.float64(r2[t]),
                np.float64(r3[t]),
            )
            x0, x1, x2, x3 = x0 * x0, x1 * x1, x2 * x2, x3 * x3
            s0, s1, s2, s3 = s0 + x0, s1 + x1, s2 + x2, s3 + x3
            of_places[t] += (x0 + x1) + (x2 + x3)
        of_rows[i], of_rows[i + 1], of_rows[i + 2], of_rows[i + 3] = s0, s1, s2, s3
    for i in range(even, len(of_rows)):
        for t in range(len(of_places)):
            x = np.float64(data[i, t])
            of_rows[i] += x * x
            of_places[t] += x * x


def far_columns(data: Any) -> Any:
    """Columns whose entries in some rows are far from 0, compared with how much they differ."""
    places = np.empty(data.shape[1], dtype=np.int64)
    stride = -(-data.shape[0] // INSPECTED_ROWS)
    return places[: _far_columns(storage.read_only(data), stride, places)]


@kernel
def _far_columns(rows: Any, stride: int, places: Any) -> int:
    """Fill in the columns, and return how many there are, going by every ``stride``-th row."""
    found = 0
    for j in range(rows.shape[1]):
        low, high = rows[0, j], rows[0, j]
        for i in range(0, rows.shape[0], stride):
            low, high = min(low, rows[i, j]), max(high, rows[i, j])
            least = max(low, -high)  # the smallest size, if no entry has another sign
            if not (least > 0.0 and high - low <= RELATIVE_SPREAD * 1.1 * least):
                break
        else:
            places[found] = j
            found += 1
    return found
