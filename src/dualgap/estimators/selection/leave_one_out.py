"""Leave-one-out residuals of ridge regression, exact and in closed form, for many alphas at once.

With weights s and an unpenalised intercept the fit is a smoother: in the coordinates √s·(x − x̄),
√s·(y − ȳ) it is  H = U diag(σ²/(σ² + α)) Uᵀ  plus the projection on √s, from the singular values σ
and left vectors U of the centred data. The residual of a sample that was left out of the fit is
(y_i − ŷ_i)/(1 − H_ii). Both are computed from I − H, whose eigenvalues α/(σ² + α) involve no
cancellation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats

# Rows of U that are formed at a time for sparse data: bounds the memory. Not measured.
_BLOCK_ROWS = 4096


class LeaveOneOut:
    """The decomposition of the data; ``residuals`` is then cheap for each alpha.

    Sparse X is never made dense: it is decomposed through X Xᵀ or XᵀX, whichever is smaller.
    """

    def __init__(self, X: Any, weights: Floats, intercept: bool) -> None:
        self.X, self.root = X, np.sqrt(weights)
        self.n, d = X.shape
        self.shares = weights / weights.sum() if intercept else np.zeros(self.n)
        self.mean = np.asarray(X.T @ self.shares, dtype=np.float64).ravel()
        self.left: Floats | None = None
        if not storage.is_sparse(X):
            centred = self.root[:, None] * (X - self.mean)
            basis, sizes, _ = np.linalg.svd(centred, full_matrices=False)
        else:
            self.X = X.tocsr()
            basis, sizes = _eigen(self._gram() if self.n <= d else self._covariance())
        rounding = max(self.n, d) * EPS
        if storage.is_sparse(X):
            rounding = np.sqrt(rounding)  # the eigenvalues are the squares
        used = sizes > rounding * sizes.max(initial=0.0)
        self.squares = sizes[used] ** 2
        if len(basis) == self.n:
            self.left = basis[:, used]
        else:
            self.right = basis[:, used] / sizes[used]
        # With as many directions as samples, the remainder is rounding errors only.
        self.complete = len(self.squares) + int(intercept) >= np.count_nonzero(weights)

    def residuals(self, Y: Floats, alpha: float) -> Floats:
        """y_i minus its prediction by the model fitted without sample i; Y is (n, targets)."""
        centred = Y - self.shares @ Y
        scaled = self.root[:, None] * centred
        inner = sum(U.T @ scaled[rows] for rows, U in self._blocks())
        taken = alpha / (self.squares + alpha)
        residual, room = np.empty(Y.shape), np.empty(self.n)
        for rows, U in self._blocks():
            residual[rows] = (U * taken) @ inner
            room[rows] = (U * U) @ taken
            if not self.complete:
                residual[rows] += scaled[rows] - U @ inner
                room[rows] += np.maximum(1.0 - self.shares[rows] - np.sum(U * U, axis=1), 0.0)
        none = self.root == 0.0
        out = residual / np.where(none, 1.0, self.root * room)[:, None]
        if none.any():
            out[none] = centred[none] - self._predictions(inner, alpha)[none]
        return np.asarray(out)

    def _predictions(self, inner: Any, alpha: float) -> Floats:
        """Predictions of the fit to all samples, minus their mean."""
        shrunk = inner / (self.squares + alpha)[:, None]
        dual = np.concatenate([U @ shrunk for _, U in self._blocks()]) * self.root[:, None]
        coef = self.X.T @ dual - np.outer(self.mean, dual.sum(axis=0))
        return np.asarray(self.X @ coef - self.mean @ coef)

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """U, in blocks of rows."""
        if self.left is not None:
            yield slice(0, self.n), self.left
            return
        offset = self.mean @ self.right
        for start in range(0, self.n, _BLOCK_ROWS):
            rows = slice(start, min(start + _BLOCK_ROWS, self.n))
            yield rows, self.root[rows, None] * (self.X[rows] @ self.right - offset)

    def _gram(self) -> Floats:
        products = _dense(self.X @ self.X.T)
        shift = np.asarray(self.X @ self.mean).ravel()
        products += self.mean @ self.mean - shift[:, None] - shift
        return np.asarray(self.root[:, None] * products * self.root)

    def _covariance(self) -> Floats:
        weighted = self.X.multiply(self.root[:, None] ** 2).tocsr()
        total = float(np.sum(self.root**2))
        return np.asarray(_dense(self.X.T @ weighted) - total * np.outer(self.mean, self.mean))


def _dense(products: Any) -> Floats:
    return np.asarray(products.toarray(), dtype=np.float64)


def _eigen(gram: Floats) -> tuple[Floats, Floats]:
    """Eigenvectors, and the roots of the eigenvalues."""
    values, vectors = np.linalg.eigh(gram)
    return vectors, np.sqrt(np.maximum(values, 0.0))
