"""From a solution to the model that an estimator publishes, with the certificate of that model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap import losses
from dualgap.estimators.least_norm import is_open, least_norm
from dualgap.linalg.validate import Floats
from dualgap.penalties.thresholds import Thresholds
from dualgap.problem import Problem
from dualgap.problem.baseline import mean_residuals
from dualgap.problem.intercept import joined, split
from dualgap.problem.ordinal import exact_thresholds
from dualgap.proof.certificate import Certificate
from dualgap.proof.dual_point import DualPoint
from dualgap.proof.prove import find_proof
from dualgap.proof.radius import Radius, radius_later
from dualgap.proof.screening import zeros_later
from dualgap.run.solution import Solution

# A shift of the intercept below this share of its size is rounding: the solution stays as it is,
# and its certificate with it.
_NEGLIGIBLE_SHIFT = 1e-14
_COPIED = 1 << 18  # numbers in X: copying 2 MB takes a tenth of the time that passes for facts take
# Losses that depend on differences of decision values only.
_OF_DIFFERENCES = (losses.Softmax, losses.MulticlassHinge)


class Fit(NamedTuple):
    """A solution, with coefficients in the dtype of X and the certificate of those.

    ``radius`` and ``zeros`` follow from the certificate and are computed when they are asked for.
    """

    solution: Solution
    coef: Any
    intercept: Any
    dual: Floats
    certificate: Certificate
    radius: Callable[[], Radius]
    zeros: Callable[[], Any]


def finish(problem: Problem, solution: Solution) -> Fit:
    """The model that an estimator stores, with its certificate and what follows from it."""
    coef, intercept, known = solution.coef, solution.intercept, solution.proof
    if known is None:
        # The model may differ from the solution, and then needs a certificate of its own.
        w = joined(problem, coef, intercept)
        shown = published(problem, w)
        w = w if shown is None else shown
        known = find_proof(problem, w, problem.flat(solution.dual, "dual", problem.n))
        coef, intercept = split(problem, w)
    proof, dual, w, z, point = known
    if problem.X.dtype != np.float64:
        coef = coef.astype(problem.X.dtype)
        intercept = np.asarray(intercept, dtype=problem.X.dtype)[()]
    solution = solution.without_data()
    later = _of_copy if problem.n * problem.p <= _COPIED and problem.width == 1 else _of_facts
    own = later(problem, w.copy(), dual.copy(), z, point, proof)  # users see the others
    return Fit(solution, coef, intercept, problem.shaped(dual), proof, *own)


def _of_facts(problem: Problem, w: Any, a: Any, z: Any, point: DualPoint, proof: Any) -> Any:
    """``radius`` and ``zeros`` of a fit, from facts that take a pass over X now."""
    radius = radius_later(problem, w, a, z, point.ballast, proof)
    return radius, zeros_later(problem, proof, point)


def _of_copy(problem: Problem, w: Any, a: Any, z: Any, point: DualPoint, proof: Any) -> Any:
    """The same from a copy of small data, which takes less time than those facts."""
    own = problem.own_copy()

    def radius() -> Radius:
        return radius_later(problem.with_data(own), w, a, z, point.ballast, proof)()

    def zeros() -> Any:
        return zeros_later(problem.with_data(own), proof, point)()

    return radius, zeros


def published(problem: Problem, w: Floats, z: Floats | None = None) -> Floats | None:
    """The coefficients that an estimator shows for ``w``; None if they are those.

    They have the dtype of X. Of all models with the same objective value they are the one that
    other libraries find. ``z`` = Xw, if it is known.
    """
    if not _may_differ(problem):
        return None
    coef, intercept = split(problem, w)
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
    if type(problem.given_loss) in _OF_DIFFERENCES:
        if problem.intercept is True:
            # A class without weight has an intercept near −∞, which must not move the others.
            intercept = intercept - np.mean(intercept[~problem.classes_without_weight])
        if problem.features.free.all():
            coef = coef - coef.mean(axis=1, keepdims=True)
    return coef, intercept


def _may_differ(problem: Problem) -> bool:
    return (
        problem.X.dtype != np.float64
        or type(problem.given_loss) in _OF_DIFFERENCES
        or type(problem.feature_penalty) is Thresholds
        or _is_least_squares(problem)
        or is_open(problem)
    )


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
