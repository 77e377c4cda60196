"""Passes over large data by several threads; what they compute is the same, bit for bit.

A caller splits its work so that the pieces, and the order in which their results are put together,
do not depend on the number of threads. Kernels run without Python's lock, so that threads do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any

_limit: ContextVar[int | None] = ContextVar("limit", default=None)

# Limits that others set: joblib for the processes that it starts, users for theirs.
_LIMITS = ("LOKY_MAX_CPU_COUNT", "OMP_NUM_THREADS")


def cores() -> int:
    """How many threads may work at once if nobody says otherwise."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [os.environ.get(name, "") for name in _LIMITS]
    return max(1, min([own, *(int(limit) for limit in limits if limit.isdigit())]))


def count() -> int:
    """The number of threads that a pass may use here."""
    return _limit.get() or cores()


@contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """Within, passes use no more than so many threads; None stands for all cores."""
    token = _limit.set(threads or cores())  # asked once, not at each pass
    try:
        yield
    finally:
        _limit.reset(token)


def together(action: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The results of ``action`` for each of ``calls``, in their order.

    The caller works as well, and waits for nobody who has not begun: if all threads are busy with
    the passes of other callers, it does everything by itself.
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
        left.clear()  # one that was cancelled waits in the pool, and would keep all arrays alive
    return results


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="dualgap")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)
