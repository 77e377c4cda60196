"""What the benchmarks share: tables, clocks, generated rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp


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


def short_rows(n: int, d: int, entries: int) -> Any:
    """A CSR matrix with ``entries`` entries in each row, at random places."""
    rng = np.random.default_rng(0)
    # One entry in each stretch of columns: sorted, and never two at the same place.
    stretch = d // entries
    places = rng.integers(stretch, size=(n, entries)) + stretch * np.arange(entries)
    starts = np.arange(0, places.size + 1, entries, dtype=np.int32)
    values = rng.standard_normal(places.size)
    return sp.csr_matrix((values, places.ravel().astype(np.int32), starts), shape=(n, d))
