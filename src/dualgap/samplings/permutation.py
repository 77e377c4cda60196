"""A fresh permutation each epoch, as in liblinear: every coordinate once. Epoch O(nnz)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.samplings.base import Sampling
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class Permutation(Sampling):
    """p_i = 1/n, without replacement inside an epoch."""

    independent = False

    def weights(self, scores: Scores) -> Floats:
        return np.ones_like(scores.residue)

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Any:
        return rng.permutation(len(weights))[:count]
