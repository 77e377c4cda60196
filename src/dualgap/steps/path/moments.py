"""Second moments of data and of parts of it, from which least squares follows.

All folds of a cross-validation share one pass over the data for the moments of all samples, and one
over the samples that they leave out, whose moments are subtracted. Dense columns are centred before
they are multiplied; what cancels later is known, and a fold that loses too many digits is refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import parallel, storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.gram import gram
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.steps.path.gram_path import Moments
from dualgap.steps.path.tuning import TUNING

_BLOCKS_AT_ONCE = 8  # of rows whose matrices wait to be added up: bounds their memory
_LEAST_SHARE = 1e-6  # of all weight, that a fold must have for its sums to be differences
_LOST_DIGITS = 1e-9  # of squared errors that follow from moments


class FoldMoments(NamedTuple):
    """The moments of the samples that a fold is fitted to, around their means, and of its test.

    ``mean`` is that of v; ``test`` is None if the test is not the rest of the samples.
    """

    fitted: Moments
    mean: Floats
    test: Floats | None


class DataMoments:
    """The moments Σ s v vᵀ of v = (x − μ, 1, y − ν); with an intercept, μ and ν are close to means
    if X is dense, otherwise 0."""

    def __init__(self, X: Any, y: Any, weights: Floats | None, intercept: bool) -> None:
        self.X: Any = X
        self.n, self.p = int(X.shape[0]), int(X.shape[1])
        self.s = np.ones(self.n) if weights is None else np.asarray(weights, dtype=np.float64)
        self.y = np.asarray(y, dtype=np.float64)
        self.intercept = intercept
        self.x_mean, self.y_mean = np.zeros(self.p), 0.0
        self.sparse = DesignMatrix(X) if storage.is_sparse(X) else None
        if intercept:
            self.y_mean = float(np.mean(self.y))
            if self.sparse is None:
                some = np.linspace(0, self.n - 1, min(self.n, TUNING.rows_of_mean)).astype(np.int64)
                self.x_mean = np.mean(X[some], axis=0, dtype=np.float64)
        self.all = self._of(np.arange(self.n))

    @staticmethod
    def pay(X: Any) -> bool:
        """Whether a path on the Gram matrix of all features should be faster than other ways."""
        n, p = X.shape
        if p > TUNING.most_features:
            return False
        return not storage.is_sparse(X) or X.nnz <= TUNING.sparse_passes * n

    def of_fold(self, train: Any, test: Any) -> FoldMoments | None:
        """The moments of a fold; None if too many digits are lost."""
        train, test = (np.arange(self.n)[places] for places in (train, test))
        outside = np.ones(self.n, np.bool_)
        outside[train] = False
        out = np.flatnonzero(outside)
        with np.errstate(over="ignore", invalid="ignore"):
            if len(np.unique(train)) == len(train) and len(out) <= len(train):
                left_out = self._of(out)
                own = self.all - left_out
                tested = left_out if np.array_equal(out, np.sort(test)) else None
            else:
                own, tested = self._of(train), None
            fitted = self._centred(own, train)
        if fitted is None:
            return None
        moments, mean = fitted
        return FoldMoments(moments, mean, tested)

    def intercepts(self, fold: FoldMoments, coefs: Floats) -> Floats:
        """The best intercept for each row of coefficients."""
        return np.asarray(self.y_mean - coefs @ self.x_mean + self._inner(fold, coefs))

    def _inner(self, fold: FoldMoments, coefs: Floats) -> Floats:
        """The intercepts for x − μ and y − ν."""
        return np.asarray(fold.mean[self.p + 1] - coefs @ fold.mean[: self.p])

    def squared_errors(self, fold: FoldMoments, coefs: Floats) -> Floats | None:
        """The mean squared error of the test for each row of coefficients, from its moments; None
        if too many digits would be lost."""
        if fold.test is None:
            return None
        inner = self._inner(fold, coefs)
        vectors = np.column_stack([coefs, inner, np.full(len(coefs), -1.0)])
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.einsum("kj,kj->k", vectors @ fold.test, vectors)
            sizes = (np.abs(vectors) @ np.sqrt(np.diagonal(fold.test))) ** 2
        if not (TUNING.rounding * EPS * sizes <= _LOST_DIGITS * sums).all():
            return None
        return np.asarray(sums / fold.test[self.p, self.p])

    # --- sums ----------------------------------------------------------------------------------

    def _of(self, places: Any) -> Floats:
        """The moments of some samples, in any order, which may occur repeatedly."""
        if self.sparse is not None:
            return self._of_sparse(self.sparse, places)
        size = max(TUNING.block_numbers // (self.p + 2), 1)
        parts = [places[first : first + size] for first in range(0, len(places), size)]
        total = np.zeros((self.p + 2, self.p + 2))
        with single_threaded_blas():
            for first in range(0, len(parts), _BLOCKS_AT_ONCE):
                some = [(part,) for part in parts[first : first + _BLOCKS_AT_ONCE]]
                for block in parallel.together(self._of_block, some):
                    total += block
        return total

    def _of_block(self, places: Any) -> Floats:
        neighbours = bool((np.diff(places) == 1).all())
        rows = slice(places[0], places[-1] + 1) if neighbours else places  # a slice is no copy
        block = np.empty((len(places), self.p + 2))
        np.subtract(self.X[rows], self.x_mean, out=block[:, : self.p])
        block[:, self.p] = 1.0
        np.subtract(self.y[rows], self.y_mean, out=block[:, self.p + 1])
        block *= np.sqrt(self.s[rows])[:, None]
        return np.asarray(block.T @ block)  # half the work: BLAS sees that both factors are one

    def _of_sparse(self, data: DesignMatrix, places: Any) -> Floats:
        weights = self.s * np.bincount(places, minlength=self.n)
        y = self.y - self.y_mean
        out = np.empty((self.p + 2, self.p + 2))
        out[: self.p, : self.p] = gram(data, weights)
        for k, column in ((self.p, np.ones(self.n)), (self.p + 1, y)):
            out[k, : self.p] = out[: self.p, k] = data.summed(weights * column, 1)
            out[k, self.p] = out[self.p, k] = np.sum(weights * column)
        out[self.p + 1, self.p + 1] = np.sum(weights * y * y)
        return out

    # --- from sums to moments ------------------------------------------------------------------

    def _centred(self, sums: Floats, train: Any) -> tuple[Moments, Floats] | None:
        """The moments around the means of these samples, and those means."""
        weight = sums[self.p, self.p]
        if weight <= _LEAST_SHARE * self.all[self.p, self.p]:
            return None  # next to nothing is left of sums that lose as many digits
        own = sums / weight
        mean = own[:, self.p].copy() if self.intercept else np.zeros(self.p + 2)
        if self.intercept:
            own -= np.outer(mean, mean)
        # What was subtracted was once as large as this.
        sizes = np.sqrt(np.diagonal(self.all) / weight)
        variances = np.diagonal(own)[: self.p]
        if not own[self.p + 1, self.p + 1] > TUNING.least_variance * sizes[self.p + 1] ** 2:
            return None  # of y: as above
        lost = np.flatnonzero(~(variances > TUNING.least_variance * sizes[: self.p] ** 2))
        if len(lost):
            if not self._are_constant(train, lost):
                return None
            own[lost] = 0.0
            own[:, lost] = 0.0
        gram, pull = own[: self.p, : self.p], own[: self.p, self.p + 1]
        square = max(float(own[self.p + 1, self.p + 1]), 0.0)
        return (
            Moments(
                np.ascontiguousarray(gram),
                np.ascontiguousarray(pull),
                square,
                np.ascontiguousarray(sizes[: self.p]),
                float(sizes[self.p + 1]),
            ),
            mean,
        )

    def _are_constant(self, train: Any, columns: Any) -> bool:
        """Whether the intercept can replace these columns; without one, whether they are 0."""
        used = train[self.s[train] > 0.0]
        own = self.X[used][:, columns]
        low, high = own.min(axis=0), own.max(axis=0)
        if storage.is_sparse(own):
            low, high = low.toarray().ravel(), high.toarray().ravel()
        if self.intercept:
            return bool((low == high).all())
        return bool((low == 0.0).all() and (high == 0.0).all())
