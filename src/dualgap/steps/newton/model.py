"""The minimum of the quadratic model of a Newton step, whose penalty may have kinks and bounds.

The model is
    ½ (p − w)ᵀ H (p − w) + gradient·(p − w) + λ Σ_j (l1_j |p_j| + ½ l2_j p_j²),   low ≤ p ≤ high.
Without kinks and bounds of the penalty its minimum is the solution of one system. Otherwise
coordinate steps find which coefficients are at a kink or a bound, and a system for the others leads
towards their minimum. Those that meet a kink or a bound on the way stop there, as long as the model
falls. From there a system without them continues, and so forth, until coordinate steps gain
nothing. Features that others can replace leave in this way; coordinate steps in between would take
them in again.

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


def minimum(
    hessian: Floats,
    gradient: Floats,
    w: Floats,
    lam: float,
    shape: Shape,
    accuracy: float = TUNING.model_accuracy,
) -> Floats:
    """The minimum of the model, until sweeps after a system gain less than this share of all."""
    l1, l2, low, high = lam * shape.l1, lam * shape.l2, shape.low, shape.high
    diagonal = np.diag(hessian) + l2
    if not shape.kinked:
        return w + solve_scaled(hessian, diagonal, -(gradient + l2 * w))
    if not np.isfinite(hessian).all() or not np.isfinite(gradient).all():
        return w
    p, g, gained, ridge = np.clip(w, low, high), gradient.copy(), 0.0, TUNING.ridge
    g += hessian @ (p - w)
    for turn in range(TUNING.model_rounds):
        most = TUNING.model_sweeps
        gain, all_gain = sweeps(hessian, diagonal, l1, l2, low, high, most, p, g)
        gained += all_gain
        if gain <= (accuracy if turn > 0 else TUNING.model_accuracy) * gained:
            break
        for _ in range(len(p)):
            free = np.flatnonzero(((p != 0.0) | (l1 == 0.0)) & (p > low) & (p < high))
            block = hessian[np.ix_(free, free)]
            block[np.diag_indices_from(block)] = diagonal[free]
            right = -(g + l1 * np.sign(p) + l2 * p)[free]
            move = solve_scaled(block, diagonal[free], right, ridge)
            ends, lengths = _first_ends(p[free], move, l1[free], low[free], high[free])
            curved, length = block @ move, float(np.min(lengths, initial=1.0))
            fall = float(np.sum(right * move))
            if not 0.5 * length * np.sum(move * curved) < 0.9 * fall:
                ridge *= 100.0  # the system is nearly singular: rounding errors decide
                break
            before = p[free]
            p[free], gain = _along_path(block, right, move, curved, before, ends, lengths)
            gained += gain
            g = _gradient_at(hessian, gradient, p - w)
            if length == 1.0:
                break
    return p


def _gradient_at(hessian: Floats, gradient: Floats, move: Floats) -> Floats:
    """gradient + H move; most coefficients may rest at their kinks."""
    moved = np.flatnonzero(move)
    if TUNING.gathered_rows * len(moved) > len(move):
        return np.asarray(gradient + hessian @ move)
    return np.asarray(gradient + move[moved] @ hessian[moved])


def _along_path(
    block: Floats,
    right: Floats,
    move: Floats,
    curved: Floats,
    p: Floats,
    ends: Floats,
    lengths: Floats,
) -> tuple[Floats, float]:
    """The minimum along the move, on which each coefficient stops where it meets a kink or bound.

    Many of them leave with one system where otherwise each would take one. ``curved`` is the
    product of block and move. Returns the coefficients, and by how much the model falls.
    """
    order = np.argsort(lengths)
    slopes, away, at, stopped = -right, np.zeros(len(p)), 0.0, 0
    move, gain = move.copy(), 0.0
    while True:
        slope, curvature = float(np.sum(slopes * move)), float(np.sum(move * curved))
        rest = -slope / curvature if curvature > 0.0 else 0.0
        last = stopped == len(p) or not at + rest > lengths[order[stopped]]
        if stopped == 0 and last:
            rest = 1.0  # as the system says
        elif not last:
            rest = max(float(lengths[order[stopped]]) - at, 0.0)
        rest = max(rest, 0.0)
        gain -= rest * (slope + 0.5 * rest * curvature)
        away += rest * move
        if last:
            break
        slopes = slopes + rest * curved
        at += rest
        while stopped < len(p) and lengths[order[stopped]] <= (1.0 + TUNING.same_kink) * at:
            j = order[stopped]
            curved = curved - move[j] * block[j]
            move[j] = 0.0
            stopped += 1
    new = p + away
    new[order[:stopped]] = ends[order[:stopped]]
    return new, gain


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
