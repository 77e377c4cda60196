"""Mini-batches of partitioned data: some samples of each partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg.validate import Floats, whole
from dualgap.problem import Problem
from dualgap.samplings.base import Sets, SetSampling, metric_squares
from dualgap.samplings.eso import distributed_factors, occurrences, part_size
from dualgap.samplings.floyd import draw_subsets
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class Distributed(SetSampling):
    """``tau`` samples from each of ``c`` partitions of consecutive ones (Qu et al. 2014, 3.4).

    The paper requires that c divides n. If it does not, samples of zeros follow the last one:
    partitions have s = ⌈n/c⌉ samples and p_i = τ/s. Samples of zeros change no sum, and draws
    leave them out.
    """

    c: int
    tau: int = 1

    def __post_init__(self) -> None:
        whole(self.c, "c", 1)
        whole(self.tau, "tau", 1)

    def refusal(self, problem: Problem, view: str) -> str | None:
        refusal = super().refusal(problem, view)
        if refusal is not None:
            return refusal
        if self.c > problem.n:
            return f"it has {problem.n} samples, fewer than c={self.c} partitions"
        size = part_size(problem.n, self.c)
        if self.tau > size:
            return f"each of c={self.c} partitions has {size} samples, fewer than tau={self.tau}"
        return None

    def weights(self, scores: Scores) -> Floats:
        n = len(scores.residue)
        return np.full(n, self.tau / part_size(n, self.c))

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
        n, size = len(weights), part_size(len(weights), self.c)
        sets = max(1, round(count * size / (n * self.tau)))
        return Sets(*draw_subsets(n, size, rng.random((sets, self.c, self.tau))))

    def eso(self, problem: Problem, weights: Floats) -> Floats:
        """Lemma 8."""
        size = part_size(problem.n, self.c)
        omega, active = occurrences(problem, np.arange(problem.n) // size)
        return metric_squares(problem, distributed_factors(omega, active, size, self.tau))
