"""Proximal steps on the blocks of a set, by its Gram matrix.

Features may have ``width`` coefficients, one for each target, which share the Gram matrix: entry
(j, s) is at j·width + s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.group_rules import prox_into
from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import value
from dualgap.compile.scalar import length
from dualgap.steps.groups.tuning import TUNING

# Kernels read module-level names.
_LOCAL_STEPS, _LOCAL_ACCURACY = TUNING.local_steps, TUNING.local_accuracy
_POWER_STEPS, _POWER_MARGIN = TUNING.power_steps, TUNING.power_margin


@kernel
def gains(blocks: Any, lam: float, bound: Any, w: Any, u: Any, out: Any) -> None:
    """What each block could gain by a step: q‖δ‖², up to a factor; q is its ``bound``."""
    at, new = np.empty(len(w)), np.empty(len(w))
    for k in range(len(blocks.starts) - 1):
        one = slice(blocks.starts[k] * blocks.width, blocks.starts[k + 1] * blocks.width)
        out[k] = 0.0
        if bound[k] > 0.0:
            for i in range(one.start, one.stop):
                at[i] = w[i] + lam * u[i] / bound[k]
            prox_into(blocks, at[one], lam / bound[k], k, new[one])
            for i in range(one.start, one.stop):
                out[k] += bound[k] * (new[i] - w[i]) * (new[i] - w[i])


@kernel
def curvatures(gram: Any, places: Any, least: Any, out: Any) -> None:
    """About the largest eigenvalue of each block of the Gram matrix, or a bound on it."""
    for t in range(len(places) - 1):
        first, size = places[t], places[t + 1] - places[t]
        largest_sum, floor = 0.0, 0.0
        for i in range(size):
            total = 0.0
            for j in range(size):
                total += abs(gram[first + i, first + j])
            largest_sum, floor = max(largest_sum, total), max(floor, least[first + i])
        if size > 2:
            v, new, grown = np.ones(size), np.empty(size), 0.0
            for i in range(size):
                v[i] = 1.0 + 0.1 * (i % 7)
            for _ in range(_POWER_STEPS):
                before = length(v)
                for i in range(size):
                    new[i] = 0.0
                    for j in range(size):
                        new[i] += gram[first + i, first + j] * (v[j] / before)
                v[:] = new
                grown = length(new)
                if grown == 0.0:
                    break
            largest_sum = min(largest_sum, _POWER_MARGIN * grown) if grown > 0.0 else largest_sum
        out[t] = max(largest_sum, floor)


@inner
def block_step(
    blocks: Any, lam: float, k: int, q: float, x: Any, g: Any, at: Any, new: Any
) -> float:
    """new = the proximal step from x with gradient g and curvature q; returns its length."""
    total = 0.0
    for i in range(len(x)):
        at[i] = x[i] - g[i] / q
    prox_into(blocks, at, lam / q, k, new)
    for i in range(len(x)):
        total += (new[i] - x[i]) * (new[i] - x[i])
    return float(np.sqrt(total))


@inner
def _local_minimum(
    gram: Any, blocks: Any, lam: float, k: int, q: float, first: int, x: Any, g: Any, work: Any
) -> float:
    """Proximal steps of block k alone: changes x, and not g; returns the length of the first."""
    width, size = blocks.width, len(x)
    at, new, local = work[0, :size], work[1, :size], work[2, :size]
    moved = block_step(blocks, lam, k, q, x, g, at, new)
    start = moved
    local[:] = g
    turns = _LOCAL_STEPS if size > width else 1
    for turn in range(turns):
        if moved == 0.0:
            break
        if (turn + 1 < turns and moved > _LOCAL_ACCURACY * start) or turn == 0:
            for i in range(size // width):
                for j in range(size // width):
                    cross = gram[first + i, first + j]
                    for s in range(width):
                        local[i * width + s] += cross * (new[j * width + s] - x[j * width + s])
        x[:] = new
        if turn + 1 == turns or (turn > 0 and moved <= _LOCAL_ACCURACY * start):
            break
        moved = block_step(blocks, lam, k, q, x, local, at, new)
    return float(start)


@inner
def sweep(
    gram: Any,
    blocks: Any,
    lam: float,
    ids: Any,
    places: Any,
    q: Any,
    x: Any,
    g: Any,
    active: Any,
    count: int,
    work: Any,
) -> tuple[float, int]:
    """A step for each of the first ``count`` blocks of ``active``, which keeps those that moved.

    Returns the largest violation, the change of a gradient by a step, and how many moved.
    """
    width, size = blocks.width, places[-1]
    largest, kept = 0.0, 0
    for position in range(count):
        t = active[position]
        first, last = places[t], places[t + 1]
        if q[t] == 0.0:
            continue
        one = slice(first * width, last * width)
        old = work[3, : one.stop - one.start]
        old[:] = x[one]
        moved = _local_minimum(gram, blocks, lam, ids[t], q[t], first, x[one], g[one], work)
        if moved == 0.0:
            continue
        largest = max(largest, q[t] * moved)
        active[kept] = t
        kept += 1
        for i in range(last - first):
            row = gram[first + i]
            if width == 1:
                delta = x[first + i] - old[i]
                if delta != 0.0:
                    for j in range(size):
                        g[j] += delta * row[j]
                continue
            any_moved = False
            for s in range(width):
                old[i * width + s] = x[(first + i) * width + s] - old[i * width + s]
                any_moved |= old[i * width + s] != 0.0
            if any_moved:
                for j in range(size):
                    for s in range(width):
                        g[j * width + s] += row[j] * old[i * width + s]
    return largest, kept


@kernel
def largest_violation(
    blocks: Any, lam: float, ids: Any, places: Any, q: Any, g: Any, x: Any
) -> float:
    """The largest change of a gradient that a step on a block would make."""
    at, new, largest = np.empty(len(x)), np.empty(len(x)), 0.0
    for t in range(len(ids)):
        one = slice(places[t] * blocks.width, places[t + 1] * blocks.width)
        if q[t] > 0.0:
            moved = block_step(blocks, lam, ids[t], q[t], x[one], g[one], at[one], new[one])
            largest = max(largest, q[t] * moved)
    return largest


@kernel
def penalty_of(blocks: Any, ids: Any, places: Any, x: Any) -> float:
    """Σ g_k over the blocks of a set."""
    total = 0.0
    for t in range(len(ids)):
        total += value(blocks, x[places[t] * blocks.width : places[t + 1] * blocks.width], ids[t])
    return total
