"""What the methods that pass over all samples at once have in common: they draw nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair
from dualgap.samplings.full import Full
from dualgap.samplings.scores import Scores
from dualgap.steps.base import Run, Step
from dualgap.steps.requirements import lacks_for_primal, lacks_for_scalars


class FullPass(Step):
    """A step for the primal problem whose update is a pass over the data."""

    def refusal(self, problem: Problem) -> str | None:
        return lacks_for_scalars(problem) or lacks_for_primal(problem)

    def mismatch(self, sampling: Any) -> str | None:
        if isinstance(sampling, Full):
            return None
        return f"it passes over all samples at once, and {type(sampling).__name__} draws some"


class FullPassRun(Run):
    """A run whose coordinates are the samples, of which nothing is chosen."""

    full_pass = True
    needs_sample_gaps = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.size = problem.n
        self.entries = float(problem.entries / self.size)

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        return Scores(*np.broadcast_to(0.0, (5, self.size)))  # ``Full`` looks at none

    def worth(self, products: int) -> tuple[int, float]:
        """Vector operations and updates of so many products with X or Xᵀ."""
        return self.size * products, self.size * products / 2
