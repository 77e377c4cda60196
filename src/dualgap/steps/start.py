"""Where a run starts: coefficients and dual variables of an earlier one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap import terms
from dualgap._validate import Floats, finite_vector
from dualgap.problem import Problem


class Start(NamedTuple):
    """``None`` stands for the origin."""

    coef: Floats | None = None
    dual: Floats | None = None


def as_start(problem: Problem, warm_start: Any) -> Start:
    """Accepts a Solution, a (coef, dual) pair, or coefficients alone."""
    if warm_start is None:
        return Start()
    if hasattr(warm_start, "coef"):
        coef, dual = warm_start.coef, warm_start.dual
    elif isinstance(warm_start, tuple) and len(warm_start) == 2:
        coef, dual = warm_start
    else:
        coef, dual = warm_start, None
    coef = finite_vector(coef, "warm_start coefficients", problem.d)
    if dual is not None:
        return Start(coef, finite_vector(dual, "warm_start dual variables", problem.n))
    slopes = np.empty(problem.n)
    terms.slopes(problem.loss, problem.y, problem.decision(coef), slopes)
    return Start(coef, slopes)
