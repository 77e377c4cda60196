"""Columns of free features that stay in X: large sparse data may have a free column for each level
of each category, and dense columns of them would take more memory than X.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, span
from dualgap.linalg.gram import gram
from dualgap.linalg.validate import Floats
from dualgap.proof.tuning import TUNING


class FreeColumns:
    """Columns of X, divided by ``sizes``; a constant feature is the last of them."""

    def __init__(self, data: Any, features: Any, sizes: Floats) -> None:
        self.data, self.features, self.sizes = data, features, sizes

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.n, len(self.features)

    def times(self, t: Floats) -> Floats:
        """X_U t."""
        w = np.zeros(self.data.d)
        w[self.features] = t / self.sizes
        return np.asarray(self.data.times(w, 1))

    def summed(self, v: Floats) -> Floats:
        """X_Uᵀ v."""
        return np.asarray(self.data.summed(v, 1)[self.features] / self.sizes)

    def gram(self, weights: Floats) -> Floats:
        """Σ_i weights_i x_iU x_iUᵀ."""
        own = gram(self.data, weights)[np.ix_(self.features, self.features)]
        return np.asarray(own / np.outer(self.sizes, self.sizes))

    def rows(self, samples: Any) -> Floats:
        """Some rows, dense."""
        own = np.asarray(self.data.X[samples].toarray(), dtype=np.float64)
        if self.data.has_intercept:
            own = np.column_stack([own, np.full(len(own), self.data.constant)])
        return own[:, self.features] / self.sizes

    def far_samples(self, room: Floats) -> Any:
        """Samples among which a ballast is looked for: the one that can move each feature most, and
        some at equal distances."""
        best, samples = np.zeros(self.data.p), np.zeros(self.data.p, np.int64)
        _find_farthest(self.data.stored_rows, room, best, samples)
        stride = -(-self.data.n // TUNING.ballast_sample)
        return np.unique(np.r_[samples[best > 0.0], 0 : self.data.n : stride])


@kernel
def _find_farthest(rows: Any, room: Any, best: Any, samples: Any) -> None:
    for i in range(len(room)):
        start, stop = span(rows, i)
        for t in range(start, stop):
            move, j = room[i] * abs(np.float64(entry(rows, i, t))), place(rows, i, t)
            if move > best[j]:
                best[j] = move
                samples[j] = i
