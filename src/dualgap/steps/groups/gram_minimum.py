"""The minimum of a quadratic model plus a penalty on groups, by the Gram matrix of a set.

Proximal steps settle which coefficients are not 0. There the penalty is smooth, and Newton steps on
these coefficients end a model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.group_rules import smooth_into
from dualgap.compile.kernels import inner, kernel
from dualgap.steps.groups.gram_blocks import penalty_of, sweep
from dualgap.steps.groups.tuning import TUNING
from dualgap.steps.working_set.column_kernels import extrapolate
from dualgap.steps.working_set.tuning import TUNING as SET_TUNING

# Kernels read module-level names.
_ROUNDS, _LEAST_SWEEPS, _SOLVE_SPEED = TUNING.rounds, TUNING.least_sweeps, TUNING.solve_speed
_MOST_IN_SYSTEM, _NEWTON_STEPS = TUNING.most_in_system, TUNING.newton_steps
_NEWTON_CUTS, _RIDGE = TUNING.newton_cuts, TUNING.ridge
_EXTRAPOLATED = SET_TUNING.extrapolated_sweeps


@kernel
def minimise(
    gram: Any,
    blocks: Any,
    lam: float,
    direct: bool,
    ids: Any,
    places: Any,
    q: Any,
    x: Any,
    g: Any,
    tolerance: float,
    fraction: float,
) -> float:
    """Change x to the minimum of g·δ + ½ δᵀGδ + λ Σ g_k, and g with it.

    It ends when no violation exceeds ``tolerance`` or the ``fraction`` of the first one, which is
    returned. ``direct``: whether Newton steps are possible.
    """
    longest = 0
    for t in range(len(ids)):
        longest = max(longest, (places[t + 1] - places[t]) * blocks.width)
    work = np.empty((4, longest))
    active = np.empty(len(ids), np.int64)
    past, goal, known = np.empty((_EXTRAPOLATED, len(x))), np.empty(len(x)), 0
    first, sweeps = -1.0, 0
    for _ in range(_ROUNDS):
        for t in range(len(ids)):
            active[t] = t
        largest, count = sweep(gram, blocks, lam, ids, places, q, x, g, active, len(ids), work)
        if first < 0.0:
            first = largest
            tolerance = max(tolerance, fraction * first)
        if largest <= tolerance:
            break
        support = 0
        for t in range(count):
            support += (places[active[t] + 1] - places[active[t]]) * blocks.width
        most = max(_LEAST_SWEEPS, int(support * support / (_SOLVE_SPEED * len(x))))
        while sweeps < most:
            largest, count = sweep(gram, blocks, lam, ids, places, q, x, g, active, count, work)
            sweeps += 1
            if largest <= 0.3 * tolerance:
                break
            past[known] = x
            known += 1
            if known == len(past):
                known = 0
                if extrapolate(past, goal):
                    for i in range(len(x)):
                        goal[i] -= x[i]
                    moving = np.flatnonzero(goal)
                    _move_along(gram, blocks, lam, ids, places, moving, goal, x, g)
        sweeps = known = 0
        for _ in range(_NEWTON_STEPS if direct and largest > 0.3 * tolerance else 0):
            if newton_step(gram, blocks, lam, ids, places, x, g) < 1.0:
                break
            at_most = 0.3 * tolerance
            largest, _ = sweep(gram, blocks, lam, ids, places, q, x, g, active, count, work)
            if largest <= at_most:
                break
    return first


@inner
def newton_step(gram: Any, blocks: Any, lam: float, ids: Any, places: Any, x: Any, g: Any) -> float:
    """A Newton step on the coefficients that are not 0, as far as it decreases the model.

    Returns its length, 1 being all the way; 0 if there is none.
    """
    width, size = blocks.width, len(x)
    slope = np.zeros(size)
    which, count = np.empty(size, np.int64), 0
    for t in range(len(ids)):
        first, last = places[t] * width, places[t + 1] * width
        free = ids[t] >= blocks.penalised
        for i in range(first, last):
            if x[i] != 0.0 or (free and gram[i // width, i // width] > 0.0):
                which[count] = i
                count += 1
    if count == 0 or count > _MOST_IN_SYSTEM:
        return 0.0
    system = np.zeros((count, count))
    for s in range(count):
        row, target = gram[which[s] // width], which[s] % width
        for t in range(count):
            if width == 1 or which[t] % width == target:
                system[s, t] = row[which[t] // width]
        system[s, s] *= 1.0 + _RIDGE
    at = 0
    for t in range(len(ids)):
        first, last = places[t] * width, places[t + 1] * width
        start = at
        while at < count and which[at] < last:
            at += 1
        if at == start:
            continue
        bend = np.empty((last - first, last - first))
        if not smooth_into(blocks, x[first:last], ids[t], slope[first:last], bend):
            return 0.0
        for a in range(start, at):
            for b in range(start, at):
                system[a, b] += lam * bend[which[a] - first, which[b] - first]
    right = np.empty(count)
    for s in range(count):
        right[s] = -(g[which[s]] + lam * slope[which[s]])
    move = np.zeros(size)
    move[which[:count]] = _solved(system, right)
    return _move_along(gram, blocks, lam, ids, places, which[:count], move, x, g)


@inner
def _solved(system: Any, right: Any) -> Any:
    """By Cholesky's factors, in place."""
    factor = np.linalg.cholesky(system)
    size = len(right)
    for s in range(size):
        total = right[s]
        for t in range(s):
            total -= factor[s, t] * right[t]
        right[s] = total / factor[s, s]
    for s in range(size - 1, -1, -1):
        right[s] /= factor[s, s]
        for t in range(s):
            right[t] -= factor[s, t] * right[s]
    return right


@inner
def _move_along(
    gram: Any,
    blocks: Any,
    lam: float,
    ids: Any,
    places: Any,
    which: Any,
    move: Any,
    x: Any,
    g: Any,
) -> float:
    """Change x and g by the longest of a few multiples of ``move`` that decreases the model."""
    width = blocks.width
    change = np.zeros(len(x))
    for i in which:
        row, s = gram[i // width], i % width
        for j in range(places[-1]):
            change[j * width + s] += move[i] * row[j]
    first, second = 0.0, 0.0
    for i in which:
        first += g[i] * move[i]
        second += change[i] * move[i]
    before, trial, far = penalty_of(blocks, ids, places, x), np.empty(len(x)), 1.0
    for _ in range(_NEWTON_CUTS):
        for i in range(len(x)):
            trial[i] = x[i] + far * move[i]
        rise = lam * (penalty_of(blocks, ids, places, trial) - before)
        if far * (first + 0.5 * far * second) + rise <= 1e-14 * lam * before:
            x[:] = trial
            for i in range(len(x)):
                g[i] += far * change[i]
            return far
        far *= 0.25
    return 0.0
