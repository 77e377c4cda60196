"""The data as given, with a constant feature that is stored nowhere if there is an intercept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dualgap._validate import LARGEST, SMALLEST, Floats, positive
from dualgap.intercept import check_intercept
from dualgap.linalg import products, storage
from dualgap.linalg.bordered import Bordered, Extended, with_coordinate, with_entry


class DesignMatrix:
    """X, its shape (n, p), or (n, d) with the constant feature, its views, norms and products."""

    def __init__(self, X: Any, intercept: Any = False, intercept_scaling: float = 1.0) -> None:
        self.X = storage.as_data(X)
        self.n, self.p = self.X.shape
        self.intercept = check_intercept(intercept)
        scaling = positive(intercept_scaling, "intercept_scaling")
        self.constant = scaling if self.intercept == "penalised" else float(self.has_intercept)
        self.d = self.p + self.has_intercept
        self._measure()

    @property
    def has_intercept(self) -> bool:
        """Whether there is a constant feature."""
        return self.intercept is not False

    def _measure(self) -> None:
        largest, own, other, counts = products.measure(self._stored)
        if not np.isfinite(largest):
            raise ValueError("X has NaN or infinite entries: remove or fill them in")
        if largest > LARGEST or 0.0 < largest < SMALLEST:
            raise ValueError(
                f"X has entries of size up to {largest:.1e}, whose squares leave the range of "
                "float64: rescale X"
            )
        self.largest = max(largest, self.constant)
        self.row_squares, self.column_squares = (own, other) if self.by_rows else (other, own)
        # Numbers of entries, in few bytes; where they are None, the storage knows them.
        self._row_counts: Any = None if self.by_rows else counts
        self._column_counts: Any = counts if self.by_rows else None
        if self.has_intercept:
            square = self.constant**2
            self.row_squares += square
            self.column_squares = np.append(self.column_squares, self.n * square)
            if self._row_counts is not None:
                self._row_counts += 1
            if self._column_counts is not None:
                self._column_counts = np.append(self._column_counts, np.uint32(self.n))

    @property
    def row_counts(self) -> Floats:
        """How many entries each sample has; a vector of its own, each time."""
        if self._row_counts is not None:
            return np.array(self._row_counts, dtype=np.float64)
        return storage.counts(self.stored_rows) + float(self.has_intercept)

    @property
    def column_counts(self) -> Floats:
        """How many entries each feature has; a vector of its own, each time."""
        if self._column_counts is not None:
            return np.array(self._column_counts, dtype=np.float64)
        counts = storage.counts(storage.columns(self.X))
        return np.append(counts, float(self.n)) if self.has_intercept else counts

    @cached_property
    def entries(self) -> float:
        """The number of all entries."""
        return float(self.row_counts.sum())

    @property
    def by_rows(self) -> bool:
        """Whether X is stored sample by sample."""
        if storage.is_sparse(self.X):
            return bool(self.X.format == "csr")
        return not self.X.flags.f_contiguous

    @property
    def _stored(self) -> storage.Matrix:
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
        return with_entry(stored, self.constant) if self.has_intercept else stored

    @cached_property
    def columns(self) -> storage.Matrix:
        """Features as coordinates."""
        stored = storage.columns(self.X)
        return with_coordinate(stored, self.constant) if self.has_intercept else stored

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
            # NumPy adds up in blocks along rows alone, and the certificate counts on blocks.
            classes = np.ascontiguousarray(weights.reshape(self.n, width).T)
            out[own:] = self.constant * classes.sum(axis=1)
        return out

    def summed_squares(self, weights: Floats, *, of_rows: bool) -> Floats:
        """Σ_j weights_j x_ij² of each row, or Σ_i weights_i x_ij² of each column."""
        squares = self.row_squares if of_rows else self.column_squares
        if weights.min() == weights.max() < np.inf:
            return np.asarray(weights[0] * squares)
        out = np.empty(len(squares))
        products.weighted_squares(self.rows if of_rows else self.columns, weights, out)
        return out

    # --- norms ---------------------------------------------------------------------------------

    @cached_property
    def column_sizes(self) -> Floats:
        """The norms of the features, not so small that they could not be divided by."""
        return np.sqrt(np.maximum(self.column_squares, SMALLEST**2))

    @cached_property
    def even_squares(self) -> Floats:
        """Σ_j x_ij²/s_j² for each sample, with s_j from ``column_sizes``."""
        out = np.empty(self.n)
        shares = 1.0 / self.column_sizes[: self.p] ** 2
        squares = products.weighted_squares if self.by_rows else products.scattered_squares
        squares(self._stored, shares, out)
        return out + 1.0 / self.n if self.has_intercept else out
