"""Fixed importance sampling. Epoch O(nnz + n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.samplings.base import Sampling
from dualgap.samplings.scores import Scores


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

    def refusal(self, problem: Problem, view: str) -> str | None:
        if view == "dual":
            strong = problem.loss.gamma > 0.0
            bounded = np.isfinite(problem.loss.lipschitz)
            not_strong = "the loss is not smooth"
            not_bounded = f"the slope of the {type(problem.given_loss).__name__} loss has no bound"
        else:
            strong = problem.features.strength.min() > 0.0
            bounded = True  # by the level set of the objective
            not_strong = "the penalty is not strongly convex"
            not_bounded = ""
        if self.kind == "smooth" and not strong:
            return f'{not_strong}, as Importance("smooth") needs'
        if self.kind == "lipschitz" and not bounded:
            return f'{not_bounded}, as Importance("lipschitz") needs'
        return None if strong or bounded else f"{not_strong} and {not_bounded}"

    def weights(self, scores: Scores) -> Floats:
        used = scores.curvature > 0.0
        strong = bool((scores.strength[used] > 0.0).all())
        if self.kind == "smooth" or (self.kind == "auto" and strong):
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(used, 1.0 + scores.curvature / scores.strength, 1.0)
        return np.asarray(np.where(used, scores.lipschitz, 0.0) * np.sqrt(scores.curvature))
