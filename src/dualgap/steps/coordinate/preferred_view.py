"""Samples or features as coordinates: which of the two fits a problem better, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg import storage
from dualgap.problem import Problem
from dualgap.steps.base import dual_refusal, primal_refusal


@dataclass(frozen=True)
class Tuning:
    """Where the primal view wins although both fit.

    Otherwise the dual view is preferred: with logistic, squared and smoothed hinge losses it was 5
    to 100 times faster on a9a, mushrooms, w8a and dorothea, also with far more samples than
    features. The thresholds themselves are round numbers; they were not measured one by one.
    """

    # Largest over smallest strong convexity of the penalty: a barely penalised feature slows down
    # every sample, but as a coordinate only itself.
    uneven_strengths: float = 1e3
    # Condition of the dual problem (``dual_condition``): about the passes per digit.
    hard_condition: float = 1e3


TUNING = Tuning()


def preferred_view(problem: Problem) -> str:
    """ "dual" or "primal": the view that should need fewer passes, among those that fit."""
    return _choice(problem)[0]


def reason_view(problem: Problem) -> str:
    """Why that view, in words."""
    return _choice(problem)[1]


def _choice(problem: Problem) -> tuple[str, str]:
    dual, primal = dual_refusal(problem), primal_refusal(problem)
    if dual:
        return "primal", f"{dual}, which leaves the features as coordinates"
    if primal:
        return "dual", f"{primal}, which leaves the samples as coordinates"
    if storage.is_on_disk(problem.X):
        return "dual", "X lies on disk by rows"
    strengths = problem.strength_range
    if strengths and strengths[1] > TUNING.uneven_strengths * strengths[0]:
        return "primal", "some features are barely penalised"
    if problem.loss.gamma == 0.0:
        return "primal", "nothing bounds the curvature of the loss"
    tall = problem.d <= problem.n
    if tall and strengths and dual_condition(problem, strengths[0]) > TUNING.hard_condition:
        return "primal", "lam is so small that samples are strongly coupled"
    return "dual", "the penalty is strongly convex"


def dual_condition(problem: Problem, strength: float) -> float:
    """The mean of q_i/γ, for kinks of q_i: about the passes of uniform dual steps per digit."""
    mean = problem.mean_square / problem.n
    with np.errstate(over="ignore"):
        return float(mean / (problem.lam * strength * (problem.loss.gamma or 1.0)))
