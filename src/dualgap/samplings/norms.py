"""By norm, half and half with uniform: the sampling of weighted SPDC. Epoch O(nnz + n)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.samplings.base import Sampling
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class Norms(Sampling):
    """p_i = 1/(2n) + ‖x_i‖/(2Σ‖x‖) (Zhang, Xiao 2015, Algorithm 2).

    A sample of weight c counts as √c x: so Theorem 2, which is for equal weights, sees it.
    """

    lengths: Floats | None = field(default=None, repr=False, compare=False)

    def bind(self, problem: Problem) -> Norms:
        return replace(self, lengths=np.sqrt(problem.c * problem.row_squares))

    def weights(self, scores: Scores) -> Floats:
        lengths = np.sqrt(scores.curvature) if self.lengths is None else self.lengths
        mean = float(lengths.mean())
        return np.asarray(0.5 + 0.5 * lengths / mean) if mean > 0.0 else np.ones_like(lengths)
