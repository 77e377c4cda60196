"""Ridge regression for many alphas and targets from one decomposition of the data.

In the coordinates √s·(x − x̄), √s·(y − ȳ), with weights s and an unpenalised intercept, the data are
U diag(σ) Vᵀ. The fit to y is U diag(σ²/(σ² + α)) Uᵀy and its coefficients V diag(σ/(σ² + α)) Uᵀy.
σ and one of U and V come from the eigenvalues of the smaller one of XXᵀ and XᵀX. Where their
rounding errors matter, because α and the smallest eigenvalues are tiny, dense data have an SVD.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import parallel, storage
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.row_products import centred_row_products
from dualgap.linalg.validate import Floats, NotFiniteError
from dualgap.proof.goal import LEAST_SHARE

# Numbers of a block of rows that are centred at a time: bounds the memory, and fits into caches.
_BLOCK_NUMBERS = 250_000
_BLOCKS_AT_ONCE = 8
_CACHED_NUMBERS = 130_000  # of some columns that are centred and multiplied, in a cache of 1 MB
_FEW_ROWS = 100  # whose products need no BLAS. 38 × 7129: 166 µs (457), 100 × 2000: 382 (534)
KEPT_NUMBERS = 1_000_000  # of all centred rows, which are then kept: 8 MB
_DENSE_NUMBERS = 1 << 18  # of small sparse data: 2 MB
# The largest share of σ² + α that rounding errors of eigenvalues may be, else there is an SVD.
_ACCURATE = 1e-8


class Decomposition:
    """The decomposition of centred data; solutions are then cheap for each alpha.

    ``left``     U, if there are at most as many samples as features or there was an SVD, else None
    ``right``    V/σ in the other case, or if there was an SVD, since XᵀU/σ² has larger errors
    ``squares``  σ² > 0
    Sparse X is not made dense, unless it is small: only dense data have an SVD.
    """

    _multiplies = True  # whether ``_decompose`` needs products of rows

    def __init__(self, X: Any, weights: Floats, intercept: bool, least_alpha: float = 0.0) -> None:
        self.n, self.p = X.shape
        if storage.is_sparse(X):
            X = X.toarray() if self.n * self.p <= _DENSE_NUMBERS else X.tocsr()
        self.X = X
        self.root, self.total = np.sqrt(weights), float(weights.sum())
        self.intercept = intercept
        self.shares = weights / self.total if intercept else np.zeros(self.n)
        self.left: Floats | None = None
        self.right: Any = None
        self._inner, self._inner_of = np.empty(0), np.empty(0)
        self._centred: Floats | None = None  # all rows of √s(x − x̄), if they are small
        self._products_of_rows: Floats | None = None  # their Gram matrix, if it is known
        with single_threaded_blas():
            self._centre()
            self._decompose(least_alpha)

    def _centre(self) -> None:
        """Measure the means."""
        self.rest = np.zeros(self.p)
        dense = not storage.is_sparse(self.X)
        if dense and self._multiplies and self.n <= self.p:
            self.mean = np.zeros(self.p)
            self._products_of_rows = self._centred_by_columns()
            return
        self.mean = self._summed(self.shares[:, None])[:, 0]
        if self.intercept and dense:
            self.rest = self._mean_of_centred()

    def _centred_by_columns(self) -> Floats:
        """The Gram matrix of wide data, and their means: one pass over X, and no copy of it."""
        if self.n <= _FEW_ROWS and self.X.flags.c_contiguous:
            found = np.empty((self.n, self.n))
            rows = storage.read_only(self.X)
            centred_row_products(rows, self.shares, self.root, self.mean, found)
            return self._without_means(found) if self.intercept else found
        size, total = max(_CACHED_NUMBERS // self.n, 1), np.zeros((self.n, self.n))
        even = bool((self.root == 1.0).all())
        held = np.empty((self.n, min(size, self.p)))
        for first in range(0, self.p, size):
            some = slice(first, min(first + size, self.p))
            if self.intercept:
                self.mean[some] = self.shares @ self.X[:, some]
            rows = np.subtract(
                self.X[:, some], self.mean[some], out=held[:, : some.stop - first], dtype=np.float64
            )
            if not even:
                rows *= self.root[:, None]
            total += rows @ rows.T
        return self._without_means(total) if self.intercept else total

    def _without_means(self, products: Floats) -> Floats:
        """The Gram matrix, without what rounding errors of the means have left in it: the centred
        rows have means of about 0, so that nothing cancels here."""
        weights = self.root / self.total  # of rows that √s multiplies
        rest = weights @ products
        whole = float(weights @ rest)
        products -= np.outer(self.root, rest)
        products -= np.outer(rest, self.root)
        products += whole * np.outer(self.root, self.root)
        return products

    def _mean_of_centred(self) -> Floats:
        """What rounding errors of the means leave: far from 0 it would count as a direction."""
        if self.X.size <= KEPT_NUMBERS:
            rows = np.subtract(self.X, self.mean, dtype=np.float64)
            rest = self.shares @ rows
            rows -= rest
            rows *= self.root[:, None]
            self._centred = rows
            return np.asarray(rest)

        def of_block(some: slice) -> Floats:
            centred = np.subtract(self.X[some], self.mean, dtype=np.float64)
            return np.asarray(self.shares[some] @ centred)

        return self._added(of_block)

    def _decompose(self, least_alpha: float) -> None:
        wide = self.n <= self.p
        products = self._gram() if wide else self._covariance()
        if not np.isfinite(products).all():
            raise NotFiniteError("X is so large that its squares overflow: rescale X")
        squares, basis = np.linalg.eigh(products)
        largest = max(squares.max(initial=0.0), 0.0)
        used = squares > max(self.n, self.p) * EPS * largest
        rounding = np.sqrt(len(squares)) * EPS * largest
        accurate = self._is_accurate(squares[used], rounding, least_alpha)
        if not (accurate or storage.is_sparse(self.X)):
            if wide and self.intercept:
                self.rest = self._mean_of_centred()
            centred = self.rows(slice(0, self.n))
            left, sizes, rows = np.linalg.svd(centred, full_matrices=False)
            used = sizes > max(self.n, self.p) * EPS * sizes.max(initial=0.0)
            self.left, self.squares = left[:, used], sizes[used] ** 2
            self.right = rows[used].T / sizes[used]
            return
        self.squares = squares[used]
        if wide:
            self.left = basis[:, used]
        else:
            self.right = basis[:, used] / np.sqrt(self.squares)

    def _is_accurate(self, squares: Floats, rounding: float, least_alpha: float) -> bool:
        """Whether errors of eigenvalues do not matter, nor do those that count as 0."""
        most = min(self.p, np.count_nonzero(self.root) - int(self.intercept))
        complete = len(squares) >= most
        least = squares.min(initial=np.inf) if complete else 0.0
        return bool(rounding <= _ACCURATE * (least_alpha + least))

    def inner(self, Y: Floats) -> Floats:
        """Uᵀ√s(Y − Ȳ), for targets (n, T); kept for the last ones."""
        if self._inner_of is not Y:
            self._inner, self._inner_of = self._products(Y), Y
        return self._inner

    def _products(self, Y: Floats) -> Floats:
        scaled = self.root[:, None] * self.centred(Y)
        with single_threaded_blas():
            if self.left is not None:
                return np.asarray(self.left.T @ scaled)
            scaled *= self.root[:, None]
            moved = self._summed(scaled) - np.outer(self.mean, scaled.sum(axis=0))
            return np.asarray(self.right.T @ moved)

    def centred(self, Y: Floats) -> Floats:
        """Y minus its means, if there is an intercept."""
        return np.asarray(Y - np.sum(self.shares[:, None] * Y, axis=0))

    def solutions(self, Y: Floats, alphas: Any) -> tuple[Floats, Floats]:
        """Coefficients (A, T, p) and intercepts (A, T) for alphas (A,) or (A, T)."""
        inner = self.inner(Y)
        alphas = np.broadcast_to(alphas.reshape(len(alphas), -1), (len(alphas), Y.shape[1]))
        shrunk = inner[None] / (self.squares[None, :, None] + alphas[:, None, :])
        columns = np.moveaxis(shrunk, 1, 0).reshape(len(self.squares), alphas.size)
        with single_threaded_blas():
            if self.right is not None:
                coefs = self.right @ (self.squares[:, None] * columns)
            else:
                dual = self.root[:, None] * (self.left @ columns)
                coefs = self._summed(dual) - np.outer(self.mean, dual.sum(axis=0))
            coefs = np.ascontiguousarray(coefs.T).reshape(len(alphas), Y.shape[1], self.p)
            means = np.sum(self.shares[:, None] * Y, axis=0)
            return coefs, np.asarray(means - coefs @ self.mean)

    def are_solutions(self, Y: Floats, alphas: Floats, coefs: Floats, b: Floats, tol: float) -> Any:
        """For each alpha > 0 and target, whether the gap is within ``tol`` of the objective.

        The dual point is the residual r. The gap is ‖Xᵀr − αw‖²/2α in units of the objective
        ½ Σ s r² + ½ α‖w‖².
        """
        columns = coefs.reshape(-1, self.p)
        targets, weights = np.tile(Y, (1, len(alphas))), self.root**2

        def of_block(some: slice) -> Floats:
            rest = targets[some] - self.X[some] @ columns.T - b.ravel()
            scaled = weights[some, None] * rest
            return np.vstack([self.X[some].T @ scaled, np.sum(rest * scaled, axis=0)])

        with single_threaded_blas():
            sums = self._added(of_block)
        strength = np.repeat(alphas, Y.shape[1])
        gaps = np.sum((sums[:-1].T - strength[:, None] * columns) ** 2, axis=1) / (2.0 * strength)
        dual = 0.5 * (sums[-1] + strength * np.sum(columns**2, axis=1)) - gaps
        null = 0.5 * weights @ self.centred(Y) ** 2
        target = tol * np.maximum(dual, LEAST_SHARE * np.tile(null, len(alphas)))
        return (gaps <= target).reshape(len(alphas), -1)

    # --- sums over blocks of rows, which threads share -----------------------------------------

    def blocks(self) -> list[slice]:
        """Rows that are centred at a time."""
        size = max(_BLOCK_NUMBERS // max(self.p, 1), 1)
        return [slice(at, min(at + size, self.n)) for at in range(0, self.n, size)]

    def rows(self, some: slice) -> Floats:
        """Some rows of √s(x − x̄), of dense data; not to be changed."""
        if self._centred is not None:
            return self._centred[some]
        out = np.subtract(self.X[some], self.mean, dtype=np.float64)
        out -= self.rest
        out *= self.root[some, None]
        return np.asarray(out)

    def _summed(self, columns: Floats) -> Floats:
        """Xᵀ columns."""
        if storage.is_sparse(self.X):
            return np.asarray(self.X.T @ columns, dtype=np.float64)
        return self._added(lambda some: columns[some].T @ self.X[some]).T

    def _covariance(self) -> Floats:
        if not storage.is_sparse(self.X):
            return self._added(lambda some: _square(self.rows(some)))
        weighted = self.X.multiply(self.root[:, None] ** 2).tocsr()
        return np.asarray(_dense(self.X.T @ weighted) - self._of_means())

    def _of_means(self) -> Floats:
        return np.asarray(self.total * np.outer(self.mean, self.mean))

    def _gram(self) -> Floats:
        if not storage.is_sparse(self.X):
            return np.asarray(self._products_of_rows)
        products = _dense(self.X @ self.X.T)
        shift = np.asarray(self.X @ self.mean).ravel()
        products += self.mean @ self.mean - shift[:, None] - shift
        return np.asarray(self.root[:, None] * products * self.root)

    def _added(self, of_block: Any) -> Floats:
        """The sum of what ``of_block`` returns, in an order that depends on the data alone."""
        calls = [(some,) for some in self.blocks()]
        total = 0.0
        for first in range(0, len(calls), _BLOCKS_AT_ONCE):
            for part in parallel.together(of_block, calls[first : first + _BLOCKS_AT_ONCE]):
                total = total + part
        return np.asarray(total)


def _square(rows: Floats) -> Floats:
    return np.asarray(rows.T @ rows)


def _dense(products: Any) -> Floats:
    return np.asarray(products.toarray(), dtype=np.float64)
