"""Mini-batches: sets of a fixed size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg.validate import Floats, whole
from dualgap.problem import Problem
from dualgap.samplings.base import Sets, SetSampling, metric_squares
from dualgap.samplings.eso import occurrences, tau_nice_factors
from dualgap.samplings.floyd import draw_subsets
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class TauNice(SetSampling):
    """Sets of ``tau`` samples, all equally likely: p_i = τ/n (Qu et al. 2014, section 3.2)."""

    tau: int

    def __post_init__(self) -> None:
        whole(self.tau, "tau", 1)

    def refusal(self, problem: Problem, view: str) -> str | None:
        refusal = super().refusal(problem, view)
        if refusal is None and self.tau > problem.n:
            return f"it has {problem.n} samples, fewer than tau={self.tau}"
        return refusal

    def weights(self, scores: Scores) -> Floats:
        n = len(scores.residue)
        return np.full(n, self.tau / n)

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
        n, sets = len(weights), max(1, round(count / self.tau))
        return Sets(*draw_subsets(n, n, rng.random((sets, 1, self.tau))))

    def eso(self, problem: Problem, weights: Floats) -> Floats:
        """Lemma 6."""
        omega, _ = occurrences(problem, np.zeros(problem.n))
        return metric_squares(problem, tau_nice_factors(omega, problem.n, self.tau))
