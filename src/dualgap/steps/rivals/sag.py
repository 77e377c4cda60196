"""SAG: the stochastic average gradient (Le Roux, Schmidt, Bach 2012), for any smooth loss with L2.

It remembers a slope for each sample, here a_i = −φ'(z_i) as last seen, so that the gradient that
they add up to is λ(w − u). An iteration: a_i ← −φ'(x_i·w), u follows; w ← w − ηλ(w − u). That is an
average at the pace ηλ, so untouched coefficients catch up when they are read, as in Quartz.
η = step/L with L = max_i n c_i‖x_i‖²/γ + λ. Theory knows a rate for step 1/16; 1 is what is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import number
from dualgap.penalties.structure import is_half_square
from dualgap.problem import Problem
from dualgap.samplings.uniform import Uniform
from dualgap.steps.base import Setting, Start, Step
from dualgap.steps.sets.batch import DualAverages
from dualgap.steps.sets.quartz import AverageRun, rate_refusal
from dualgap.steps.sets.sampling_facts import sampling_facts


@dataclass(frozen=True)
class AverageGradient(Step):
    """``step``: the step size, in units of 1/L."""

    step: float = 1.0

    usual = "sag-smooth"

    def __post_init__(self) -> None:
        number(self.step, "step", 0.0, open_low=True)

    def refusal(self, problem: Problem) -> str | None:
        if not is_half_square(problem.penalty):
            return "the penalty is not L2"
        if problem.width > 1:
            return f"the {type(problem.given_loss).__name__} loss has several decision values"
        return rate_refusal(problem)

    def sampling_refusal(self, sampling: Any) -> str | None:
        if isinstance(sampling, Uniform):
            return None
        return "SAG draws samples uniformly: use sampling=Uniform()"

    def describe(self, problem: Problem) -> str:
        return "stochastic average gradient steps"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> AverageRun:
        run = AverageRun(
            problem, sampling_facts(problem, setting.sampling).scores, setting.n_threads, warm
        )
        steepest = problem.n * float(np.max(problem.c * problem.row_squares)) / problem.loss.gamma
        pace = min(self.step * problem.lam / (steepest + problem.lam), 1.0)
        run.samples = DualAverages(
            problem.loss, problem.y, np.ones(problem.n), problem.c / problem.lam, run.a
        )
        run.average(pace, lag=0, current=False)
        return run
