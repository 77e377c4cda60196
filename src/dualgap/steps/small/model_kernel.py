"""The minimum of the quadratic model of a Newton step plus the penalty, for kernels.

    ½ (p − w)ᵀ H (p − w) + gradient·(p − w) + Σ_j (l1_j |p_j| + ½ l2_j p_j²),   low ≤ p ≤ high

as in ``newton/descent.py``, which derives it: coordinate steps find the coefficients at kinks and
bounds, systems for the others lead to their minimum, one kink or bound at a time.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.compile.kernels import inner
from dualgap.steps.newton.model import sweeps
from dualgap.steps.newton.tuning import TUNING
from dualgap.steps.small.gram_kernels import solve_on

_ROUNDS, _SWEEPS = TUNING.model_rounds, TUNING.model_sweeps
_ACCURACY, _SAME_KINK, _RIDGE = TUNING.model_accuracy, TUNING.same_kink, TUNING.ridge


@inner
def minimise(
    hessian: Any,
    diagonal: Any,
    gradient: Any,
    w: Any,
    l1: Any,
    l2: Any,
    low: Any,
    high: Any,
    is_kinked: bool,
    negligible: float,
    p: Any,
) -> None:
    """Fills in p. ``diagonal`` is that of H + l2, with damping; ``negligible`` gains are rounding
    errors."""
    d = len(w)
    places, right, move = np.empty(d, np.int64), np.empty(d), np.empty(d)
    for j in range(d):
        places[j] = j
    if not is_kinked:
        for j in range(d):
            right[j] = -(gradient[j] + l2[j] * w[j])
        found = solve_on(hessian, diagonal, places, d, right, _RIDGE, move)
        for j in range(d):
            p[j] = w[j] + move[j] if found else w[j]
        return
    g, gained, ridge = np.empty(d), 0.0, _RIDGE
    for j in range(d):
        p[j] = min(max(w[j], low[j]), high[j])
    _model_gradient(hessian, gradient, p, w, g)
    for _ in range(_ROUNDS):
        gain, all_gain = sweeps(hessian, diagonal, l1, l2, low, high, _SWEEPS, p, g)
        gained += all_gain
        if not gain > max(_ACCURACY * gained, negligible):
            break
        for _ in range(d):
            count = 0
            for j in range(d):
                if (p[j] != 0.0 or l1[j] == 0.0) and low[j] < p[j] < high[j]:
                    places[count] = j
                    right[count] = -(g[j] + l1[j] * np.sign(p[j]) + l2[j] * p[j])
                    count += 1
            if not solve_on(hessian, diagonal, places, count, right, ridge, move):
                break
            length = 1.0
            for s in range(count):
                j = places[s]
                end = _end(p[j], move[s], l1[j], low[j], high[j])
                if move[s] != 0.0:
                    length = min(length, (end - p[j]) / move[s])
            first, second = 0.0, 0.0
            for s in range(count):
                first += right[s] * length * move[s]
                for t in range(count):
                    i, j = places[s], places[t]
                    entry = diagonal[i] if i == j else hessian[i, j]
                    second += length * length * move[s] * entry * move[t]
            gain = first - 0.5 * second
            if not gain > 0.1 * first:
                ridge *= 100.0  # the system is nearly singular: rounding errors decide
                break
            gained += gain
            for s in range(count):
                j = places[s]
                end = _end(p[j], move[s], l1[j], low[j], high[j])
                far = (end - p[j]) / move[s] if move[s] != 0.0 else inf
                p[j] = end if far <= (1.0 + _SAME_KINK) * length else p[j] + length * move[s]
            _model_gradient(hessian, gradient, p, w, g)
            if length == 1.0:
                break


@inner
def _model_gradient(hessian: Any, gradient: Any, p: Any, w: Any, g: Any) -> None:
    """g = gradient + H (p − w)."""
    for j in range(len(w)):
        g[j] = gradient[j]
        for k in range(len(w)):
            g[j] += hessian[j, k] * (p[k] - w[k])


@inner
def _end(at: float, move: float, l1: float, low: float, high: float) -> float:
    """The kink or bound that a coefficient would meet first."""
    end = high if move > 0.0 else low
    if l1 > 0.0 and at * move < 0.0 and abs(end - at) > abs(at):
        end = 0.0
    return end
