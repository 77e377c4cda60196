"""By each coordinate's share of the gap: at each step (for study) or once an epoch (for use)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, number
from dualgap.samplings.base import Refresh, Sampling, StepRule
from dualgap.samplings.clocks import draw_decaying
from dualgap.samplings.scores import Scores

# The most visits per unresolved coordinate, on average, in an epoch with decay; then gaps are
# recomputed. docs/decisions/coordinate-steps.md has measurements of such epochs, not of this
# number alone.
_VISITS_PER_EPOCH = 30


@dataclass(frozen=True)
class AdaGap(Sampling):
    """p_i ∝ Γ_i at each step (Perekrestenko et al. 2017, section 3.2.1). O(nnz) a step."""

    refresh: Refresh = "step"

    def weights(self, scores: Scores) -> Floats:
        return scores.gap

    def step_rule(self, scores: Scores) -> StepRule:
        return StepRule(True, np.ones_like(scores.gap), 0.0)


@dataclass(frozen=True)
class GapPerEpoch(AdaGap):
    """p_i ∝ Γ_i at each epoch (Perekrestenko et al. 2017, section 3.4). Epoch O(nnz + n).

    With ``m`` > 1 each visit divides a weight by m, as in AdaSDCA+ (``ResidueDecay``), so that an
    epoch goes around the unresolved coordinates instead of staying with the largest gaps; it ends
    early when few are left. Epoch O(nnz + n log n).
    """

    refresh: Refresh = "epoch"
    m: float = 1.0

    def __post_init__(self) -> None:
        number(self.m, "m", 1.0, 1e100)

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Any:
        if self.m == 1.0:
            return super().draw(weights, count, rng)
        count = min(count, _VISITS_PER_EPOCH * int(np.count_nonzero(weights)))
        return draw_decaying(weights, count, float(self.m), rng)
