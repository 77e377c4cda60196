"""The line search of ``newton/descent.py``, for kernels: until the slope of Ψ has become small."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.compile.kernels import inner
from dualgap.compile.rules import dual_step, project, slope
from dualgap.steps.newton.tuning import TUNING

# Kernels read module-level names.
_TRIALS, _BEYOND, _ENOUGH = TUNING.trials, TUNING.slope_beyond, TUNING.enough_decrease
_LEFT, _LEFT_LATER, _LEFT_IN_STAGES = (
    TUNING.slope_left, TUNING.slope_left_later, TUNING.slope_left_in_stages,
)  # fmt: skip


@inner
def respond(loss: Any, kinks: Any, y: Any, z: Any, a: Any, q: float, b: Any) -> None:
    if kinks is None:
        for i in range(len(y)):
            b[i] = project(loss, -slope(loss, z[i], y[i]), y[i])
    else:
        for i in range(len(y)):
            b[i] = dual_step(loss, a[i], z[i], q, y[i])


@inner
def search(
    loss: Any,
    kinks: Any,
    data: Any,
    shape: Any,
    is_kinked: bool,
    q: float,
    a: Any,
    w: Any,
    direction: Any,
    z: Any,
    along: Any,
    decrement: float,
    next_z: Any,
    next_b: Any,
) -> float:
    """A length at which the slope has become small; fills in z and b there. 0 if there is none."""
    l1, l2 = shape[0], shape[1]
    low, high, length, at_low, at_high = 0.0, inf, 1.0, -decrement, inf
    allowed = _LEFT_IN_STAGES if q > 0.0 else _LEFT
    for trial in range(_TRIALS + 1):
        for i in range(len(z)):
            next_z[i] = z[i] + length * along[i]
        respond(loss, kinks, data.y, next_z, a, q, next_b)
        steep = 0.0
        for i in range(len(z)):
            steep -= data.c[i] * next_b[i] * along[i]
        for j in range(len(w)):
            at = w[j] + length * direction[j]
            ahead = np.sign(at) if at != 0.0 else -np.sign(direction[j])
            steep += data.lam * (l1[j] * ahead + l2[j] * at) * direction[j]
        steep = steep if steep == steep else inf
        if trial == _TRIALS or -allowed <= steep / decrement <= _BEYOND:
            return length
        allowed = _LEFT_LATER
        if steep < 0.0:
            low, at_low = length, steep
            if is_kinked and length == 1.0:
                return 1.0  # beyond the goal coefficients would leave their kinks
            fall = low * at_low + (1.0 - low) * at_high  # Ψ(1) − Ψ(0) is below it
            if is_kinked and high == 1.0 and fall <= -_ENOUGH * decrement:
                for i in range(len(z)):
                    next_z[i] = z[i] + along[i]
                respond(loss, kinks, data.y, next_z, a, q, next_b)
                return 1.0
        else:
            high, at_high = length, steep
        if trial == _TRIALS - 1:
            length = low
        elif high == inf:
            length *= 4.0
        elif trial % 2 == 1 or not at_high < inf:
            length = 0.5 * (low + high) if low > 0.0 else 0.01 * high
        else:
            length = low - at_low * (high - low) / (at_high - at_low)
        if not abs(length) < inf:
            return 0.0
    return length
