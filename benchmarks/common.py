"""What the benchmarks share: tables, clocks, data."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
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


def real_data(name: str) -> tuple[Any, Any] | None:
    """X and y of a file in LIBSVM format in the folder DUALGAP_DATA; None where there is none."""
    path = Path(os.environ.get("DUALGAP_DATA", "")) / f"{name}.svm.bz2"
    if not path.is_file():
        return None
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(os.fspath(path))
    # The loader's 64-bit indices would slow SciPy down and make comparisons too easy.
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sp.csr_matrix((X.data, indices, indptr), shape=X.shape), y


def load_w8a() -> tuple[str, Any, Any]:
    """A name, X and y."""
    found = real_data("w8a")
    return ("w8a", *found) if found else ("generated stand-in for w8a", *w8a_stand_in())


def w8a_stand_in() -> tuple[Any, Any]:
    """As many binary entries as in w8a, at random places, and a positive class as rare."""
    rng = np.random.default_rng(0)
    X = sp.random(49_749, 300, density=0.039, format="csr", random_state=rng)
    X.data[:] = 1.0
    scores = X @ rng.standard_normal(300)
    return X, np.where(scores > np.quantile(scores, 0.97), 1.0, -1.0)


def short_rows(n: int, d: int, entries: int) -> Any:
    """A CSR matrix with ``entries`` entries in each row, at random places."""
    rng = np.random.default_rng(0)
    # One entry in each stretch of columns: sorted, and never two at the same place.
    stretch = d // entries
    places = rng.integers(stretch, size=(n, entries)) + stretch * np.arange(entries)
    starts = np.arange(0, places.size + 1, entries, dtype=np.int32)
    values = rng.standard_normal(places.size)
    return sp.csr_matrix((values, places.ravel().astype(np.int32), starts), shape=(n, d))
