"""The minimum of the quadratic model of a Newton step, whose penalty may have kinks and bounds.

The model is
    ½ (p − w)ᵀ H (p − w) + gradient·(p − w) + λ Σ_j (l1_j |p_j| + ½ l2_j p_j²),   low ≤ p ≤ high.
Without kinks and bounds of the penalty its minimum is the solution of one system. Otherwise
coordinate steps find which coefficients are at a kink or a bound, and a system for the others leads
to their minimum, or to where the first of them meets a kink or a bound. From there a system without
it continues, and so forth, until coordinate steps gain nothing. Features that others can replace
leave in this way one by one; coordinate steps in between would take them in again.

``working_set/gram_kernels.minimise`` solves the same kind of model. They stay two because Newton
steps need an accuracy that only rounding errors limit, working sets a tolerance and any ``prox``.
Measured with each in the place of the other (L1, tol 1e-6): Newton steps with the other solver take
0.8 to 0.9 times as long on a9a (logistic), as long on 20,000 × 60 Gaussian numbers (logistic), but
1.5 to 3.6 times as long on madelon (Lasso and logistic). The last bits of every result differ.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import Shape
from dualgap.steps.newton.cholesky import solve_scaled
from dualgap.steps.newton.tuning import TUNING

_MODEL_ACCURACY = TUNING.model_accuracy  # kernels read module-level names


def minimum(hessian: Floats, gradient: Floats, w: Floats, lam: float, shape: Shape) -> Floats:
    """The minimum of the model, as far as rounding errors allow."""
    l1, l2, low, high = lam * shape.l1, lam * shape.l2, shape.low, shape.high
    diagonal = np.diag(hessian) + l2
    if not shape.kinked:
        return w + solve_scaled(hessian, diagonal, -(gradient + l2 * w))
    if not np.isfinite(hessian).all() or not np.isfinite(gradient).all():
        return w
    p, g, gained, ridge = np.clip(w, low, high), gradient.copy(), 0.0, TUNING.ridge
    g += hessian @ (p - w)
    for _ in range(TUNING.model_rounds):
        most = TUNING.model_sweeps
        gain, all_gain = sweeps(hessian, diagonal, l1, l2, low, high, most, p, g)
        gained += all_gain
        if gain <= TUNING.model_accuracy * gained:
            break
        for _ in range(len(p)):
            free = np.flatnonzero(((p != 0.0) | (l1 == 0.0)) & (p > low) & (p < high))
            block = hessian[np.ix_(free, free)]
            block[np.diag_indices_from(block)] = diagonal[free]
            right = -(g + l1 * np.sign(p) + l2 * p)[free]
            move = solve_scaled(block, diagonal[free], right, ridge)
            ends, lengths = _first_ends(p[free], move, l1[free], low[free], high[free])
            length = float(np.min(lengths, initial=1.0))
            move *= length
            gain = float(np.sum(right * move) - 0.5 * np.sum(move * (block @ move)))
            if not gain > 0.1 * np.sum(right * move):
                ridge *= 100.0  # the system is nearly singular: rounding errors decide
                break
            gained += gain
            arrived = lengths <= (1.0 + TUNING.same_kink) * length
            p[free] = np.where(arrived, ends, p[free] + move)
            g = gradient + hessian @ (p - w)
            if length == 1.0:
                break
    return p


@kernel
def sweeps(
    hessian: Any, diagonal: Any, l1: Any, l2: Any, low: Any, high: Any, limit: int, p: Any, g: Any
) -> tuple[float, float]:
    """Coordinate steps until a sweep leaves each coefficient where it was: at a kink, at a bound,
    or on one side of both. Returns the gain of the last sweep and of all sweeps."""
    gained = 0.0
    gain = 0.0
    for _ in range(limit):
        gain = 0.0
        crossed = 0
        for j in range(len(p)):
            q = diagonal[j]
            at = (q - l2[j]) * p[j] - g[j]
            new = max(at - l1[j], 0.0) + min(at + l1[j], 0.0)
            new = new / q if q > 0.0 else (0.0 if l1[j] > 0.0 else p[j])
            new = min(max(new, low[j]), high[j])
            move = new - p[j]
            if move != 0.0:
                was = p[j]
                at_kink = was == 0.0 or new == 0.0 or (was > 0.0) != (new > 0.0)
                if (
                    (at_kink and l1[j] > 0.0)
                    or not low[j] < was < high[j]
                    or not (low[j] < new < high[j])
                ):
                    crossed += 1
                for k in range(len(p)):
                    g[k] += move * hessian[j, k]
                p[j] = new
                gain += 0.5 * q * move * move
        gained += gain
        if crossed == 0 or gain <= _MODEL_ACCURACY * gained:
            break
    return gain, gained


def _first_ends(
    p: Floats, move: Floats, l1: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """The kink or bound that each coefficient would meet first, and at which length of the move."""
    ends = np.where(move > 0.0, high, low)
    towards = (l1 > 0.0) & (p * move < 0.0) & (np.abs(ends - p) > np.abs(p))
    ends = np.where(towards, 0.0, ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ends, np.where(move != 0.0, (ends - p) / move, inf)
