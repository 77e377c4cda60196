"""The objective of the best model without features: the scale that ``tol`` and relative gaps use.

Without an intercept it is P(0). With an unpenalised intercept it is the minimum over the intercept,
so that adding a constant to y or to X does not change the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import curvature, slope, value
from dualgap.linalg.validate import Floats
from dualgap.losses.offset import own_classes
from dualgap.losses.softmax import Softmax
from dualgap.problem.several_targets import constants_of_targets
from dualgap.proof import terms


@dataclass(frozen=True)
class Tuning:
    """None of these was measured: each is far from where it would matter."""

    accuracy: float = 1e-3  # relative, of the minimum over the intercept; a scale needs no more
    # A minimum below this fraction of P(0) is a rounding error: a constant fits y exactly.
    exact_fit: float = 1e-13
    exact_fit_scale: float = 1e-3  # the scale in that case, as a fraction of P(0)
    # Decision value of a class without weight: its exponential is 0, and it is still finite.
    absent_class: float = -1e3
    doublings: int = 60  # of the stride, until the slope changes its sign: up to a factor 1e18
    halvings: int = 240  # trials inside the bracket, every third of which halves it
    # For the constants of several classes with offsets: a Newton step costs a pass over these.
    newton_steps: int = 50
    settled: float = 1e-20  # of the Newton decrement, whose square root is the error of a slope
    backtracks: int = 50


TUNING = Tuning()
_ACCURACY = TUNING.accuracy  # kernels read module-level names
_DOUBLINGS, _HALVINGS = TUNING.doublings, TUNING.halvings
_STRETCH = 256  # samples


def null_objective(problem: Any) -> float:
    """The scale, counted from the least that losses and penalty can be."""
    with np.errstate(over="ignore"):
        scale = float(problem.value_at_origin - problem.floor)
    if problem.intercept is True:
        if problem.offset is not None and problem.n_targets == 1:
            # It may be so far from 0 that P(0) overflows.
            y, zeros, none = problem.plain_y, np.zeros(problem.dual_size), np.empty(0)
            points = problem.given_loss, y, problem.c, zeros, zeros
            sums = terms.sample_terms(*points, terms.no_error, none, problem.width)
            scale = min(scale, sums.values + problem.origin_value - problem.floor)
        if problem.n_targets > 1:
            found = constants_of_targets(problem)[0]
        else:
            found = _of_classes(problem) if problem.width > 1 else problem.best_constant[0]
        scale = above_null(found, scale)
    return above_rounding(scale, problem.floor)


def above_null(found: float, zero: float) -> float:
    """The scale, if the best constant reaches ``found`` and zero coefficients reach ``zero``."""
    return float(
        min(found, zero) if found > TUNING.exact_fit * zero else TUNING.exact_fit_scale * zero
    )


def above_rounding(scale: float, floor: float) -> float:
    """The scale, or a larger one if it is lost in the rounding errors of the least loss: these
    bound how well a difference of objectives can be known."""
    least = abs(floor)
    return float(scale if scale > TUNING.exact_fit * least else TUNING.exact_fit_scale * least)


def origin(problem: Any) -> Floats:
    """The coefficients of that model; for several classes those of P(0).

    The intercept of a class without weight has no optimum, because it can fall for ever. It starts
    where the class has no share left, so that the others are fitted as if the class did not exist.
    """
    w = problem.features.origin.copy()
    if problem.intercept is True and problem.n_targets > 1:
        w[-problem.width :] = constants_of_targets(problem)[1]
    elif problem.intercept is True and problem.width == 1:
        w[-1] = problem.best_constant[1]
    elif problem.intercept is True:
        w[-problem.width :][problem.classes_without_weight] = TUNING.absent_class
    return np.asarray(w)


def _of_classes(problem: Any) -> float:
    if type(problem.given_loss) is not Softmax:
        return np.inf
    return _objective(problem, np.tile(problem.best_constants, problem.n))


def best_constants(problem: Any) -> Floats:
    """The decision values of the best constant softmax model, up to the offsets."""
    shares = class_shares(problem)
    best = best_logits(shares)
    if problem.offset is None:
        return best
    some = np.flatnonzero(shares > 0.0)
    offset, c, b = problem.offset[:, some], problem.c[:, None], np.zeros(len(some))
    value, slope, hessian = _softmax_at(b, offset, c, shares[some])
    for _ in range(TUNING.newton_steps):
        move = -np.linalg.pinv(hessian) @ slope  # constants can be added to all classes
        decrement, length = -float(slope @ move), 1.0
        if decrement <= TUNING.settled:
            break
        for _ in range(TUNING.backtracks):
            found = _softmax_at(b + length * move, offset, c, shares[some])
            if found[0] <= value - 1e-4 * length * decrement:
                break
            length *= 0.5
        else:
            break
        b, (value, slope, hessian) = b + length * move, found
    best[some] = b
    return best


def _softmax_at(b: Floats, offset: Floats, c: Floats, shares: Floats) -> tuple[float, Any, Any]:
    """Σ c log Σ_k exp(b_k + o_k) − Σ_k share_k b_k, its gradient and its Hessian."""
    z = offset + b
    top = z.max(axis=1, keepdims=True)
    odds = np.exp(z - top)
    total = odds.sum(axis=1, keepdims=True)
    odds /= total
    weighted = c * odds
    slope = weighted.sum(axis=0)
    value = float(np.sum(c * (top + np.log(total))) - shares @ b)
    return value, slope - shares, np.diag(slope) - weighted.T @ odds


def best_logits(shares: Floats) -> Floats:
    """The decision values of the best constant softmax model, for the weight of each class."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(shares), TUNING.absent_class)


def class_shares(problem: Any) -> Floats:
    """The weight of each class."""
    return np.asarray(np.bincount(own_classes(problem.y), problem.c, problem.width))


def best_constant(problem: Any) -> tuple[float, float]:
    """The minimum over b of Σ c φ(b), counted from the scale's zero, and b."""
    y, c = problem.distinct_terms
    offset = problem.origin_value - problem.floor
    if problem.loss.quadratic:
        return _of_quadratic(problem.loss, y, c, offset)
    return _best_constant(problem.loss, y, c, offset, _stride(problem))


@kernel
def _of_quadratic(loss: Any, y: Any, c: Any, offset: float) -> tuple[float, float]:
    """By one Newton step."""
    steep, bend, total = 0.0, 0.0, 0.0
    share = np.empty(_STRETCH)
    for turn in range(2):
        at = -steep / bend if turn else 0.0
        for first in range(0, len(y), _STRETCH):
            y_now, c_now = y[first : first + _STRETCH], c[first : first + _STRETCH]
            # A copy, since loops over strides of 0 have no vector instructions.
            for k in range(len(y_now)):
                share[k] = c_now[k]
            if turn:
                for k in range(len(y_now)):
                    total += share[k] * value(loss, at, y_now[k])
            else:
                for k in range(len(y_now)):
                    steep += share[k] * slope(loss, 0.0, y_now[k])
                    bend += share[k] * curvature(loss, 0.0, y_now[k])
    return total + offset, -steep / bend


@kernel
def _best_constant(loss: Any, y: Any, c: Any, offset: float, stride: float) -> tuple[float, float]:
    """By false position on the slope, which never falls."""
    at_zero, best, best_value = 0.0, 0.0, np.inf
    for i in range(len(y)):
        at_zero += c[i] * slope(loss, 0.0, y[i])
    near, far = 0.0, -math.copysign(stride, at_zero)
    at_near, at_far = at_zero, at_zero
    if at_zero == 0.0:  # 0 is a minimum, and the slopes next to it may be 0 as well
        best_value = offset
        for i in range(len(y)):
            best_value += c[i] * value(loss, 0.0, y[i])
        return best_value, 0.0
    for _ in range(_DOUBLINGS):
        at_far = 0.0
        for i in range(len(y)):
            at_far += c[i] * slope(loss, far, y[i])
        if at_far * at_zero <= 0.0:
            break
        near, at_near, far = far, at_far, 2.0 * far
    for turn in range(_HALVINGS):
        middle = 0.5 * (near + far)
        chord = near - at_near * (far - near) / (at_far - at_near)
        if turn % 3 != 2 and abs(chord) < math.inf:
            middle = chord
        at_middle, total = 0.0, 0.0
        for i in range(len(y)):
            at_middle += c[i] * slope(loss, middle, y[i])
            total += c[i] * value(loss, middle, y[i])
        total += offset
        if total < best_value:
            best, best_value = middle, total
        enough = _ACCURACY * best_value
        if abs(at_middle * (far - near)) <= enough < math.inf:  # no more can be gained
            break
        if at_middle * at_zero > 0.0:
            near, at_near = middle, at_middle
        else:
            far, at_far = middle, at_middle
    return best_value, best


def _objective(problem: Any, z: Any) -> float:
    with np.errstate(over="ignore"):
        return float(problem.loss_value(z) + problem.origin_value - problem.floor)


def slope_at(problem: Any, b: float) -> float:
    """The derivative of Σ c φ(b)."""
    a = np.empty(problem.n)
    terms.slopes(problem.loss, problem.y, np.full(problem.n, b), a)
    return -float(np.sum(problem.c * a))


def _stride(problem: Any) -> float:
    if problem.targets.labels or not problem.targets.on_scale_of_y:
        return 1.0
    return float(np.sum(problem.c * np.abs(problem.y))) or 1.0


@kernel
def mean_residuals(y: Any, c: Any, z: Any) -> tuple[float, float]:
    """The weighted means of residuals and of their sizes."""
    mean, size = 0.0, 0.0
    for i in range(len(y)):
        part = c[i] * (y[i] - z[i])
        mean, size = mean + part, size + abs(part)
    return mean, size
