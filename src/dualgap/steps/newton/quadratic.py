"""The minimum of a quadratic function of few variables plus a penalty: a Newton step's goal.

    ½ (p − w)ᵀ H (p − w) + gradient·(p − w) + λ Σ_j (l1_j |p_j| + ½ l2_j p_j²),   low ≤ p ≤ high.

Where the penalty has no kinks or bounds that is one system. Else coordinate steps find which
coefficients are at a kink or a bound, and a system for all others goes to their minimum at once, or
to where the first of them meets a kink or a bound, from where a system without it goes on; in
turns, until coordinate steps find no more. Features that others can replace leave in this way one
by one: coordinate steps in between would only take them in again.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from scipy.linalg import lapack

from dualgap.compile.kernels import kernel
from dualgap.linalg.validate import Floats
from dualgap.penalties.shape import Shape

_ROUNDS, _SWEEPS = 100, 30
_TINY = 1e-15  # added to a diagonal of 1
_ARRIVED = 1.0 + 1e-12  # relative to the first to meet a kink or bound: others that do as well
_DONE = 1e-13  # what a sweep gains, relative to all that was gained


def minimum(hessian: Floats, gradient: Floats, w: Floats, lam: float, shape: Shape) -> Floats:
    """Where it is, as far as rounding errors allow."""
    l1, l2, low, high = lam * shape.l1, lam * shape.l2, shape.low, shape.high
    diagonal = np.diag(hessian) + l2
    if not shape.kinked:
        return w + solved(hessian, diagonal, -(gradient + l2 * w))
    if not np.isfinite(hessian).all() or not np.isfinite(gradient).all():
        return w
    p, g, gained, tiny = np.clip(w, low, high), gradient.copy(), 0.0, _TINY
    g += hessian @ (p - w)
    for _ in range(_ROUNDS):
        gain, all_gain = _sweeps(hessian, diagonal, l1, l2, low, high, _SWEEPS, p, g)
        gained += all_gain
        if gain <= _DONE * gained:
            break
        for _ in range(len(p)):
            free = np.flatnonzero(((p != 0.0) | (l1 == 0.0)) & (p > low) & (p < high))
            part = hessian[np.ix_(free, free)]
            part[np.diag_indices_from(part)] = diagonal[free]
            right = -(g + l1 * np.sign(p) + l2 * p)[free]
            move = solved(part, diagonal[free], right, tiny)
            ends, rooms = _ends(p[free], move, l1[free], low[free], high[free])
            room = float(np.min(rooms, initial=1.0))
            move *= room
            gain = float(np.sum(right * move) - 0.5 * np.sum(move * (part @ move)))
            if not gain > 0.1 * np.sum(right * move):
                tiny *= 100.0  # rounding errors of a system that is all but singular
                break
            gained += gain
            p[free] = np.where(rooms <= _ARRIVED * room, ends, p[free] + move)
            g = gradient + hessian @ (p - w)
            if room == 1.0:
                break
    return p


@kernel
def _sweeps(
    hessian: Any, diagonal: Any, l1: Any, l2: Any, low: Any, high: Any, limit: int, p: Any, g: Any
) -> tuple[float, float]:
    """Coordinate steps until a sweep leaves each coefficient where it was: at a kink, a bound, or
    on one side of both. Returns what the last sweep and all of them have gained."""
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
        if crossed == 0 or gain <= _DONE * gained:
            break
    return gain, gained


def _ends(p: Floats, move: Floats, l1: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The kink or bound that each coefficient would meet first, and after how much of the move."""
    ends = np.where(move > 0.0, high, low)
    towards = (l1 > 0.0) & (p * move < 0.0) & (np.abs(ends - p) > np.abs(p))
    ends = np.where(towards, 0.0, ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ends, np.where(move != 0.0, (ends - p) / move, inf)


def solved(matrix: Floats, diagonal: Floats, right: Floats, more: float = _TINY) -> Floats:
    """matrix⁻¹ right with this diagonal, in units in which it is 1; ``more`` is added to it, or yet
    more where it takes that to be positive. Nothing at all where numbers have overflowed."""
    unit = np.sqrt(diagonal)
    unit[unit == 0.0] = 1.0
    unit = 1.0 / unit
    while True:
        scaled = matrix * unit
        scaled *= unit[:, None]
        if not np.isfinite(np.sum(scaled)) or not np.isfinite(right).all():
            return np.zeros(len(right))
        np.fill_diagonal(scaled, 1.0 + more)
        # Transposed it is in LAPACK's order, and need not be copied.
        factor, failed = lapack.dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return np.asarray(lapack.dpotrs(factor, right * unit, lower=1)[0] * unit)
        more *= 100.0
