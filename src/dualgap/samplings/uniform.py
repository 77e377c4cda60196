"""Uniform sampling with replacement: SDCA and Prox-SDCA. Epoch O(nnz)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.samplings.base import Sampling
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class Uniform(Sampling):
    """p_i = 1/n."""

    def weights(self, scores: Scores) -> Floats:
        return np.ones_like(scores.residue)

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Any:
        return rng.integers(len(weights), size=count)
