"""Work on large matrices, shared by threads: one pool, and how a matrix is cut into sections.

Results do not depend on the number of threads, bit for bit. Sums along a coordinate are the same in
any section, so their number is free; sums across coordinates are added up section by section, so
their number depends on the data alone. Kernels release Python's lock while they run.

BLAS has threads of its own, which slow each other down on small matrices and whose sums vary:
``single_threaded_blas`` turns them off.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from dualgap.linalg.matrices import Bordered, Codes, Dense, Extended, Sparse
from dualgap.linalg.validate import Floats


class Tuning(NamedTuple):
    """When threads pay; measured by ``make bench-threads`` and ``make bench-roofline``."""

    worthwhile: int = 400_000  # entries of a pass below which starting threads costs more
    dense_speed: int = 4  # dense entries are read so many times as fast as sparse ones
    sections_across: int = 4  # sections of a sum across coordinates: more memory, more threads
    products_per_number: int = 3  # fewer, and adding up the sections' arrays takes too long
    small_array: int = 1 << 18  # numbers of an array of which two always fit into memory
    padding: int = 16  # numbers on two cache lines, which processors fetch as one


TUNING = Tuning()

_limit: ContextVar[int | None] = ContextVar("limit", default=None)

# Limits set by others: by joblib for the processes that it starts, by users for their own.
_LIMITS = ("LOKY_MAX_CPU_COUNT", "OMP_NUM_THREADS")


def cores() -> int:
    """How many threads may work at once by default."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [os.environ.get(name, "") for name in _LIMITS]
    return max(1, min([own, *(int(limit) for limit in limits if limit.isdigit())]))


def count() -> int:
    """The number of threads that a pass may use in this context."""
    return _limit.get() or cores()


@contextmanager
def at_most(threads: int | None) -> Iterator[int]:
    """Limit the threads of the passes inside; None stands for all cores, which are counted."""
    threads = threads or cores()  # asked once, not at each pass
    token = _limit.set(threads)
    try:
        yield threads
    finally:
        _limit.reset(token)


def together(action: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The results of ``action`` for each of ``calls``, in their order.

    The calling thread works as well and does not wait for calls that have not started: if all other
    threads are busy with passes of other callers, it does everything by itself.
    """
    lanes = min(count(), len(calls)) if len(calls) > 1 else 1
    if lanes < 2:
        return [action(*call) for call in calls]
    results: list[Any] = [None] * len(calls)
    turns, left = iter(range(len(calls))), [partial(action, *call) for call in calls]

    def work() -> None:
        for turn in turns:
            results[turn] = left[turn]()

    others = [_pool().submit(work) for _ in range(lanes - 1)]
    try:
        work()
    finally:
        for other in others:
            if not other.cancel():
                other.result()
        left.clear()  # a cancelled call stays in the pool's queue, and would keep all arrays alive
    return results


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="dualgap")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)


# --- BLAS ---------------------------------------------------------------------------------

_lock = threading.Lock()


class _Inside:
    """How many callers are inside of ``single_threaded_blas``, and the limits the first found."""

    count = 0
    found: ClassVar[list[int]] = []


class single_threaded_blas:  # noqa: N801 - reads as the function that it stands for
    """Several threads may be inside at once; the last to leave restores what the first found.

    A class, since the generator of a context manager costs 3 µs, where one inside of another costs
    nothing else.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        with _lock:
            _Inside.count += 1
            if _Inside.count == 1:
                _Inside.found = [library.get_num_threads() for library in _blas_libraries()]
                if max(_Inside.found, default=1) > 1:
                    _limit_blas([1] * len(_Inside.found))

    def __exit__(self, *error: object) -> None:
        with _lock:
            _Inside.count -= 1
            if _Inside.count == 0 and max(_Inside.found, default=1) > 1:
                _limit_blas(_Inside.found)


def _limit_blas(counts: list[int]) -> None:
    # The controller's own ``limit`` asks each library for its version and more: 60 µs.
    for library, count in zip(_blas_libraries(), counts):
        library.set_num_threads(count)


@cache
def _blas_libraries() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


# --- sections of a matrix ------------------------------------------------------------------


def is_one_section(matrix: Any) -> bool:
    """Whether a pass over the matrix is too short for threads."""
    return _work(matrix) < TUNING.worthwhile


def along(matrix: Any) -> list[slice]:
    """Ranges of coordinates, for sums along each coordinate."""
    threads = 1 if is_one_section(matrix) else count()
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
    if work < TUNING.worthwhile:
        return [slice(0, rows)]
    room = max(1 + rows // size, 2 if size <= TUNING.small_array else 1)
    count = min(TUNING.sections_across, room, int(work / (TUNING.products_per_number * size)))
    return _cut(matrix, max(1, count - count % 2))  # threads mostly come in pairs


def stretches(matrix: Any, size: int, *, even: bool = False) -> list[slice]:
    """Ranges of places that start at multiples of ``size``. If ``even``, their number depends on
    the data alone, for sums with an array of their own for each range."""
    places = matrix.shape[1]
    parts = 1
    if _work(matrix) >= TUNING.worthwhile:
        parts = TUNING.sections_across if even else count()
    cuts = [places * turn // (parts * size) * size for turn in range(parts)]
    return [slice(first, last) for first, last in pairwise([*cuts, places]) if first < last]


def arrays(count: int, *shape: int) -> list[Floats]:
    """Arrays of zeros, one for each range, on cache lines of their own: two threads that write to
    the same line wait for each other at each number."""
    size = math.prod(shape)
    return [row[:size].reshape(shape) for row in np.zeros((count, size + TUNING.padding))]


def section(matrix: Any, lines: slice) -> Any:
    """Some of the coordinates, without a copy."""
    if (lines.start, lines.stop) == (0, matrix.shape[0]):
        return matrix
    if isinstance(matrix, Sparse):
        return matrix._replace(indptr=matrix.indptr[lines.start : lines.stop + 1])
    if isinstance(matrix, Dense):
        return Dense(matrix.data[lines])
    if isinstance(matrix, Codes):
        numbers, codes, cells = (part[lines] for part in matrix[:3])
        return matrix._replace(numbers=numbers, codes=codes, cells=cells)
    return matrix._replace(base=section(matrix.base, lines))


def entries(matrix: Any) -> int:
    if isinstance(matrix, Sparse):
        return int(matrix.indptr[-1])
    if isinstance(matrix, Dense):
        return int(matrix.data.size)
    if isinstance(matrix, Codes):
        return int(matrix.numbers.shape[0] * (matrix.used + matrix.codes.shape[1]))
    return entries(matrix.base)


def _work(matrix: Any) -> int:
    """The entries, or as many of a sparse matrix as take as long."""
    base = matrix.base if isinstance(matrix, (Bordered, Extended)) else matrix
    return entries(matrix) // (TUNING.dense_speed if isinstance(base, Dense) else 1)


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
