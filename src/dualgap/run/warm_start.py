"""The ``warm_start`` argument of ``solve``, in each of its forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof import terms
from dualgap.steps.base import Start


def as_start(problem: Problem, warm_start: Any) -> Start:
    """Accepts a Solution, (coef, intercept, dual), (coef, dual), or coefficients alone."""
    intercept: Any = 0.0
    dual = None
    if hasattr(warm_start, "coef"):
        coef, intercept = warm_start.coef, getattr(warm_start, "intercept", 0.0)
        dual = getattr(warm_start, "dual", None)
    elif isinstance(warm_start, tuple) and len(warm_start) == 3:
        coef, intercept, dual = warm_start
    elif isinstance(warm_start, tuple) and len(warm_start) == 2:
        coef, dual = warm_start
    else:
        coef = warm_start
    coef = _useful(problem, joined(problem, coef, intercept, "warm_start "))
    if dual is not None:
        return Start(coef, problem.flat(dual, "warm_start dual variables", problem.n))
    if coef is None:
        return Start()
    slopes = np.empty(problem.dual_size)
    terms.slopes(problem.loss, problem.y, problem.decision(coef), slopes)
    return Start(coef, slopes)


def _useful(problem: Problem, given: Floats) -> Floats | None:
    """The coefficients, moved into the constraint; None when the origin is a better start."""
    coef = np.empty(problem.coef_size)
    terms.projected(problem.penalty, given, coef)
    with np.errstate(over="ignore", invalid="ignore"):
        better = problem.primal(coef) < problem.primal(problem.features.origin)
    return coef if better else None
