"""Samples or features as coordinates: which views fit a problem, which one is better, and why."""

from __future__ import annotations

import numpy as np

from dualgap.linalg import storage
from dualgap.problem import Problem

_UNEVEN = 1e3  # ratio of strong convexities beyond which the primal view is preferred
_COUPLED = 20.0  # condition of the dual problem beyond which a few Newton steps cost less
_HARD = 1e3  # condition of the dual problem beyond which the primal view is preferred
_FEW = 10  # features that proximal-point steps may hold
_HARD_HELD = 30.0  # the same condition, for proximal-point steps that hold a few features


def lacks_for_dual(problem: Problem) -> str | None:
    """What keeps the dual view from a problem; None if nothing does."""
    if problem.least_strength > 0.0:
        return None
    return "the penalty is not strongly convex in every feature (L2 or an elastic net would be)"


def lacks_for_scalars(problem: Problem) -> str | None:
    """What keeps steps with one decision value for each sample from a problem."""
    if problem.width == 1:
        return None
    name = type(problem.loss).__name__
    return f"the {name} loss has a decision value for each class, where this step knows only one"


def lacks_for_primal(problem: Problem) -> str | None:
    """What keeps the primal view from a problem; None if nothing does."""
    if problem.width > 1:
        return f"the {type(problem.loss).__name__} loss has no steps over features"
    if problem.loss.differentiable:
        return None
    return f"the {type(problem.loss).__name__} loss has no derivative at its kink"


def is_coupled(problem: Problem) -> bool:
    """Whether λ is so small for the data that the samples of a dual view are strongly coupled."""
    strengths = problem.strength_range
    if strengths is None or strengths[0] == 0.0:
        return False
    return _condition(problem, strengths[0]) > _COUPLED


def preferred_view(problem: Problem) -> str:
    """The view that should need fewer passes, among those that fit."""
    return _choice(problem)[0]


def why_view(problem: Problem) -> str:
    """The reason for that view, in words."""
    return _choice(problem)[1]


def _choice(problem: Problem) -> tuple[str, str]:
    dual, primal = lacks_for_dual(problem), lacks_for_primal(problem)
    if dual:
        return "primal", f"{dual}, which leaves the features as coordinates"
    if primal:
        return "dual", f"{primal}, which leaves the samples as coordinates"
    if storage.is_on_disk(problem.X):
        return "dual", "X lies on disk by rows"
    # With λ of the order of 1/n the dual view wins, also when there are far more samples than
    # features. But a barely penalised feature slows down every sample; as a feature, only itself.
    strengths = problem.strength_range
    if strengths and strengths[1] > _UNEVEN * strengths[0]:
        return "primal", "some features are barely penalised"
    if problem.loss.gamma == 0.0:
        return "primal", "nothing bounds the curvature of the loss"
    if problem.d <= problem.n and strengths and _condition(problem, strengths[0]) > _HARD:
        return "primal", "lam is so small that samples are strongly coupled"
    return "dual", "the penalty is strongly convex"


def why_hold(problem: Problem) -> str | None:
    """Why to hold a few features by proximal terms rather than take features as coordinates.

    None where that does not pay. Measured with an intercept, L2 and λ = 1/n to 1e-6 on w8a: 3 to 7
    times faster (logistic, squared hinge), as fast with the squared loss; on a9a with λ = 0.1/n,
    a condition of 35, no longer faster.
    """
    if problem.least_strength > 0.0:
        return None
    features = problem.features.strength.reshape(problem.d, -1).min(axis=1)
    held = int(np.sum(features == 0.0))
    rest = features[(features > 0.0) & np.isfinite(features)]
    if not 0 < held <= _FEW or not rest.size or rest.max() > _UNEVEN * rest.min():
        return None
    if problem.loss.gamma == 0.0:
        return None
    if problem.d <= problem.n and _condition(problem, rest.min()) > _HARD_HELD:
        return None
    few = "one feature" if held == 1 else f"{held} features"
    return f"the penalty is strongly convex but for {few}, held by a proximal term"


def _condition(problem: Problem, strength: float) -> float:
    """The mean of q_i/γ, for kinks of q_i: about the passes of uniform dual steps per digit."""
    mean = problem.mean_square / problem.n
    with np.errstate(over="ignore"):
        return float(mean / (problem.lam * strength * (problem.loss.gamma or 1.0)))
