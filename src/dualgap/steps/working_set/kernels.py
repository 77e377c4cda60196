"""Coordinate steps on a quadratic model over some features: the kernels of ``working_set.py``.

The model around w is  r·Xδ + ½ Σ_i h_i (Xδ)_i² + λ g(w + δ),  with r and h the slopes and
curvatures of the losses; ``q`` are its curvatures along single features. A step minimises it over
one feature and keeps r up to date, which reads its column twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import (
    conj,
    conj_slope,
    curvature,
    entry,
    place,
    prox,
    slope,
    span,
    value,
)
from dualgap.compile.scalar import EPS
from dualgap.proof.block_terms import ROW

_PAST, _REGULAR = 6, 1e-12  # sweeps between two jumps, and what keeps their system regular
_DECREASE, _SHORTEST, _ROUNDING = 0.01, 1e-8, 8.0  # of a line search


@inner
def goal_of(penalty: Any, lam: float, j: int, x: float, g: float, q: float) -> float:
    """The s that minimises g·s + (q/2)(s − x)² + λ g_j(s)."""
    if q <= 0.0:  # a feature without entries: the penalty decides
        return conj_slope(penalty, 0.0, x, j)
    return prox(penalty, x - g / q, lam / q, j)


@kernel
def gains(penalty: Any, lam: float, q: Any, w: Any, u: Any, out: Any) -> None:
    """How much each feature could gain by a step: q δ², up to a factor."""
    for j in range(len(w)):
        away = goal_of(penalty, lam, j, w[j], -lam * u[j], q[j]) - w[j]
        out[j] = q[j] * away * away


@kernel
def squares(matrix: Any, h: Any, order: Any, out: Any) -> None:
    """Σ_k h_k A_jk² for j in ``order``."""
    for turn in range(len(order)):
        j = order[turn]
        start, stop = span(matrix, j)
        total = 0.0
        for t in range(start, stop):
            x = np.float64(entry(matrix, j, t))
            total += h[place(matrix, j, t)] * x * x
        out[turn] = total


@kernel
def dots(matrix: Any, r: Any, order: Any, out: Any) -> None:
    """A_j·r for j in ``order``."""
    for turn in range(len(order)):
        j = order[turn]
        start, stop = span(matrix, j)
        total = 0.0
        for t in range(start, stop):
            total += r[place(matrix, j, t)] * entry(matrix, j, t)
        out[turn] = total


@inner
def _add(matrix: Any, order: Any, old: Any, new: Any, out: Any) -> None:
    """out += Σ (new − old) A_j for j in ``order``; ``old`` has an entry for every feature."""
    for turn in range(len(order)):
        j = order[turn]
        amount = new[turn] - old[j]
        if amount != 0.0:
            start, stop = span(matrix, j)
            for t in range(start, stop):
                out[place(matrix, j, t)] += amount * entry(matrix, j, t)


@inner
def _sweep(
    matrix: Any,
    penalty: Any,
    lam: float,
    order: Any,
    q: Any,
    h: Any,
    r: Any,
    x: Any,
    which: Any,
    count: int,
) -> tuple[float, int, int]:
    """A step for each of the first ``count`` of ``which``; those that moved are kept in it.

    Returns the largest change of a gradient by its own step, how many moved, and the entries read.
    """
    largest = 0.0
    kept = 0
    work = 0
    for place_in in range(count):
        turn = which[place_in]
        j = order[turn]
        start, stop = span(matrix, j)
        g = 0.0
        for t in range(start, stop):
            g += r[place(matrix, j, t)] * entry(matrix, j, t)
        work += stop - start
        new = goal_of(penalty, lam, j, x[turn], g, q[turn])
        delta = new - x[turn]
        if delta != 0.0:
            x[turn] = new  # not x + δ, which could round out of a bound
            for t in range(start, stop):
                k = place(matrix, j, t)
                r[k] += delta * h[k] * entry(matrix, j, t)
            work += stop - start
            largest = max(largest, q[turn] * abs(delta))
            which[kept] = turn
            kept += 1
    return largest, kept, work


@inner
def _extrapolate(past: Any, out: Any) -> bool:
    """Where the sequence of the rows of ``past`` seems to lead (Anderson 1965; Bertrand, Massias
    2021): the average of later ones with weights of sum 1 that make steps cancel; False if none."""
    steps = len(past) - 1
    system = np.empty((steps, steps))
    for s in range(steps):
        for t in range(s + 1):
            total = 0.0
            for k in range(past.shape[1]):
                total += (past[s + 1, k] - past[s, k]) * (past[t + 1, k] - past[t, k])
            system[s, t] = system[t, s] = total
    largest = 0.0
    for s in range(steps):
        largest = max(largest, system[s, s])
    weights = np.ones(steps)
    for s in range(steps):
        system[s, s] += _REGULAR * largest
    for s in range(steps):  # elimination: the system is positive definite
        if system[s, s] <= 0.0:
            return False
        for t in range(s + 1, steps):
            factor = system[t, s] / system[s, s]
            for k in range(s, steps):
                system[t, k] -= factor * system[s, k]
            weights[t] -= factor * weights[s]
    for s in range(steps - 1, -1, -1):
        for k in range(s + 1, steps):
            weights[s] -= system[s, k] * weights[k]
        weights[s] /= system[s, s]
    total = weights.sum()
    if total == 0.0:
        return False
    out[:] = 0.0
    for s in range(steps):
        for k in range(len(out)):
            out[k] += weights[s] / total * past[s + 1, k]
    return True


@inner
def _jump(
    matrix: Any, penalty: Any, lam: float, order: Any, h: Any, r: Any, x: Any, goal: Any, along: Any
) -> None:
    """Go to ``goal`` if the model is smaller there."""
    along[:] = 0.0
    change = 0.0
    for turn in range(len(order)):
        amount = goal[turn] - x[turn]
        if amount != 0.0:
            j = order[turn]
            change += lam * (value(penalty, goal[turn], j) - value(penalty, x[turn], j))
            start, stop = span(matrix, j)
            for t in range(start, stop):
                along[place(matrix, j, t)] += amount * entry(matrix, j, t)
    for i in range(len(r)):
        change += (r[i] + 0.5 * h[i] * along[i]) * along[i]
    if change < 0.0:
        x[:] = goal
        for i in range(len(r)):
            r[i] += h[i] * along[i]


@kernel
def descend(
    matrix: Any,
    penalty: Any,
    lam: float,
    order: Any,
    q: Any,
    h: Any,
    r: Any,
    x: Any,
    close: float,
    part: float,
    most: int,
) -> tuple[float, float]:
    """Sweeps over ``order`` until no gradient is off by more than ``close``, or than a ``part`` of
    what the first sweep found, or ``most`` of them; returns what it found, and the entries read.

    Between two sweeps over all features only those are visited that still move, and every few
    sweeps a jump leads to where they seem to go.
    """
    first = -1.0
    which = np.empty(len(order), np.int64)
    past, goal = np.empty((_PAST, len(order))), np.empty(len(order))
    along = np.empty(len(r))
    known = 0
    total = 0
    sweeps = 0
    count = len(order)
    everything = True
    while sweeps < most:
        if everything:
            count = len(order)
            for turn in range(count):
                which[turn] = turn
        largest, count, work = _sweep(matrix, penalty, lam, order, q, h, r, x, which, count)
        sweeps += 1
        total += work
        if first < 0.0:
            first = largest
            close = max(close, part * first)
        if largest <= close:
            if everything:
                break
            everything = True
            continue
        everything = False
        past[known] = x
        known += 1
        if known == _PAST:
            if _extrapolate(past, goal):
                _jump(matrix, penalty, lam, order, h, r, x, goal, along)
                total += work // 2
            known = 0
    return first, float(total)


@kernel
def owed(penalty: Any, lam: float, w: Any, u: Any, length: float) -> float:
    """λ Σ_j g_j(w_j) + g_j*(s u_j) − s w_j u_j at s = ``length``."""
    total = 0.0
    for j in range(len(w)):
        at = length * u[j]
        total += value(penalty, w[j], j) + conj(penalty, at, j) - w[j] * at
    return lam * total


@kernel
def expand(loss: Any, y: Any, c: Any, z: Any, r: Any, h: Any) -> float:
    """r = c φ'(z) and h = c φ''(z); returns Σ c φ(z)."""
    total = 0.0
    values, slopes, curvatures = np.empty(ROW), np.empty(ROW), np.empty(ROW)
    for first in range(0, len(y), ROW):
        size = min(ROW, len(y) - first)
        for k in range(size):  # apart from weights and results, for the reason given in terms.py
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
def _change_of_penalty(penalty: Any, lam: float, order: Any, w: Any, x: Any) -> tuple[float, float]:
    """λ Σ g_j(x_j) − g_j(w_j) over the set, and λ Σ g_j(w_j)."""
    there, here = 0.0, 0.0
    for turn in range(len(order)):
        j = order[turn]
        there += value(penalty, x[turn], j)
        here += value(penalty, w[j], j)
    return lam * (there - here), lam * here


@inner
def _put(order: Any, x: Any, w: Any) -> bool:
    """w = x on the set; whether that makes any difference."""
    moved = False
    for turn in range(len(order)):
        moved |= w[order[turn]] != x[turn]
        w[order[turn]] = x[turn]
    return moved


@kernel
def go(matrix: Any, order: Any, x: Any, w: Any, z: Any) -> bool:
    """Change the coefficients of the set to x, and z = Xw with them; whether anything moves."""
    _add(matrix, order, w, x, z)
    return _put(order, x, w)


@kernel
def search(
    matrix: Any,
    loss: Any,
    y: Any,
    c: Any,
    penalty: Any,
    lam: float,
    order: Any,
    x: Any,
    w: Any,
    z: Any,
    r: Any,
    h: Any,
    before: float,
) -> tuple[float, float]:
    """Go from w to x, or as far that the objective falls by a part of what the model promises.

    ``before`` is the sum of losses at w. Changes w on the set, z, r and h; returns the sum of
    losses and the length of the step, 1 being all the way.
    """
    along = np.zeros(len(z))
    _add(matrix, order, w, x, along)
    gain, base = _change_of_penalty(penalty, lam, order, w, x)
    promise = gain
    for i in range(len(z)):
        promise += r[i] * along[i]
    rounding = _ROUNDING * EPS * (abs(before) + base)  # near the end, models promise less
    trial, slopes, curvatures = np.empty(len(z)), np.empty(len(z)), np.empty(len(z))
    length = 1.0
    while length > _SHORTEST:
        for i in range(len(z)):
            trial[i] = z[i] + length * along[i]
        losses = expand(loss, y, c, trial, slopes, curvatures)
        if losses - before + gain <= _DECREASE * length * promise + rounding:
            z[:], r[:], h[:] = trial, slopes, curvatures
            _put(order, x, w)
            return losses, length
        length *= 0.5
        for turn in range(len(order)):
            x[turn] = 0.5 * (x[turn] + w[order[turn]])
        gain, _ = _change_of_penalty(penalty, lam, order, w, x)
    return before, 0.0
