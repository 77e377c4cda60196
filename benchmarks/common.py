"""What the benchmarks share: tables and clocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: names to the left, numbers to the right."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
    for name, *cells in (header, ["-" * width for width in widths], *rows):
        numbers = [cell.rjust(width) for cell, width in zip(cells, widths[1:])]
        print("  ".join([name.ljust(widths[0]), *numbers]), flush=True)
    print()


def seconds(action: Callable[[], Any]) -> float:
    """Seconds that this thread had the processor, which others do not add to."""
    began = time.thread_time()
    action()
    return time.thread_time() - began


def one_thread() -> AbstractContextManager[Any]:
    """Limits BLAS, if threadpoolctl (a dependency of scikit-learn) is there to do so."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(1, user_api="blas")
