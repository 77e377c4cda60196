"""Columns far from 0 are shifted towards 0; with a free intercept the problem stays the same.

With values such as 1e8 + t every product loses the digits of t. Subtracting a number μ_j from all
entries of column j turns x·w + b into (x − μ)·w + (b + μ·w): another intercept, nothing else. Where
all entries of a column lie within a factor 2 of μ_j, the subtraction is exact (Sterbenz), so that a
proof on the moved data is one on the data as given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import dense, storage
from dualgap.linalg.dense import INSPECTED_ROWS, RELATIVE_SPREAD
from dualgap.linalg.exact import multiply, total_of
from dualgap.linalg.validate import Floats


class Shift(NamedTuple):
    """``places``: which columns were shifted, ``by``: how far."""

    places: Any
    by: Floats

    def image(self, coef: Floats) -> Floats:
        """μ·w of each class, for coefficients (p, K), in about twice the precision."""
        out = np.empty(coef.shape[1])
        for k in range(len(out)):
            whole, lost = np.empty((2, len(self.by)))
            multiply(self.by, np.ascontiguousarray(coef[self.places, k]), whole, lost)
            out[k] = sum(total_of(whole, lost))
        return out

    def error(self, coef: Floats, inner: Floats) -> float:
        """How far b + μ·w can be from the intercept of the moved data, for any class: both are
        rounded once, and the sum behind them is not quite exact."""
        sizes = np.abs(self.by) @ np.abs(coef[self.places])
        second = ((4.0 + len(self.by)) * EPS) ** 2
        return float(
            np.max(EPS * (np.abs(inner) + np.abs(inner - self.image(coef))) + second * sizes)
        )


def moved(X: Any) -> tuple[Any, Shift | None]:
    """X with its columns far from 0 shifted, in a copy; X itself if there are none."""
    if storage.is_coded(X):  # its levels are none of them
        numbers, shift = moved(X.numbers) if X.numbers.size else (X.numbers, None)
        return (X, None) if shift is None else (X.with_numbers(numbers), shift)
    if storage.is_on_disk(X) or storage.is_mapped(X.data if storage.is_sparse(X) else X):
        return X, None
    places = _suspects(X)
    if not len(places) or (storage.is_sparse(X) and (X.data == X.data[0]).all()):
        return X, None  # also for sets: their storage relies on equal entries
    own = X[:, places]
    own = own.toarray() if storage.is_sparse(X) else own
    low, high = own.min(axis=0), own.max(axis=0)
    middle = (0.5 * low.astype(np.float64) + 0.5 * high).astype(X.dtype)
    far = np.isfinite(middle) & (low != 0.0) & (high - low <= RELATIVE_SPREAD * np.abs(middle))
    if not far.any():
        return X, None
    shift = Shift(places[far], middle[far].astype(np.float64))
    return _subtracted(X, shift), shift


def _suspects(X: Any) -> Any:
    """Columns whose entries in some rows are far from 0, compared with how much they differ."""
    if not storage.is_sparse(X):
        return dense.far_columns(X)
    by_columns = X.format == "csc"  # where distant rows are expensive
    last = min(INSPECTED_ROWS, X.shape[0]) if by_columns else X.shape[0]
    some = X[: last : -(-last // INSPECTED_ROWS)]
    # A column with a 0 is none, which leaves few to look at.
    counts = np.diff(some.indptr) if by_columns else np.bincount(some.indices)
    full = np.flatnonzero(counts == some.shape[0])
    return full[dense.far_columns(some[:, full].toarray())]


def _subtracted(X: Any, shift: Shift) -> Any:
    by = np.zeros(X.shape[1], dtype=X.dtype)
    by[shift.places] = shift.by
    if not storage.is_sparse(X):
        out = X.copy(order="K")
        out[:, shift.places] -= by[shift.places]
        return out
    columns = (
        X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    )
    data = X.data - by[columns]
    return type(X)((data, X.indices, X.indptr), shape=X.shape)
