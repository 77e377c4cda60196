"""Ridge regression for many alphas and targets by conjugate gradients, all in the same products.

Where X is sparse or has many features, a decomposition takes far longer than some tens of products
with X. The system of each alpha and target is (XᵀSX + α)w = XᵀSy with centred X and y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.estimators.selection.decomposition import Decomposition
from dualgap.linalg import storage
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.proof.goal import LEAST_SHARE


@dataclass(frozen=True)
class Tuning:
    """When this pays, in multiplications of square matrices, and when it ends.

    Measured on sparse data of 2,000 to 20,000 samples and 300 to 3,000 features.
    """

    # Steps, most often.
    steps: float = 40.0
    # A multiplication of a thin matrix, and one of a sparse matrix.
    thin: float = 5.0
    sparse: float = 18.0
    # Eigenvectors of a matrix of m rows take this times m³.
    eigenvectors: float = 6.0
    # Steps after which the general method solves what is left.
    most_steps: int = 300
    # The share of the target that the gap should reach: it is computed from recurrences.
    share: float = 0.3


TUNING = Tuning()


def prefers_gradients(X: Any, systems: int) -> bool:
    """Whether ``systems`` systems take less time than a decomposition."""
    n, p = X.shape
    size = min(n, p)
    if storage.is_sparse(X):
        entries = X.nnz
        products = TUNING.sparse * entries * entries / max(n, p)
        passes = TUNING.sparse * entries
    else:
        entries = n * p
        products, passes = float(entries * size), TUNING.thin * entries
    decomposition = products + TUNING.eigenvectors * float(size) ** 3
    return bool(2.0 * TUNING.steps * systems * passes < decomposition)


class RidgeGradients(Decomposition):
    """Has no decomposition: ``solutions`` come from steps."""

    _multiplies = False
    tol: float = 0.0

    def _decompose(self, least_alpha: float) -> None:
        pass

    def solutions(self, Y: Floats, alphas: Any) -> tuple[Floats, Floats]:
        """Coefficients (A, T, p) and intercepts (A, T) for alphas (A,) or (A, T)."""
        targets, weights = Y.shape[1], self.root[:, None] ** 2
        strength = np.broadcast_to(alphas.reshape(len(alphas), -1), (len(alphas), targets)).ravel()
        centred = self.centred(Y)
        null = np.tile(0.5 * np.sum(weights * centred**2, axis=0), len(alphas))
        with single_threaded_blas():
            pull = np.tile(self._pulled(weights * centred), len(alphas))
            columns = self._solved(pull, strength, null, weights)
            coefs = np.ascontiguousarray(columns.T).reshape(len(alphas), targets, self.p)
        means = np.sum(self.shares[:, None] * Y, axis=0)
        return coefs, np.asarray(means - coefs @ self.mean)

    def _solved(self, pull: Floats, strength: Floats, null: Floats, weights: Floats) -> Floats:
        inverse = 1.0 / (np.maximum(self._sizes(), 0.0)[:, None] + strength)
        w, residual = np.zeros_like(pull), pull.copy()
        ahead = inverse * residual
        direction, size = ahead.copy(), _inner(residual, ahead)
        for step in range(TUNING.most_steps):
            gaps = _inner(residual, residual) / (2.0 * strength)
            objective = null - 0.5 * (_inner(w, pull) + _inner(w, residual))
            targets = TUNING.share * self.tol * np.maximum(objective - gaps, LEAST_SHARE * null)
            # Under a strong penalty zeros may do, but nobody fits a model to get these.
            if step > 0 and (gaps <= targets).all():
                break
            images = self._images(direction)
            product = self._pulled(weights * images) + strength * direction
            bend = _inner(direction, product)
            length = np.divide(size, bend, out=np.zeros_like(size), where=bend > 0.0)
            w += length * direction
            product *= length
            residual -= product
            np.multiply(inverse, residual, out=ahead)
            new = _inner(residual, ahead)
            ratio = np.divide(new, size, out=np.zeros_like(size), where=size > 0.0)
            direction *= ratio
            direction += ahead
            size = new
        return w

    def _images(self, columns: Floats) -> Floats:
        """(X − x̄) columns."""
        if storage.is_sparse(self.X):
            found = self.X @ columns
        else:
            found = np.concatenate([self.X[some] @ columns for some in self.blocks()])
        return np.asarray(found - self.mean @ columns)

    def _pulled(self, columns: Floats) -> Floats:
        """(X − x̄)ᵀ columns."""
        return np.asarray(self._summed(columns) - np.outer(self.mean, columns.sum(axis=0)))

    def _sizes(self) -> Floats:
        """The diagonal of XᵀSX, for centred X, or something near it."""
        weights = self.root**2
        if storage.is_sparse(self.X):
            squares = self.X.multiply(self.X).T @ weights
        else:
            squares = self._added(lambda some: weights[some] @ np.square(self.X[some], dtype=float))
        moved = np.asarray(squares).ravel() - self.total * self.mean**2
        return np.maximum(moved, EPS * np.asarray(squares).ravel())


def _inner(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("jk,jk->k", one, other))
