"""Curvatures and slopes of ordinal regressions, for ``covariance.py``: coefficients and thresholds.

With class k of a sample and u = θ_k − x·w, v = θ_{k−1} − x·w, gap g = θ_k − θ_{k−1},

    −log P = log(1 + e^{−u}) + log(1 + e^{v}) − log(1 − e^{−g}),

whose curvature is observed, not expected: these losses are no exponential family.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import expit

from dualgap.estimators.inference.information import dense_blocks
from dualgap.linalg.validate import Floats


class OrderedSums:
    """What samples add up to at the coefficients ``w`` and ``thresholds``."""

    width = 1

    def __init__(
        self, X: Any, codes: Any, weights: Any, offset: Any, w: Floats, thresholds: Floats
    ) -> None:
        self.X, self.codes = X, codes
        self.p, self.inner = X.shape[1], len(thresholds)
        self.weights = np.ones(X.shape[0]) if weights is None else weights
        self.total = float(np.sum(self.weights))
        z = np.asarray(X @ w) + (0.0 if offset is None else offset)
        ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
        upper, lower = ends[codes + 1] - z, ends[codes] - z
        self.up, self.down = expit(-upper), expit(lower)
        with np.errstate(over="ignore"):
            self.odds = 1.0 / np.expm1(ends[codes + 1] - ends[codes])
        self.centre = np.ravel(np.asarray(self.weights @ X)) / self.total

    def _blocks(self) -> Iterator[tuple[slice, Any, Any, Any, Any]]:
        """Some samples at a time: derivatives of −u and of −v, and by how much the loss grows with
        both; 0 for ends that are infinite."""
        for some, block in dense_blocks(self.X, self.centre):
            own = np.eye(self.inner + 2)[self.codes[some] + 1]  # with the two infinite thresholds
            above = np.column_stack([block, -own[:, 1:-1]])
            below = np.column_stack([block, -np.roll(own, -1, axis=1)[:, 1:-1]])
            odds = self.odds[some]
            yield some, above, below, self.up[some] + odds, -self.down[some] - odds

    def gradient_and_hessian(self) -> tuple[Any, Any]:
        size = self.p + self.inner
        gradient, hessian = np.zeros(size), np.zeros((size, size))
        for some, above, below, of_above, of_below in self._blocks():
            s, odds = self.weights[some], self.odds[some]
            gradient += above.T @ (s * of_above) + below.T @ (s * of_below)
            up, down = self.up[some], self.down[some]
            for rows, bend in (
                (above, up * (1.0 - up)),
                (below, down * (1.0 - down)),
                (above - below, odds * (1.0 + odds)),
            ):
                hessian += (rows * (s * bend)[:, None]).T @ rows
        return gradient, hessian

    def products_of_slopes(self, factors: Any) -> Any:
        """Σ s f² g gᵀ, with the slopes g of samples."""
        found: Any = 0.0
        for some, scores in self._scores():
            found = found + (scores * (self.weights[some] * factors[some] ** 2)[:, None]).T @ scores
        return found

    def products_of_clusters(self, clusters: Any, count: int) -> Any:
        """Σ_c g gᵀ, where g is the sum of s times the slopes of the samples of cluster c."""
        sums = np.zeros((count, self.p + self.inner))
        for some, scores in self._scores():
            np.add.at(sums, clusters[some], scores * self.weights[some, None])
        return sums.T @ sums

    def _scores(self) -> Iterator[tuple[slice, Any]]:
        for some, above, below, of_above, of_below in self._blocks():
            yield some, above * of_above[:, None] + below * of_below[:, None]

    def centred(self, w: Floats) -> Floats:
        """The same model for centred features."""
        w = w.copy()
        w[self.p :] -= self.centre @ w[: self.p]
        return w

    def uncentred(self) -> Any:
        """From coefficients of centred features to those of the user: thresholds move."""
        back = np.eye(self.p + self.inner)
        back[self.p :, : self.p] = self.centre
        return back
