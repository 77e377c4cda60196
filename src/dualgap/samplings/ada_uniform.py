"""A mixture of support-set and adaptive sampling. O(nnz) a step: for study, not for use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg.validate import Floats, number
from dualgap.samplings.adaptive import Adaptive
from dualgap.samplings.base import Refresh, Sampling, StepRule
from dualgap.samplings.scores import Scores
from dualgap.samplings.support_set import SupportSet


@dataclass(frozen=True)
class AdaUniform(Sampling):
    """p_i = σ/m + (1 − σ)·adaptive on the support set (Perekrestenko et al. 2017, (18))."""

    sigma: float = 0.5
    refresh: Refresh = "step"

    def __post_init__(self) -> None:
        number(self.sigma, "sigma", 0.0, 1.0)

    def weights(self, scores: Scores) -> Floats:
        support = SupportSet().weights(scores)
        adaptive = Adaptive().weights(scores)
        mixed = self.sigma * support / max(support.sum(), 1.0)
        if adaptive.sum() > 0.0:
            mixed += (1.0 - self.sigma) * adaptive / adaptive.sum()
        return np.asarray(mixed)

    def step_rule(self, scores: Scores) -> StepRule:
        return StepRule(False, np.sqrt(scores.curvature), float(self.sigma))
