"""All samples at once, as in a full gradient method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.samplings.base import Sets, SetSampling, metric_squares
from dualgap.samplings.eso import occurrences
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class Full(SetSampling):
    """p_i = 1."""

    def weights(self, scores: Scores) -> Floats:
        return np.ones_like(scores.residue)

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
        n = len(weights)
        sets = max(1, round(count / n))
        return Sets(np.tile(np.arange(n), sets), n * np.arange(sets + 1))

    def eso(self, problem: Problem, weights: Floats) -> Floats:
        """Lemma 6 with τ = n, whose factors are ω_j."""
        return metric_squares(problem, occurrences(problem, np.zeros(problem.n))[0])
