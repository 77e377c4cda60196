"""Proximal steps on the blocks of a set over columns, where a Gram matrix does not pay.

A step on a block changes the slopes r of the model, r + h Xδ, at the entries of its columns: it
reads each of these twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import entry, place, span
from dualgap.compile.scalar import length
from dualgap.steps.groups.gram_blocks import block_step, penalty_of
from dualgap.steps.groups.tuning import TUNING
from dualgap.steps.working_set.column_kernels import extrapolate
from dualgap.steps.working_set.tuning import TUNING as SET_TUNING

# Kernels read module-level names.
_POWER_STEPS, _POWER_MARGIN = TUNING.power_steps, TUNING.power_margin
_EXTRAPOLATED = SET_TUNING.extrapolated_sweeps


@inner
def _add(matrix: Any, features: Any, amounts: Any, out: Any) -> int:
    """out += Σ amounts_j A_j; returns the entries read."""
    work = 0
    for i in range(len(features)):
        if amounts[i] != 0.0:
            start, stop = span(matrix, features[i])
            for t in range(start, stop):
                out[place(matrix, features[i], t)] += amounts[i] * entry(matrix, features[i], t)
            work += stop - start
    return work


@kernel
def curvatures(
    matrix: Any, h: Any, set_: Any, places: Any, least: Any, zeros: Any, out: Any
) -> None:
    """About the largest eigenvalue of X_kᵀHX_k for each block, or a bound on it.

    ``zeros`` is a vector of zeros, one for each sample, and again one afterwards.
    """
    for t in range(len(places) - 1):
        features = set_[places[t] : places[t + 1]]
        size = len(features)
        bound, floor = 0.0, 0.0
        for i in range(size):
            start, stop = span(matrix, features[i])
            for e in range(start, stop):
                x = np.float64(entry(matrix, features[i], e))
                bound += h[place(matrix, features[i], e)] * x * x
            floor = max(floor, least[places[t] + i])
        if size > 1:
            v, grown = np.empty(size), 0.0
            for i in range(size):
                v[i] = 1.0 + 0.1 * (i % 7)
            for _ in range(_POWER_STEPS):
                before = length(v)
                for i in range(size):
                    v[i] /= before
                _add(matrix, features, v, zeros)
                for i in range(size):
                    start, stop = span(matrix, features[i])
                    v[i] = 0.0
                    for e in range(start, stop):
                        at = place(matrix, features[i], e)
                        v[i] += h[at] * zeros[at] * entry(matrix, features[i], e)
                for i in range(size):
                    start, stop = span(matrix, features[i])
                    for e in range(start, stop):
                        zeros[place(matrix, features[i], e)] = 0.0
                grown = length(v)
                if grown == 0.0:
                    break
            bound = min(bound, _POWER_MARGIN * grown) if grown > 0.0 else bound
        out[t] = max(bound, floor)


@inner
def _settle(h: Any, r: Any, x: Any, intercept: int, constant: float, total: float) -> None:
    """Set the free intercept, if there is one, to its minimum."""
    if intercept >= 0 and total > 0.0:
        delta = -constant * r.sum() / total
        x[intercept] += delta
        for i in range(len(r)):
            r[i] += delta * constant * h[i]


@inner
def _jump(
    matrix: Any,
    blocks: Any,
    lam: float,
    set_: Any,
    ids: Any,
    places: Any,
    h: Any,
    r: Any,
    x: Any,
    goal: Any,
    along: Any,
) -> int:
    """Move to ``goal`` if the model is smaller there; returns the entries read."""
    change = lam * (penalty_of(blocks, ids, places, goal) - penalty_of(blocks, ids, places, x))
    along[:] = 0.0
    work = _add(matrix, set_, goal - x, along)
    for i in range(len(r)):
        change += (r[i] + 0.5 * h[i] * along[i]) * along[i]
    if change < 0.0:
        x[:] = goal
        for i in range(len(r)):
            r[i] += h[i] * along[i]
    return work


@kernel
def descend(
    matrix: Any,
    blocks: Any,
    lam: float,
    set_: Any,
    ids: Any,
    places: Any,
    q: Any,
    h: Any,
    r: Any,
    x: Any,
    intercept: int,
    constant: float,
    tolerance: float,
    fraction: float,
    most: int,
) -> tuple[float, bool, float]:
    """At most ``most`` sweeps, until no violation exceeds ``tolerance`` or the ``fraction`` of the
    largest in the first sweep; returns that one, whether it got there, and the entries read.

    ``intercept`` is the place in x of a free intercept, -1 if there is none. It is set to its
    minimum after every step, so that columns far from 0 need no more sweeps than others.
    """
    total_curvature = constant * constant * h.sum()
    at, new, g = np.empty((3, len(x)))
    active = np.empty(len(ids), np.int64)
    past, goal, along = np.empty((_EXTRAPOLATED, len(x))), np.empty(len(x)), np.empty(len(r))
    count, first, total, everything, known = 0, -1.0, 0, True, 0
    done = False
    for _ in range(most):
        if everything:
            count = len(ids)
            for t in range(count):
                active[t] = t
        largest, kept = 0.0, 0
        for position in range(count):
            t = active[position]
            low, high = places[t], places[t + 1]
            if q[t] == 0.0:
                continue
            for i in range(low, high):
                start, stop = span(matrix, set_[i])
                g[i] = 0.0
                for e in range(start, stop):
                    g[i] += r[place(matrix, set_[i], e)] * entry(matrix, set_[i], e)
                total += stop - start
            moved = block_step(
                blocks, lam, ids[t], q[t], x[low:high], g[low:high], at[low:high], new[low:high]
            )
            if moved > 0.0:
                for i in range(low, high):
                    delta = new[i] - x[i]
                    if delta != 0.0:
                        start, stop = span(matrix, set_[i])
                        for e in range(start, stop):
                            j = place(matrix, set_[i], e)
                            r[j] += delta * h[j] * entry(matrix, set_[i], e)
                        total += stop - start
                    x[i] = new[i]
                _settle(h, r, x, intercept, constant, total_curvature)
                largest = max(largest, q[t] * moved)
                active[kept] = t
                kept += 1
        count = kept
        if first < 0.0:
            first = largest
            tolerance = max(tolerance, fraction * first)
        if largest <= tolerance:
            if everything:
                done = True
                break
            everything = True
        else:
            everything = False
        past[known] = x
        known += 1
        if known == len(past):
            known = 0
            if extrapolate(past, goal):
                total += _jump(matrix, blocks, lam, set_, ids, places, h, r, x, goal, along)
                everything = True
    return first, done, float(total)
