"""The line search of a working set: from the minimum of a model to a decrease of the objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import curvature, entry, place, slope, span, value
from dualgap.compile.scalar import EPS
from dualgap.proof.block_terms import BATCH
from dualgap.steps.working_set.tuning import TUNING

# Kernels read module-level names.
_ENOUGH_DECREASE, _SHORTEST_STEP = TUNING.enough_decrease, TUNING.shortest_step
_OBJECTIVE_ROUNDING = TUNING.objective_rounding


@kernel
def expand(loss: Any, y: Any, c: Any, z: Any, r: Any, h: Any) -> float:
    """Set r = c φ'(z) and h = c φ''(z); returns Σ c φ(z)."""
    total = 0.0
    values, slopes, curvatures = np.empty(BATCH), np.empty(BATCH), np.empty(BATCH)
    for first in range(0, len(y), BATCH):
        size = min(BATCH, len(y) - first)
        for k in range(size):  # without weights and results, for the reason given in proof/terms.py
            i = first + k
            values[k] = value(loss, z[i], y[i])
            slopes[k] = slope(loss, z[i], y[i])
            curvatures[k] = curvature(loss, z[i], y[i])
        for k in range(size):
            i = first + k
            r[i] = c[i] * slopes[k]
            h[i] = c[i] * curvatures[k]
        for k in range(size):
            total += c[first + k] * values[k] if c[first + k] > 0.0 else 0.0
    return total


@inner
def _add(matrix: Any, features: Any, old: Any, new: Any, out: Any) -> None:
    """out += Σ (new − old) A_j over the set; ``old`` has an entry for every feature."""
    for turn in range(len(features)):
        j = features[turn]
        amount = new[turn] - old[j]
        if amount != 0.0:
            start, stop = span(matrix, j)
            for t in range(start, stop):
                out[place(matrix, j, t)] += amount * entry(matrix, j, t)


@inner
def _penalty_change(penalty: Any, lam: float, features: Any, w: Any, x: Any) -> tuple[float, float]:
    """λ Σ g_j(x_j) − g_j(w_j) over the set, and λ Σ g_j(w_j)."""
    there, here = 0.0, 0.0
    for turn in range(len(features)):
        j = features[turn]
        there += value(penalty, x[turn], j)
        here += value(penalty, w[j], j)
    return lam * (there - here), lam * here


@inner
def _put(features: Any, x: Any, w: Any) -> bool:
    """Set w = x on the set; returns whether anything changes."""
    moved = False
    for turn in range(len(features)):
        moved |= w[features[turn]] != x[turn]
        w[features[turn]] = x[turn]
    return moved


@kernel
def move_to(matrix: Any, features: Any, x: Any, w: Any, z: Any) -> bool:
    """Set the coefficients of the set to x, and update z = Xw; returns whether anything changes."""
    _add(matrix, features, w, x, z)
    return _put(features, x, w)


@kernel
def search(
    matrix: Any,
    loss: Any,
    y: Any,
    c: Any,
    penalty: Any,
    lam: float,
    features: Any,
    x: Any,
    w: Any,
    z: Any,
    r: Any,
    h: Any,
    before: float,
) -> tuple[float, float]:
    """Move from w towards x until the objective falls by a share of what the model predicts.

    ``before`` is the sum of losses at w. Changes w on the set, z, r and h; returns the sum of
    losses and the length of the step, 1 being all the way.
    """
    along = np.zeros(len(z))
    _add(matrix, features, w, x, along)
    change, base = _penalty_change(penalty, lam, features, w, x)
    predicted = change
    for i in range(len(z)):
        predicted += r[i] * along[i]
    rounding = (
        _OBJECTIVE_ROUNDING * EPS * (abs(before) + base)
    )  # near the end, decreases are smaller
    trial, slopes, curvatures = np.empty(len(z)), np.empty(len(z)), np.empty(len(z))
    length = 1.0
    while length > _SHORTEST_STEP:
        for i in range(len(z)):
            trial[i] = z[i] + length * along[i]
        losses = expand(loss, y, c, trial, slopes, curvatures)
        if losses - before + change <= _ENOUGH_DECREASE * length * predicted + rounding:
            z[:], r[:], h[:] = trial, slopes, curvatures
            _put(features, x, w)
            return losses, length
        length *= 0.5
        for turn in range(len(features)):
            x[turn] = 0.5 * (x[turn] + w[features[turn]])
        change, _ = _penalty_change(penalty, lam, features, w, x)
    return before, 0.0
