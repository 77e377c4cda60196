"""All coordinates at once: for steps that draw nothing and pass over all samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap._validate import Floats
from dualgap.samplings.base import Sets, SetSampling
from dualgap.steps.views import Scores


@dataclass(frozen=True)
class Full(SetSampling):
    """p_i = 1: every draw is the set of all coordinates."""

    independent = False

    def weights(self, scores: Scores) -> Floats:
        return np.ones_like(scores.residue)

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
        return Sets(np.arange(len(weights)), np.array([0, len(weights)]))
