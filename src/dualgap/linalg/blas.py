"""BLAS by one thread: on small matrices threads are in each other's way, and their sums vary."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside: list[Any] = []  # who is inside; the first holds the limit, which is that of the process


@contextmanager
def one_thread() -> Iterator[None]:
    """Several threads may be inside at once; the last to leave restores what the first found."""
    with _lock:
        limit = None if _inside else _libraries().limit(limits=1, user_api="blas")
        _inside.append(limit)
    try:
        yield
    finally:
        with _lock:
            _inside.sort(key=lambda held: held is not None)  # the limit leaves last
            left = _inside.pop(0)
            if left is not None:
                left.restore_original_limits()


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
