"""BLAS by one thread: on small matrices threads are in each other's way, and their sums vary."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside: list[Any] = []  # who is inside; the first holds what it found, for the process


@contextmanager
def one_thread() -> Iterator[None]:
    """Several threads may be inside at once; the last to leave restores what the first found."""
    with _lock:
        found = None if _inside else [library.get_num_threads() for library in _libraries()]
        _inside.append(found)
        if found is not None:
            _limit([1] * len(found))
    try:
        yield
    finally:
        with _lock:
            _inside.sort(key=lambda held: held is not None)  # what was found leaves last
            left = _inside.pop(0)
            if left is not None:
                _limit(left)


def _limit(counts: list[int]) -> None:
    # The controller's own ``limit`` asks each library for its version and more: 60 µs.
    for library, count in zip(_libraries(), counts):
        library.set_num_threads(count)


@cache
def _libraries() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
