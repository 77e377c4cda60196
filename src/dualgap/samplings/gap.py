"""By the coordinates' parts of the gap: at each step for study, once an epoch for use."""

from __future__ import annotations

from dataclasses import dataclass

from dualgap._validate import Floats
from dualgap.samplings.base import Refresh, Sampling
from dualgap.steps.views import Scores


@dataclass(frozen=True)
class AdaGap(Sampling):
    """p_i ∝ Γ_i at each step (Perekrestenko et al. 2017, section 3.2.1). O(nnz) a step."""

    refresh: Refresh = "step"

    def weights(self, scores: Scores) -> Floats:
        return scores.gap


@dataclass(frozen=True)
class GapPerEpoch(AdaGap):
    """p_i ∝ Γ_i at each epoch (Perekrestenko et al. 2017, section 3.4). Epoch O(nnz + n)."""

    refresh: Refresh = "epoch"
