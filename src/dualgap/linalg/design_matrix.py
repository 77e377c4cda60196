"""The data as given, with a constant feature that is stored nowhere if there is an intercept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dualgap.linalg import products, storage
from dualgap.linalg.matrices import Bordered, Dense, DenseBordered, DenseExtended, Extended
from dualgap.linalg.shift import Shift, moved
from dualgap.linalg.validate import LARGEST, SMALLEST, Floats, positive


class DesignMatrix:
    """X with its views, norms and products. n samples, p features, d with the constant feature.

    ``X`` is ``given``, except for columns that a free intercept allows to ``shift``: internally,
    the intercept is that of the shifted data (``problem/intercept.py``).
    """

    def __init__(
        self,
        X: Any,
        intercept: Any = False,
        intercept_scaling: float = 1.0,
        *,
        is_whole: bool = True,
    ) -> None:
        self.given = self.X = storage.as_data(X)
        self.shift: Shift | None = None
        self.n, self.p = self.X.shape
        self.intercept = _check_intercept(intercept)
        if self.intercept is True and is_whole:  # partitions would have to agree on one shift
            self.X, self.shift = moved(self.given)
        scaling = positive(intercept_scaling, "intercept_scaling")
        self.constant = scaling if self.intercept == "penalised" else float(self.has_intercept)
        self.d = self.p + self.has_intercept
        self.measure()

    @property
    def has_intercept(self) -> bool:
        """Whether there is a constant feature."""
        return self.intercept is not False

    def measure(self) -> None:
        """The first pass over X: squared norms along the order of storage, and the largest size."""
        self._along = products.measure(self._stored)
        self._measured: dict[str, tuple[Floats, Any]] = {}  # shared with copies of this object
        size = float(np.sqrt(np.max(self._along)))
        if not SMALLEST < size < LARGEST:
            size = self._checked_size()
        self.size = max(size, self.constant)  # no entry is larger

    def _checked_size(self) -> float:
        """The largest |entry|, where squares overflow or underflow."""
        size = float(products.largest(self._stored, len(self._along)))
        if not np.isfinite(size):
            raise ValueError("X has NaN or infinite entries: remove or fill them in")
        if size > LARGEST or 0.0 < size < SMALLEST:
            raise ValueError(
                f"X has entries of size up to {size:.1e}, whose squares leave the range of "
                "float64: rescale X"
            )
        return size

    def measure_across(self) -> tuple[Floats, Any]:
        """Squared norms across the order of storage, and numbers of entries, in few bytes.

        The first call is a pass over X with scattered additions, which takes five times as long as
        one along rows; many fits never need it.
        """
        if "across" not in self._measured:
            self._measured["across"] = products.measure_across(self._stored)
        return self._measured["across"]

    @cached_property
    def row_squares(self) -> Floats:
        """‖x_i‖² for each sample."""
        squares = self._along if self.by_rows else self.measure_across()[0]
        return squares + self.constant**2 if self.has_intercept else squares

    @cached_property
    def column_squares(self) -> Floats:
        """Σ_i x_ij² for each feature."""
        squares = self.measure_across()[0] if self.by_rows else self._along
        return np.append(squares, self.n * self.constant**2) if self.has_intercept else squares

    @cached_property
    def total_square(self) -> float:
        """Σ x_ij²."""
        return float(np.sum(self.row_squares if self.by_rows else self.column_squares))

    @property
    def row_counts(self) -> Floats:
        """How many entries each sample has; a new vector each time."""
        return self.row_counts_of(slice(0, self.n))

    def row_counts_of(self, some: slice) -> Floats:
        """How many entries some samples have."""
        counts = self._counts(some, self.p, of_rows=True)
        counts += float(self.has_intercept)
        return counts

    @property
    def column_counts(self) -> Floats:
        """How many entries each feature has; a new vector each time."""
        counts = self._counts(slice(0, self.p), self.n, of_rows=False)
        return np.append(counts, float(self.n)) if self.has_intercept else counts

    def _counts(self, some: slice, width: int, *, of_rows: bool) -> Floats:
        if of_rows == self.by_rows:
            return storage.counts(self._stored, some)
        if not storage.is_sparse(self.X):
            return np.full(some.stop - some.start, float(width))
        return np.array(self.measure_across()[1][some], dtype=np.float64)

    @cached_property
    def entries(self) -> float:
        """The number of all entries."""
        stored = self.X.nnz if storage.is_sparse(self.X) else self.n * self.p
        return float(stored + self.n * self.has_intercept)

    @property
    def by_rows(self) -> bool:
        """Whether X is stored sample by sample."""
        if storage.is_sparse(self.X):
            return bool(self.X.format == "csr")
        return not self.X.flags.f_contiguous

    @property
    def _stored(self) -> storage.Stored:
        """X as it is stored, without a constant feature."""
        matrix = self.rows if self.by_rows else self.columns
        return matrix.base if isinstance(matrix, (Bordered, Extended)) else matrix

    @cached_property
    def stored_rows(self) -> storage.Stored:
        """Samples as coordinates, without a constant feature."""
        return storage.rows(self.X)

    @cached_property
    def rows(self) -> storage.Matrix:
        """Samples as coordinates."""
        stored = self.stored_rows
        if not self.has_intercept:
            return stored
        kind = DenseBordered if isinstance(stored, Dense) else Bordered
        return kind(stored, self.constant, self.p)

    @cached_property
    def columns(self) -> storage.Matrix:
        """Features as coordinates."""
        stored = storage.columns(self.X)
        if not self.has_intercept:
            return stored
        kind = DenseExtended if isinstance(stored, Dense) else Extended
        return kind(stored, self.constant, self.p, self.n)

    # --- products, with K numbers for each sample and feature ----------------------------------

    def times(self, w: Floats, width: int) -> Floats:
        """X w, in float64."""
        out, own = np.empty(self.n * width), self.p * width
        (products.gather if self.by_rows else products.scatter)(self._stored, w[:own], out)
        if self.has_intercept:
            out.reshape(self.n, width)[:] += self.constant * w[own:]
        return out

    def summed(self, weights: Floats, width: int) -> Floats:
        """Xᵀ weights, in float64."""
        out, own = np.empty(self.d * width), self.p * width
        (products.scatter if self.by_rows else products.gather)(self._stored, weights, out[:own])
        if self.has_intercept:
            # NumPy sums in blocks along rows only, and the certificate relies on blocks.
            classes = np.ascontiguousarray(weights.reshape(self.n, width).T)
            out[own:] = self.constant * classes.sum(axis=1)
        return out

    def summed_squares(self, weights: Floats, *, of_rows: bool) -> Floats:
        """Σ_j weights_j x_ij² for each row, or Σ_i weights_i x_ij² for each column.

        Do not modify the result: it may be ``row_squares`` itself.
        """
        squares = self.row_squares if of_rows else self.column_squares
        if weights.min() == weights.max() < np.inf:
            return squares if weights[0] == 1.0 else np.asarray(weights[0] * squares)
        out = np.empty(len(squares))
        products.weighted_squares(self.rows if of_rows else self.columns, weights, out)
        return out

    # --- norms ---------------------------------------------------------------------------------

    @cached_property
    def column_sizes(self) -> Floats:
        """The norms of the features, large enough to divide by."""
        return np.sqrt(np.maximum(self.column_squares, SMALLEST**2))

    @cached_property
    def even_squares(self) -> Floats:
        """Σ_j x_ij²/s_j² for each sample, with s_j from ``column_sizes``."""
        out = np.empty(self.n)
        shares = 1.0 / self.column_sizes[: self.p] ** 2
        squares = products.weighted_squares if self.by_rows else products.scattered_squares
        squares(self._stored, shares, out)
        return out + 1.0 / self.n if self.has_intercept else out


def _check_intercept(intercept: Any) -> bool | str:
    if isinstance(intercept, (bool, np.bool_)):
        return bool(intercept)
    if isinstance(intercept, str) and intercept == "penalised":
        return intercept
    raise ValueError(f'intercept must be True, False or "penalised", not {intercept!r}')
