"""The rows of data that all folds read, and the products with them that Newton steps are made of.

Vectors of features have axes (features, models, decision values), those of samples (samples,
models, decision values). With ``ones`` there is one more feature, which is 1 for all samples.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.gram import gram
from dualgap.linalg.validate import Floats

# Numbers of a block of weighted rows: 2 MB, which caches hold.
_BLOCK_NUMBERS = 1 << 18


class DenseRows:
    """An array, which has the column of ones."""

    def __init__(self, rows: Floats) -> None:
        self.rows = rows
        self.n, self.size = rows.shape

    @cached_property
    def _squares(self) -> Floats:
        return self.rows * self.rows

    def times(self, w: Floats) -> Floats:
        """X w."""
        return (self.rows @ w.reshape(self.size, -1)).reshape(self.n, *w.shape[1:])

    def pulled(self, v: Floats) -> Floats:
        """Xᵀ v."""
        return (self.rows.T @ v.reshape(self.n, -1)).reshape(self.size, *v.shape[1:])

    def squared(self, v: Floats) -> Floats:
        """The same with the squares of X."""
        return (self._squares.T @ v.reshape(self.n, -1)).reshape(self.size, *v.shape[1:])

    def grams(self, weights: Floats) -> Floats:
        """Σ weights x xᵀ for weights (samples, models, pairs), with axes (features, models, pairs,
        features)."""
        pairs, size = weights[0].size, self.size
        block = max(_BLOCK_NUMBERS // (pairs * size), 16)
        sums = np.zeros((size, pairs * size))
        for first in range(0, self.n, block):
            some = self.rows[first : first + block]
            scaled = weights[first : first + block].reshape(-1, pairs, 1) * some[:, None, :]
            sums += some.T @ scaled.reshape(len(some), -1)
        return sums.reshape(size, *weights.shape[1:], size)


class SparseRows:
    """A CSR or CSC matrix, to which the ones are added in products."""

    def __init__(self, X: Any, ones: bool) -> None:
        self.X, self.ones = X.astype(np.float64, copy=False), int(ones)
        self.n, self.p = X.shape
        self.size = self.p + self.ones

    @cached_property
    def _turned(self) -> Any:
        return self.X.T

    @cached_property
    def _squares(self) -> Any:
        return self.X.multiply(self.X).tocsr().T

    @cached_property
    def _data(self) -> DesignMatrix:
        return DesignMatrix(self.X)

    def times(self, w: Floats) -> Floats:
        found = np.asarray(self.X @ w[: self.p].reshape(self.p, -1))
        if self.ones:
            found += w[self.p].ravel()
        return found.reshape(self.n, *w.shape[1:])

    def pulled(self, v: Floats) -> Floats:
        return self._with_ones(self._turned, v)

    def squared(self, v: Floats) -> Floats:
        return self._with_ones(self._squares, v)

    def _with_ones(self, turned: Any, v: Floats) -> Floats:
        flat = v.reshape(self.n, -1)
        found = np.empty((self.size, flat.shape[1]))
        found[: self.p] = turned @ flat
        if self.ones:
            found[self.p] = flat.sum(axis=0)
        return found.reshape(self.size, *v.shape[1:])

    def grams(self, weights: Floats) -> Floats:
        found = np.zeros((self.size, *weights.shape[1:], self.size))
        for place in np.ndindex(*weights.shape[1:]):
            own = np.ascontiguousarray(weights[(slice(None), *place)])
            found[(slice(self.p), *place, slice(self.p))] = gram(self._data, own)
        if self.ones:
            border = self.pulled(weights)
            found[..., self.p] = border
            found[self.p] = np.moveaxis(border, 0, -1)
        return found
