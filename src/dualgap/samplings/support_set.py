"""Uniform over the coordinates that are not yet optimal. O(nnz) a step: for study, not for use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.samplings.base import Refresh, Sampling, StepRule
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class SupportSet(Sampling):
    """p_i = 1/m where κ_i ≠ 0 (Perekrestenko et al. 2017, (16))."""

    refresh: Refresh = "step"

    def weights(self, scores: Scores) -> Floats:
        return np.asarray(scores.residue != 0.0, dtype=np.float64)

    def step_rule(self, scores: Scores) -> StepRule:
        return StepRule(False, np.zeros_like(scores.curvature), 1.0)
