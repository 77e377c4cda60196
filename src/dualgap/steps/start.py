"""Where a run starts: coefficients and dual variables of an earlier one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap import terms
from dualgap._validate import LARGEST, Floats, finite_vector
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
        coef, dual = warm_start.coef, getattr(warm_start, "dual", None)
    elif isinstance(warm_start, tuple) and len(warm_start) == 2:
        coef, dual = warm_start
    else:
        coef, dual = warm_start, None
    given = finite_vector(coef, "warm_start coefficients", problem.d)
    coef = np.empty(problem.d)
    terms.projected(problem.penalty, given, coef)
    with np.errstate(over="ignore", invalid="ignore"):
        z = problem.decision(coef)
        if not problem.primal(coef) < LARGEST:
            return Start()  # nothing can be learnt from where the objective overflows
    if dual is not None:
        return Start(coef, finite_vector(dual, "warm_start dual variables", problem.n))
    slopes = np.empty(problem.n)
    terms.slopes(problem.loss, problem.y, z, slopes)
    return Start(coef, slopes)
