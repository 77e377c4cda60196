"""Fixed importance sampling. Epoch O(nnz + n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dualgap._validate import Floats
from dualgap.samplings.base import Sampling
from dualgap.steps.views import Scores


@dataclass(frozen=True)
class Importance(Sampling):
    """Coordinates that can move the objective more are visited more often.

    "smooth"     p_i ∝ 1 + curvature_i/strength_i, which is v_i + nλγ in the dual view: IProx-SDCA
                 (Csiba et al. 2015 (12), Qu et al. 2014 (32))
    "lipschitz"  p_i ∝ L_i‖a_i‖ (Perekrestenko et al. 2017, section 3.4), for problems that are not
                 strongly convex
    "auto"       "smooth" where it is defined, else "lipschitz"
    """

    kind: Literal["auto", "smooth", "lipschitz"] = "auto"

    def __post_init__(self) -> None:
        if self.kind not in ("auto", "smooth", "lipschitz"):
            raise ValueError(f'kind must be "auto", "smooth" or "lipschitz", not {self.kind!r}')

    def weights(self, scores: Scores) -> Floats:
        used = scores.curvature > 0.0
        strong = bool((scores.strength[used] > 0.0).all())
        if self.kind == "smooth" or (self.kind == "auto" and strong):
            if not strong:
                raise ValueError(
                    'Importance("smooth") needs a strongly convex dual (a smooth loss); use '
                    'Importance("lipschitz"), as in cd-importance'
                )
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(used, 1.0 + scores.curvature / scores.strength, 1.0)
        if not np.isfinite(scores.lipschitz[used]).all():
            raise ValueError(
                'Importance("lipschitz") needs coordinates with a bounded optimum (a loss with a '
                'bounded slope); use Importance("smooth"), as in iprox-sdca'
            )
        return np.where(used, scores.lipschitz, 0.0) * np.sqrt(scores.curvature)
