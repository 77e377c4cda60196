"""Folds of samples in partitions: drawn by number, so that they do not depend on the partitions.

To leave samples out, a fit gives them the weight 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats


class Folds(NamedTuple):
    """How samples are drawn; ``first``: the number of the first one of each partition."""

    total: int
    seed: int
    first: tuple[int, ...]

    def of_partition(self, k: int, n: int) -> Any:
        """The fold of each of the n samples of partition k."""
        bits = np.random.PCG64(self.seed)
        bits.advance(self.first[k])
        return (np.random.Generator(bits).random(n) * self.total).astype(np.int64)


class Fold(NamedTuple):
    """One of the folds."""

    folds: Folds
    number: int

    def training_weights(self, k: int, n: int, weights: Floats | None) -> Floats:
        """The weights of the samples of partition k: 0 in this fold."""
        return self._weights(self.folds.of_partition(k, n) != self.number, weights)

    def test_weights(self, k: int, n: int, weights: Floats | None) -> Floats:
        """The weights of the samples of partition k: 0 outside of this fold."""
        return self._weights(self.folds.of_partition(k, n) == self.number, weights)

    def _weights(self, chosen: Any, weights: Floats | None) -> Floats:
        return np.where(chosen, 1.0 if weights is None else weights, 0.0)
