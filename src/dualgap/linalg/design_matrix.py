"""The data as given, with a constant feature that is stored nowhere if there is an intercept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dualgap.linalg import coded_products, dense, products, storage, validate
from dualgap.linalg.matrices import Bordered, Codes, Dense, DenseBordered, DenseExtended, Extended
from dualgap.linalg.shift import Shift, moved
from dualgap.linalg.validate import LARGEST, SMALLEST, Floats, NotFiniteError, positive

# Dense rows of at least so many features, of which at most one in so many has a coefficient: then
# gathering these columns costs less than a pass. 38 × 7129 with 30 coefficients: a quarter.
_MANY_FEATURES, _COPY_SHARE = 1000, 16
# What it is made of, and what it has found out about itself.
_GIVEN = ("given", "X", "shift", "n", "p", "d", "intercept", "constant", "size", "_along")
_MEASURED = (
    "_measured", "row_squares", "column_squares", "total_square", "stored_rows", "rows", "columns",
    "entries", "column_sizes", "even_squares", "longest_row",
)  # fmt: skip


# Cached facts that depend on the value of the constant feature.
FACTS_OF_CONSTANT = (
    "row_squares", "column_squares", "total_square", "mean_square", "rows", "columns",
    "column_sizes", "even_squares", "small_rows",
)  # fmt: skip


class DesignMatrix:
    """X with its views, norms and products. n samples, p features, d with the constant feature.

    ``X`` is ``given``, except for columns that a free intercept allows to ``shift``: internally,
    the intercept is that of the shifted data (``problem/intercept.py``). X may also be another
    ``DesignMatrix``, whose data and norms are then shared.
    """

    intercept: bool | str
    given: Any

    def __init__(
        self,
        X: Any,
        intercept: Any = False,
        intercept_scaling: float = 1.0,
        *,
        is_whole: bool = True,
    ) -> None:
        self.intercept = validate.intercept_of(intercept)
        scaling = positive(intercept_scaling, "intercept_scaling")
        self.constant = scaling if self.intercept == "penalised" else float(self.has_intercept)
        if isinstance(X, DesignMatrix):
            if (X.intercept, X.constant) == (self.intercept, self.constant):
                self._share(X)
                return
            X = X.given
        self.given = self.X = storage.as_data(X)
        self.shift: Shift | None = None
        self.n, self.p = self.X.shape
        moves = self.intercept is True and is_whole  # partitions would have to agree on one shift
        if moves and (type(self.X) is not np.ndarray or len(dense.far_columns(self.X))):
            self.X, self.shift = moved(self.given)
        self.d = self.p + self.has_intercept
        self.measure()

    def _share(self, other: DesignMatrix) -> None:
        """Take over data, views and norms of another matrix, checked and measured already."""
        own = vars(other)
        self.__dict__.update({name: own[name] for name in (*_GIVEN, *_MEASURED) if name in own})

    @property
    def has_intercept(self) -> bool:
        """Whether there is a constant feature."""
        return self.intercept is not False

    def measure(self) -> None:
        """The first pass over X: squared norms along the order of storage, and the largest size.

        For a dense matrix the same pass finds the norms across that order.
        """
        stored = self._stored
        self._measured: dict[str, Any] = {}  # shared with copies of this object
        if isinstance(stored, Dense):
            self._along, across = dense.measure(stored)
            self._measured["across"] = across, np.broadcast_to(len(self._along), len(across))
        elif isinstance(stored, Codes):
            self._along, self._measured["across"] = coded_products.measure(stored)
        else:
            self._along = products.measure(stored)
        size = float(np.sqrt(np.max(self._along)))
        if not SMALLEST < size < LARGEST:
            size = self._checked_size()
        self.size = max(size, self.constant)  # no entry is larger

    def _checked_size(self) -> float:
        """The largest |entry|, where squares overflow or underflow."""
        size = float(products.largest(self._stored, len(self._along)))
        if not np.isfinite(size):
            raise NotFiniteError("X has NaN or infinite entries: remove or fill them in")
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
        found: tuple[Floats, Any] = self._measured["across"]
        return found

    def own_copy(self) -> Any:
        """A copy of X in its order, the same for all that share its norms."""
        if "copy" not in self._measured:
            order = {} if storage.is_sparse(self.X) else {"order": "C" if self.by_rows else "F"}
            self._measured["copy"] = self.X.copy(**order)
        return self._measured["copy"]

    @property
    def squares_of_rows(self) -> Floats:
        """Σ_j x_ij² for each sample, without the constant feature."""
        return self._along if self.by_rows else self.measure_across()[0]

    @cached_property
    def row_squares(self) -> Floats:
        """‖x_i‖² for each sample."""
        squares = self.squares_of_rows
        return squares + self.constant**2 if self.has_intercept else squares

    @cached_property
    def column_squares(self) -> Floats:
        """Σ_i x_ij² for each feature."""
        squares = self.measure_across()[0] if self.by_rows else self._along
        return np.append(squares, self.n * self.constant**2) if self.has_intercept else squares

    def square_of_column(self, j: int) -> float:
        """Σ x_j². Only that of the constant feature does not need the norms of all columns."""
        if self.has_intercept and j == self.p:
            return float(self.n * self.constant**2)
        return float(self.column_squares[j])

    def one_column(self, j: int) -> Floats:
        """Feature j of each sample: a pass over X, unless it is the constant one."""
        if self.has_intercept and j == self.p:
            return np.full(self.n, self.constant)
        unit = np.zeros(self.d)
        unit[j] = 1.0
        return self.times(unit, 1)

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

    @cached_property
    def longest_row(self) -> float:
        """A bound on the number of entries of each sample."""
        known = self.by_rows and storage.is_sparse(self.X)
        return float(np.max(self.row_counts)) if known else float(self.d)

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
        used = self._few_used(w[:own]) if width == 1 else None
        if used is not None:
            some = storage.rows(np.ascontiguousarray(self.X[:, used]))
            products.gather(some, np.ascontiguousarray(w[used]), out)
        else:
            (products.gather if self.by_rows else products.scatter)(self._stored, w[:own], out)
        if self.has_intercept:
            out.reshape(self.n, width)[:] += self.constant * w[own:]
        return out

    def _few_used(self, w: Floats) -> Any:
        """The places of entries other than 0, if these are so few that a product with dense rows
        should copy their columns first; else None."""
        if self.p < _MANY_FEATURES or storage.is_sparse(self.X) or not self.by_rows:
            return None
        used = np.flatnonzero(w)
        return used if 0 < len(used) * _COPY_SHARE <= self.p else None

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
        if storage.is_coded(self.X) and not of_rows:  # columns would take a copy
            products.scattered_squares(self.rows, weights, out)
            return out
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
