"""How far the intercept of an optimum can be from that of a model: the ends of an interval.

``radius.py`` derives the condition  Σ_i c_i min FY_i ≤ limit,  which every optimum satisfies. It is
convex in the intercept, so the intercepts that satisfy it are an interval.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import conj, conj_size, slope, target_size, value, value_size
from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.losses.targets import contains_yz
from dualgap.proof.block_terms import PER_TERM
from dualgap.proof.tuning import TUNING

SUM_ERROR = 1.0 + 1e-9  # covers the rounding errors of sums of positive terms
_FARTHEST = 1e100  # the search for the end of an interval gives up here: the radius is infinite


class InterceptCondition(NamedTuple):
    """Σ_i c_i min FY_i ≤ limit, as a condition on a change of the intercept."""

    loss: Any
    y: Any
    c: Any
    z: Floats
    a: Floats
    room: Floats

    def reach(self, limit: float) -> float:
        """A bound on |shift| for all shifts that satisfy the condition."""
        if not np.isfinite(limit) or np.isinf(self.room).any():
            return np.inf
        first = float(np.max(self.room)) or EPS * (1.0 + float(np.max(np.abs(self.z))))
        return max(
            _first_outside(lambda shift: self._is_outside(shift, limit), first),
            _first_outside(lambda shift: self._is_outside(-shift, limit), first),
        )

    def _is_outside(self, shift: float, limit: float) -> bool:
        most = limit * SUM_ERROR
        return bool(_least_parts(contains_yz(self.loss), *self, shift, most) > most)


def _first_outside(is_outside: Any, first: float) -> float:
    """A shift > 0 that is outside, not much larger than the smallest one; infinite if none is."""
    high = first
    while not is_outside(high):
        high *= TUNING.radius_stride
        if high > _FARTHEST:
            return np.inf
    low = high / TUNING.radius_stride
    while low > EPS * EPS * first and is_outside(low):
        low, high = low / TUNING.radius_stride, low
    for _ in range(TUNING.radius_halvings):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_outside(middle) else (middle, high)
    return high


@kernel
def _least_parts(
    multiplied: bool,
    loss: Any,
    y: Any,
    c: Any,
    z: Any,
    a: Any,
    room: Any,
    shift: float,
    enough: float,
) -> float:
    """A lower bound on Σ_i c_i min FY_i(z_i + shift + t, a_i) over |t| ≤ room_i.

    Ends as soon as the sum exceeds ``enough``. The minimum of the convex FY_i over an interval is
    at an end of it, unless the interval contains the minimum 0 of FY_i.
    """
    total = 0.0
    for i in range(len(y)):
        if c[i] == 0.0:
            continue
        target, offset = target_size(loss, y[i]), 2.0 * abs(y[i].imag)  # as in ``terms.py``
        reach = room[i] + PER_TERM * EPS * (abs(z[i]) + abs(shift) + room[i] + offset)
        end = z[i] + shift - reach
        tilt = slope(loss, end, y[i]) + a[i]
        if not tilt > 0.0:
            end = z[i] + shift + reach
            tilt = slope(loss, end, y[i]) + a[i]
            if not tilt < 0.0:
                continue
        loss_value = value(loss, end, y[i])
        loss_conj = conj(loss, a[i], y[i])
        # The sizes of terms and of what may cancel inside them, as in ``terms.py``.
        hidden = (abs(tilt) + 2.0 * abs(a[i])) * (target + abs(end) + reach + offset)
        hidden += value_size(loss, end, y[i]) + conj_size(loss, a[i], y[i])
        if multiplied:
            hidden += target * (abs(end) + offset) + target + abs(a[i])
        size = abs(loss_value) + abs(loss_conj) + abs(a[i] * end) + abs(a[i]) * target + hidden
        part = loss_value + loss_conj + a[i] * end - PER_TERM * EPS * size
        if part > 0.0:
            total += c[i] * part
            if total > enough:
                break
    return total


@kernel
def slope_in_intercept(
    loss: Any, y: Any, c: Any, z: Any, b: float, moved: float
) -> tuple[float, float]:
    """Σ c φ'(z + b) and the sum of sizes, with z + b moved by a share of what it is made of."""
    total, size = 0.0, 0.0
    for i in range(len(y)):
        at = z[i] + b
        at += moved * (abs(at) + abs(z[i]) + abs(b) + abs(y[i]) + 1.0)
        own = c[i] * slope(loss, at, y[i]) if c[i] > 0.0 else 0.0
        total += own
        size += abs(own)
    return total, size
