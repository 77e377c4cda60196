"""The coefficients that an estimator shows, where they are not those that a method has found."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import losses
from dualgap.estimators.least_norm import is_open, least_norm
from dualgap.linalg.validate import Floats
from dualgap.penalties.thresholds import Thresholds
from dualgap.problem import Problem
from dualgap.problem.baseline import mean_residuals
from dualgap.problem.intercept import joined
from dualgap.problem.ordinal import exact_thresholds

# A shift of the intercept below this share of its size is rounding: the solution stays as it is,
# and its certificate with it.
_NEGLIGIBLE_SHIFT = 1e-14
# Losses that depend on differences of decision values only.
OF_DIFFERENCES = (losses.Softmax, losses.MulticlassHinge)


def published(problem: Problem, w: Floats, z: Floats | None = None) -> Floats | None:
    """The coefficients that an estimator shows for ``w``; None if they are those.

    They have the dtype of X. Of all models with the same objective value they are the one that
    other libraries find. ``z`` = Xw, if it is known.
    """
    coef, intercept = problem.split(w)
    shown, best = coef, intercept
    if is_open(problem):
        shown, best = least_norm(problem, shown, best)
    shown, best = centred(problem, shown, best)
    if type(problem.feature_penalty) is Thresholds:
        shown, best = exact_thresholds(problem, shown, best)
    if _is_least_squares(problem):
        best = _balanced(problem, problem.decision(w) if z is None else z, best)
    if shown is coef and best is intercept and problem.X.dtype == np.float64:
        return None
    if problem.X.dtype != np.float64:
        shown = shown.astype(problem.X.dtype).astype(np.float64)
        best = np.asarray(best, problem.X.dtype).astype(np.float64)[()]
    found = joined(problem, shown, best)
    return None if np.array_equal(found, w) else found


def centred(problem: Problem, coef: Any, intercept: Any) -> tuple[Any, Any]:
    """Where a loss depends on differences between classes only, coefficients and intercepts without
    a penalty can move together: here to a mean of 0."""
    if type(problem.given_loss) in OF_DIFFERENCES:
        if problem.intercept is True:
            # A class without weight has an intercept near −∞, which must not move the others.
            intercept = intercept - np.mean(intercept[~problem.classes_without_weight])
        if problem.features.free.all():
            coef = coef - coef.mean(axis=1, keepdims=True)
    return coef, intercept


def _is_least_squares(problem: Problem) -> bool:
    return problem.intercept is True and type(problem.loss) is losses.Squared


def _balanced(problem: Problem, z: Floats, intercept: Any) -> Any:
    """For the squared loss the best intercept given the coefficients, as if X were centred."""
    if problem.n_targets > 1:
        columns = (problem.y - z).reshape(problem.n, -1)
        shifts = problem.c @ columns
        sizes = problem.c @ np.abs(columns) + np.abs(intercept)
        far = np.abs(shifts) > _NEGLIGIBLE_SHIFT * sizes
        return np.where(far, intercept + shifts, intercept) if far.any() else intercept
    shift, size = mean_residuals(problem.y, problem.c, z)
    size += abs(intercept)
    return intercept + shift if abs(shift) > _NEGLIGIBLE_SHIFT * size else intercept
