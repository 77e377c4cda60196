"""Between uniform and gap-wise sampling: the square root evens out large gaps."""

from dataclasses import dataclass

import numpy as np

from dualgap.extend import Sampling


@dataclass(frozen=True)
class SqrtGap(Sampling):
    """p_i ∝ √Γ_i, recomputed at each epoch."""

    refresh: str = "epoch"

    def weights(self, scores):
        return np.sqrt(scores.gap)
