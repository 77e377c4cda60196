"""The line search of a set of groups: from a model's minimum to a decrease of the objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.steps.groups.gram_blocks import penalty_of
from dualgap.steps.working_set.line_search import expand, move_to
from dualgap.steps.working_set.tuning import TUNING


def search(run: Any, x: Floats, before: float) -> tuple[float, float]:
    """Move towards x until the objective falls by a share of what the model predicts.

    ``before`` is the sum of losses now. Changes w, z and the slopes and curvatures of a run;
    returns the sum of losses and the length of the step, 1 being all the way.
    """
    problem, model, old = run.problem, run.model, run.w[run.set]
    set_ = model.blocks, model.ids, model.places
    along = np.zeros(problem.n)
    move_to(run.matrix, run.set, x, run.w.copy(), along)
    base = problem.lam * float(penalty_of(*set_, old))
    change = problem.lam * float(penalty_of(*set_, x)) - base
    predicted = change + float(run.r @ along)
    rounding = TUNING.objective_rounding * EPS * (abs(before) + base)
    r, h = np.empty((2, problem.n))
    length = 1.0
    while length > TUNING.shortest_step:
        trial = run.z + length * along
        losses = float(expand(problem.loss, problem.y, problem.c, trial, r, h))
        if losses - before + change <= TUNING.enough_decrease * length * predicted + rounding:
            run.z, run.r, run.h = trial, r, h
            run.w[run.set] = x
            return losses, length
        length *= 0.5
        x = 0.5 * (x + old)
        change = problem.lam * float(penalty_of(*set_, x)) - base
    return before, 0.0
