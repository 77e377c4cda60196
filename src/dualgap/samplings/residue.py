"""AdaSDCA: by residue, at each step. O(nnz) a step: for study, not for use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.samplings.base import Refresh, Sampling, StepRule
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class Residue(Sampling):
    """p_i ∝ |κ_i|·√(curvature_i + strength_i), in the dual view |κ_i|·√(v_i + nλγ).

    Csiba et al. 2015, (14): the distribution with the largest guaranteed ascent.
    """

    refresh: Refresh = "step"

    def weights(self, scores: Scores) -> Floats:
        return np.asarray(scores.residue * np.sqrt(scores.curvature + scores.strength))

    def step_rule(self, scores: Scores) -> StepRule:
        return StepRule(False, np.sqrt(scores.curvature + scores.strength), 0.0)
