"""Newton steps on augmented Lagrangians in one kernel: ``newton/``, for small dense data.

Stages, steps and line searches are those of ``newton/``, without what pays for large data only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import curvature, dual_step
from dualgap.compile.scalar import EPS
from dualgap.linalg.small_products import summed, times
from dualgap.linalg.validate import SMALLEST
from dualgap.steps.newton.tuning import TUNING
from dualgap.steps.small.gram_kernels import weighted_gram
from dualgap.steps.small.line_search import respond, search
from dualgap.steps.small.model_kernel import minimise
from dualgap.steps.small.worth import (
    coefficient_gap,
    coefficient_rounding,
    fall,
    gap_of_samples,
    multiplier_move,
    objective,
)

# Kernels read module-level names.
_PROBE = TUNING.probe
_BLOCKED, _ABSURD = TUNING.blocked_step, TUNING.absurd_decrease
_LEAST_DAMPING, _MOST_DAMPING, _DAMPING = (
    TUNING.least_damping, TUNING.most_damping, TUNING.damping_factor,
)  # fmt: skip
_STAGE_ACCURACY, _SLOW_STAGE = TUNING.stage_accuracy, TUNING.slow_stage_steps
_NARROWING, _NEGLIGIBLE = TUNING.narrowing, TUNING.negligible


# What is known of z, b and u at w. After a step u may follow from the model alone; then it is
# computed from the data before the next one.
NOTHING, ALL, U_ALONE, U_BY_MODEL = 0.0, 1.0, 2.0, 3.0


class Data(NamedTuple):
    """What stays the same: X by rows, the constant feature, targets, shares, λ, mean squares."""

    X: Any
    constant: float
    y: Any
    c: Any
    lam: float
    mean_squares: Any


class SmallGoal(NamedTuple):
    """What the gap must be: ``tol`` times P − ``least``, at least ``floor``. ``scale``: P(0)."""

    tol: float
    least: float
    floor: float
    scale: float


class State(NamedTuple):
    """What steps change, in place.

    ``a``, ``w``, ``z``, ``b``, ``u``  multipliers of the stage, coefficients, Xw, slopes, their sum
    ``hessian``                        never changes, and is given, if the loss is quadratic
    ``numbers``                        q, its least value, damping, steps of this stage, and what is
                                       known of z, b and u: NOTHING, and so on
    """

    a: Any
    w: Any
    z: Any
    b: Any
    u: Any
    hessian: Any
    numbers: Any


@kernel
def descend(
    loss: Any,
    gamma: float,
    quadratic: Any,
    kinks: Any,
    data: Any,
    shape: Any,
    is_kinked: bool,
    state: Any,
    goal: Any,
    most: int,
) -> tuple[int, int]:
    """Make at most so many steps. Returns how many, and 1 if the gap should be small enough, −1 if
    more steps would be of no use, else 0: a call for each step leads to the same bits.

    ``quadratic`` and ``kinks`` are True where the loss is or has that, else None: what they rule
    out is not compiled, for a quadratic loss half of the seconds.
    """
    a, w, z, b, u, hessian, numbers = state
    n, d = len(data.y), len(w)
    aim, direction = np.empty(d), np.empty(d)
    along, next_z, next_b, h = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    if numbers[4] != U_ALONE or most == 0:
        _complete(loss, kinks, data, state)
    for done in range(1, most + 1):
        q = numbers[0]
        if quadratic is None:
            _curvatures(loss, kinks, data.y, data.c, z, a, q, h)
            weighted_gram(data.X, data.constant, h, hessian)
        decrement = _find_aim(data, shape, is_kinked, state, gamma + q, goal.scale, aim, direction)
        length = 0.0
        if quadratic is not None and decrement > 0.0:  # its model is exact, up to damping
            length = 1.0
            _go_to(loss, gamma, data, shape, hessian, aim, w, z, b, u)
            numbers[4] = U_BY_MODEL
        if quadratic is None and decrement > 0.0:
            times(data.X, data.constant, direction, along)
            length = search(
                loss, kinks, data, shape, is_kinked, q, a, w, direction, z, along, decrement,
                next_z, next_b,
            )  # fmt: skip
        if quadratic is None and length > 0.0:
            for j in range(d):
                w[j] = aim[j] if length == 1.0 else w[j] + length * direction[j]
            for i in range(n):
                z[i], b[i] = next_z[i], next_b[i]
            _average(data, b, u)
        change = _DAMPING if length < _BLOCKED else 1.0 / _DAMPING
        numbers[2] = min(max(numbers[2] * change, _LEAST_DAMPING), _MOST_DAMPING)
        numbers[3] += 1.0
        moved = multiplier_move(data.c, a, b, q)
        exhausted = decrement + moved <= EPS * goal.scale
        if quadratic is not None and length > 0.0 and not exhausted:
            return done, 1
        _complete(loss, kinks, data, state)
        of_coefficients = 0.0 if is_kinked else coefficient_gap(data.lam, u, w, shape[1])
        primal = objective(loss, data, shape, z, w)
        target = max(goal.tol * (min(primal, goal.least + goal.scale) - goal.least), goal.floor)
        small = max(_NEGLIGIBLE * target, SMALLEST)
        if kinks is None:
            if decrement <= small and of_coefficients <= 0.5 * target:
                return done, 1
            if length == 0.0 or exhausted:
                return done, -1
            continue
        rounding = 0.0 if is_kinked else coefficient_rounding(data, b, shape[1])
        close = of_coefficients <= max(moved, small, rounding)
        solved = decrement <= max(_STAGE_ACCURACY * moved, small) and close
        if length > 0.0 and not solved:
            continue
        gap = of_coefficients + gap_of_samples(loss, data.y, data.c, z, b)
        if gap <= 0.5 * target and decrement <= target:
            return done, 1
        if exhausted and q <= numbers[1]:
            return done, -1
        factor = 1.0 if numbers[3] > _SLOW_STAGE else _NARROWING
        numbers[0], numbers[3] = max(q * factor, numbers[1]), 0.0
        _begin_stage(loss, data, numbers[0], a, z, b, u)
    return most, 0


@inner
def _begin_stage(loss: Any, data: Any, q: float, a: Any, z: Any, b: Any, u: Any) -> None:
    """With the slopes so far as multipliers."""
    for i in range(len(a)):
        a[i] = b[i]
    respond(loss, True, data.y, z, a, q, b)
    _average(data, b, u)


@inner
def _find_aim(
    data: Any,
    shape: Any,
    is_kinked: bool,
    state: Any,
    cap: float,
    scale: float,
    aim: Any,
    direction: Any,
) -> float:
    """Fill in the minimum of the damped model and the way there: how fast does Ψ decrease?"""
    l1, l2, low, high = shape
    w, u, hessian, numbers = state.w, state.u, state.hessian, state.numbers
    d = len(w)
    diagonal, gradient, own_l1, own_l2 = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    while True:
        for j in range(d):
            own_l1[j], own_l2[j] = data.lam * l1[j], data.lam * l2[j]
            damping = numbers[2] * data.mean_squares[j] / (cap if cap > 0.0 else 1.0)
            diagonal[j] = hessian[j, j] + damping + own_l2[j]
            gradient[j] = -data.lam * u[j]
        rounding = EPS * EPS * scale
        minimise(
            hessian, diagonal, gradient, w, own_l1, own_l2, low, high, is_kinked, rounding, aim
        )
        for j in range(d):
            direction[j] = aim[j] - w[j]
        decrement: float = data.lam * fall(u, w, direction, l1, l2)
        if not decrement > _ABSURD * scale or numbers[2] >= _MOST_DAMPING:
            return decrement
        numbers[2] = min(_DAMPING * numbers[2], _MOST_DAMPING)


@inner
def _complete(loss: Any, kinks: Any, data: Any, state: Any) -> None:
    """Compute what is not known of z, b and u."""
    a, w, z, b, u, _, numbers = state
    if numbers[4] == NOTHING or numbers[4] == U_ALONE:
        times(data.X, data.constant, w, z)
        respond(loss, kinks, data.y, z, a, numbers[0], b)
    if numbers[4] != ALL:
        _average(data, b, u)
    numbers[4] = ALL


@inner
def _go_to(
    loss: Any, gamma: float, data: Any, shape: Any, hessian: Any, aim: Any, w: Any, z: Any, b: Any,
    u: Any,
) -> None:  # fmt: skip
    """Evaluate a quadratic loss at the aim, with a free intercept where it is least: damping keeps
    the aim from there. u follows from the model."""
    last, total = len(w) - 1, 0.0
    for j in range(len(w)):
        for k in range(len(w)):
            u[j] -= hessian[j, k] * (aim[k] - w[k]) / data.lam
    for j in range(len(w)):
        w[j] = aim[j]
    times(data.X, data.constant, w, z)
    respond(loss, None, data.y, z, b, 0.0, b)
    if data.constant == 0.0 or shape[0][last] > 0.0 or shape[1][last] > 0.0:
        return
    for i in range(len(b)):
        total += data.c[i] * b[i]
    shift = gamma * total
    w[last] += shift / data.constant
    for i in range(len(z)):
        z[i] += shift
        b[i] -= shift / gamma
    u[last] = 0.0


@inner
def _average(data: Any, b: Any, u: Any) -> None:
    weighted = np.empty(len(b))
    for i in range(len(b)):
        weighted[i] = data.c[i] * b[i]
    summed(data.X, data.constant, weighted, u)
    for j in range(len(u)):
        u[j] /= data.lam


@inner
def _curvatures(loss: Any, kinks: Any, y: Any, c: Any, z: Any, a: Any, q: float, out: Any) -> None:
    if kinks is None:
        for i in range(len(y)):
            out[i] = c[i] * curvature(loss, z[i], y[i])
    else:
        for i in range(len(y)):
            left = dual_step(loss, a[i], z[i] - _PROBE * q, q, y[i])
            right = dual_step(loss, a[i], z[i] + _PROBE * q, q, y[i])
            out[i] = c[i] * max(left - right, 0.0) / (2.0 * _PROBE * q)
