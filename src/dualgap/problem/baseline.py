"""The objective of the best model without features: what ``tol`` and relative gaps refer to.

Without an intercept that is P(0). With an unpenalised one it is the minimum over the intercept, so
that adding a constant to y, or to X, changes nothing; to a thousandth, which is enough for a scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.losses.softmax import Softmax
from dualgap.proof import terms

_CLOSE = 1e-3
_EXACT, _ROOM = 1e-13, 1e-6  # of P(0): where a constant fits y exactly, rounding needs some room
_NEVER = -1e3  # decision values whose exponentials are 0: those of a class without any weight
_DOUBLINGS, _HALVINGS = 60, 60


def null_objective(problem: Any) -> float:
    """Counted from the least that losses and penalty can be."""
    scale = _objective(problem, problem.decision(problem.features.origin))
    if problem.intercept is True:
        found = _of_classes(problem) if problem.width > 1 else problem.best_constant[0]
        scale = above_null(found, scale)
    return above_rounding(scale, problem.floor)


def above_null(found: float, zero: float) -> float:
    """The scale, if a constant alone gets to ``found`` and zero coefficients to ``zero``."""
    return float(min(found, zero) if found > _EXACT * zero else _ROOM * zero)


def above_rounding(scale: float, floor: float) -> float:
    """The scale, or some room where it is lost in the rounding errors of the least loss: a
    difference of objectives is not known better than these are."""
    least = abs(floor)
    return float(scale if scale > _EXACT * least else _ROOM * least)


def origin(problem: Any) -> Floats:
    """The coefficients of that model; for several classes those of P(0).

    The intercept of a class without any weight has no optimum, but falls for ever: it starts where
    the class has no share left, so that all others are fitted as if it were not there.
    """
    w = problem.features.origin.copy()
    if problem.intercept is True and problem.width == 1:
        w[-1] = problem.best_constant[1]
    elif problem.intercept is True:
        w[-problem.width :][problem.classes_without_weight] = _NEVER
    return np.asarray(w)


def _of_classes(problem: Any) -> float:
    if type(problem.loss) is not Softmax:
        return np.inf
    return _objective(problem, np.tile(best_logits(class_shares(problem)), problem.n))


def best_logits(shares: Floats) -> Floats:
    """The decision values of the best constant softmax model, for the weight of each class."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(shares), _NEVER)


def class_shares(problem: Any) -> Floats:
    """The weight of each class."""
    return np.asarray(np.bincount(problem.y.astype(int), problem.c, problem.width))


def best_constant(problem: Any) -> tuple[float, float]:
    """The minimum over b of Σ c φ(b), and b: convex, by bisection on its slope."""
    slope, stride = slope_at(problem, 0.0), _stride(problem)
    near, far = 0.0, -np.sign(slope) * stride
    for _ in range(_DOUBLINGS):  # until the slope changes its sign
        if slope_at(problem, far) * slope <= 0.0:
            break
        near, far = far, 2.0 * far
    best = (np.inf, 0.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (near + far)
        at = slope_at(problem, middle)
        best = min(best, (_objective(problem, np.full(problem.n, middle)), middle))
        if abs(at * (far - near)) <= _CLOSE * best[0]:  # no more than that can be gained
            break
        near, far = (middle, far) if at * slope > 0.0 else (near, middle)
    return best


def _objective(problem: Any, z: Any) -> float:
    with np.errstate(over="ignore"):
        return float(problem.loss_value(z) + problem.origin_value - problem.floor)


def slope_at(problem: Any, b: float) -> float:
    """The derivative of Σ c φ(b)."""
    a = np.empty(problem.n)
    terms.slopes(problem.loss, problem.y, np.full(problem.n, b), a)
    return -float(np.sum(problem.c * a))


def _stride(problem: Any) -> float:
    if not problem.targets.on_scale_of_y:
        return 1.0
    return float(np.sum(problem.c * np.abs(problem.y))) or 1.0
