"""By residue and norm. O(nnz) a step: for study, not for use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.samplings.base import Refresh, Sampling, StepRule
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class Adaptive(Sampling):
    """p_i ∝ |κ_i|·‖a_i‖ (Perekrestenko et al. 2017, (17))."""

    refresh: Refresh = "step"

    def weights(self, scores: Scores) -> Floats:
        return np.asarray(scores.residue * np.sqrt(scores.curvature))

    def step_rule(self, scores: Scores) -> StepRule:
        return StepRule(False, np.sqrt(scores.curvature), 0.0)
