"""ASDCA: accelerated mini-batch SDCA (Shalev-Shwartz, Zhang 2013), for an L2 penalty.

Iteration, for a set S of m samples, all equally likely, with ū = u at the start:
    look = (1 − θ)w + θū;   a_i ← (1 − θ)a_i − θφ'(x_i·look)  for i in S;   w ← (1 − θ)w + θu
    θ = ¼ min{1, √(r/m), r, r^⅔/m^⅓},   r = γ/max q_i,  which is γλn for samples of norm 1
Rate: the expected gap falls by 1 − θm/n. In passes over the data that is no faster than SDCA, but
batches of up to 1/r samples, which threads can share, cost no more passes than single ones.
Cost of an iteration: O(entries of the rows in S), as in Quartz.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.penalties.structure import is_half_square
from dualgap.problem import Problem
from dualgap.samplings import Full, TauNice, Uniform
from dualgap.steps.base import Setting, Start, Step, multiclass_refusal
from dualgap.steps.sets.batch import DualAverages
from dualgap.steps.sets.quartz import AverageRun, rate_refusal
from dualgap.steps.sets.sampling_facts import sampling_facts


@dataclass(frozen=True)
class ASDCA(Step):
    """Accelerated mini-batch SDCA; the size of a batch is that of ``TauNice``."""

    usual = "asdca"

    def refusal(self, problem: Problem) -> str | None:
        if not is_half_square(problem.penalty):
            return "the penalty is not L2"
        return multiclass_refusal(problem) or rate_refusal(problem)

    def sampling_refusal(self, sampling: Any) -> str | None:
        if isinstance(sampling, (Uniform, TauNice, Full)):
            return None
        return (
            f"its batches are those of Uniform, TauNice or Full, not of {type(sampling).__name__}"
        )

    def describe(self, problem: Problem) -> str:
        return "accelerated dual averages on batches of samples"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> AverageRun:
        known = sampling_facts(problem, setting.sampling)
        m = problem.n * known.p[0]
        hardest = float(np.max(problem.c * problem.row_squares)) / problem.lam
        ratio = problem.loss.gamma / hardest if hardest > 0.0 else np.inf
        pace = 0.25 * min(1.0, (ratio / m) ** 0.5, ratio, ratio ** (2 / 3) / m ** (1 / 3))
        run = AverageRun(problem, known.scores, setting.n_threads, warm)
        paces, scale = np.full(problem.n, pace), problem.c / problem.lam
        run.samples = DualAverages(problem.loss, problem.y, paces, scale, run.a)
        run.average(pace, lag=1, current=False)
        return run
