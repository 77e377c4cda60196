"""Where a run starts: coefficients and dual variables of an earlier one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof import terms


class Start(NamedTuple):
    """``None`` stands for the origin."""

    coef: Floats | None = None
    dual: Floats | None = None


def as_start(problem: Problem, warm_start: Any) -> Start:
    """Accepts a Solution, (coef, intercept, dual), (coef, dual), or coefficients alone."""
    if warm_start is None:
        return Start()
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


def dual_start(problem: Problem, dual: Floats | None) -> Floats:
    """The dual variables to start from: feasible, and final for samples that cannot move w."""
    a = np.zeros(problem.dual_size)
    if dual is not None:
        terms.projections(problem.loss, problem.y, dual, a)
    still = np.flatnonzero((problem.row_squares == 0.0) | (problem.c == 0.0))
    if len(still):
        settled = np.empty(len(still) * problem.width)
        y = storage.read_only(problem.y[still])
        terms.slopes(problem.loss, y, np.zeros(len(settled)), settled)
        a.reshape(problem.n, -1)[still] = settled.reshape(len(still), -1)
    return a


def _useful(problem: Problem, given: Floats) -> Floats | None:
    """The coefficients, moved into the constraint; None when the origin is a better start."""
    coef = np.empty(problem.coef_size)
    terms.projected(problem.penalty, given, coef)
    with np.errstate(over="ignore", invalid="ignore"):
        better = problem.primal(coef) < problem.primal(problem.features.origin)
    return coef if better else None
