"""A matrix in parts, each with about as many entries, for threads.

Sums along a coordinate are the same in any part, so that for these the number of parts is free.
Sums across coordinates are added up part by part: their number is a matter of the data alone.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from dualgap.compile import thread_pool
from dualgap.linalg.bordered import Bordered, Extended
from dualgap.linalg.dense import Dense
from dualgap.linalg.sparse import Sparse
from dualgap.linalg.validate import Floats

_WORTH = 400_000  # entries below which threads cost more than they save ...
_FASTER = 4  # ... and so many times as many where they are read one after the other
_ACROSS = 4  # parts of a sum across coordinates, at most
_DENSE = 3  # products for each number of an array, below which adding up takes too long
_SHORT = 1 << 18  # numbers of which there may always be two arrays
_LINES = 16  # numbers on two cache lines, which processors fetch as one


def along(matrix: Any) -> list[slice]:
    """Ranges of coordinates, for sums along each."""
    threads = thread_pool.count() if _work(matrix) >= _WORTH else 1
    return _cut(matrix, 1 if threads == 1 else 2 * threads)


def across(matrix: Any, size: int | None = None, work: float | None = None) -> list[slice]:
    """Ranges of coordinates, for sums with an array of their own for each range.

    ``size`` is that of an array, by default one number for each place, and ``work`` how many
    products are added up, by default one for each entry. All these arrays together are no larger
    than the sides of the matrix, or they are small.
    """
    rows, places = matrix.shape
    size = places if size is None else size
    work = _work(matrix) if work is None else work
    if work < _WORTH:
        return [slice(0, rows)]
    room = max(1 + rows // size, 2 if size <= _SHORT else 1)
    count = min(_ACROSS, room, int(work / (_DENSE * size)))
    return _cut(matrix, max(1, count - count % 2))  # threads mostly come in pairs


def arrays(count: int, *shape: int) -> list[Floats]:
    """Arrays of zeros, one for each range, on cache lines of their own: two threads that write to
    the same line wait for each other at each number."""
    size = math.prod(shape)
    return [row[:size].reshape(shape) for row in np.zeros((count, size + _LINES))]


def part(matrix: Any, lines: slice) -> Any:
    """Some of the coordinates, without a copy."""
    if (lines.start, lines.stop) == (0, matrix.shape[0]):
        return matrix
    if isinstance(matrix, Sparse):
        return matrix._replace(indptr=matrix.indptr[lines.start : lines.stop + 1])
    if isinstance(matrix, Dense):
        return Dense(matrix.data[lines])
    return matrix._replace(base=part(matrix.base, lines))


def entries(matrix: Any) -> int:
    if isinstance(matrix, Sparse):
        return int(matrix.indptr[-1])
    if isinstance(matrix, Dense):
        return int(matrix.data.size)
    return entries(matrix.base)


def _work(matrix: Any) -> int:
    """The entries, or as many of a sparse matrix as take as long."""
    base = matrix.base if isinstance(matrix, (Bordered, Extended)) else matrix
    return entries(matrix) // (_FASTER if isinstance(base, Dense) else 1)


def _cut(matrix: Any, parts: int) -> list[slice]:
    rows = matrix.shape[0]
    if parts == 1 or isinstance(matrix, Extended):  # whose last coordinate has no base
        return [slice(0, rows)]
    base = matrix.base if isinstance(matrix, Bordered) else matrix
    total = int(base.indptr[-1]) if isinstance(base, Sparse) else rows
    inner: Any = [total * turn // parts for turn in range(1, parts)]
    if isinstance(base, Sparse):
        inner = np.searchsorted(base.indptr, np.array(inner, base.indptr.dtype)).clip(0, rows)
    cuts = [0, *(int(cut) for cut in inner), rows]
    return [slice(first, last) for first, last in pairwise(cuts) if first < last]
