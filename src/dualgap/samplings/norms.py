"""By norm, half and half with uniform: the sampling of weighted SPDC. Epoch O(nnz + n)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap._validate import Floats
from dualgap.samplings.base import Sampling
from dualgap.scores import Scores


@dataclass(frozen=True)
class Norms(Sampling):
    """p_i = 1/(2n) + ‖x_i‖/(2Σ‖x‖), samples times their weights (Zhang, Xiao 2015, Algorithm 2)."""

    def weights(self, scores: Scores) -> Floats:
        lengths = np.sqrt(scores.curvature)
        mean = float(lengths.mean())
        return np.asarray(0.5 + 0.5 * lengths / mean) if mean > 0.0 else np.ones_like(lengths)
