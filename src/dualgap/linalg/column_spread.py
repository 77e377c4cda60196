"""How unevenly the entries of sparse rows are spread over columns, from a part of them.

Sums over columns take five times as long as sums over rows (``products.measure_across``), and the
choice of a method needs a digit or two. Where entries are few, all of them are counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_INSPECTED = 1 << 13  # entries at each of two sets of places: a tenth of a millisecond


def squared_column_counts(X: Any) -> float:
    """Σ_j m_j² for the number m_j of entries in column j of a CSR matrix."""
    step, (one, other) = _places(X)
    first, second = (np.bincount(X.indices[own], minlength=X.shape[1]) for own in (one, other))
    return float(step**2 * np.dot(first, second))


def squared_column_squares(X: Any) -> float:
    """Σ_j (Σ_i x_ij²)² for a CSR matrix."""
    step, (one, other) = _places(X)
    first, second = (
        np.bincount(X.indices[own], X.data[own] ** 2.0, X.shape[1]) for own in (one, other)
    )
    return float(step**2 * np.dot(first, second))


def _places(X: Any) -> tuple[int, Any]:
    """A part of the entries, twice: products of both are right on average.

    Not at regular places, which in one-hot rows of one length belong to few columns, and to others
    each time. (step, places): each stands for ``step`` entries.
    """
    step = max(-(-X.nnz // _INSPECTED), 1)
    if step == 1:
        return 1, (slice(None), slice(None))
    first = step * np.arange(X.nnz // step)
    rng = np.random.default_rng(0)
    return step, tuple(first + rng.integers(0, step, len(first)) for _ in range(2))
