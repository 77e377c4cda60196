"""A quadratic model over few features, by their Gram matrix: the kernels of ``gram_model.py``."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import entry, place, within
from dualgap.steps.working_set.kernels import goal_of

_FIRST, _LATER = 10, 3  # sweeps before the first direct solve, and at least between two of them
_AS_FAST = 18.0  # how much faster a direct solve multiplies than sweeps, times 3
_ROUNDS = 50
_AT_ONCE = 4e9  # multiplications of solves, times 3, before the next sweep: features leave ...
_FEW, _PATIENCE = 128, 2  # ... if these are few, or so many rounds did not do
_DAMPED = 1e-10  # added to a diagonal of 1, for features that others can replace


@kernel
def add_products(
    matrix: Any, order: Any, h: Any, known: int, rows: int, begin: int, end: int, out: Any
) -> None:
    """out_st += Σ_k h_k A_sk A_tk, k from ``begin`` to ``end``, for the features of ``order`` but
    for the first ``known``, and t up to s.

    So many ``rows`` at a time are turned into lists of their entries, whose products are added up.
    """
    size = len(order)
    ahead, stops = np.empty(size, np.int64), np.empty(size, np.int64)
    for s in range(size):
        ahead[s], stops[s] = within(matrix, order[s], begin, end)
    ends = np.empty(rows + 1, np.int64)
    positions, values = np.empty(0, np.uint32), np.empty(0)
    for low in range(begin, end, rows):
        high = min(low + rows, end)
        ends[:] = 0
        for s in range(size):
            t = ahead[s]
            while t < stops[s] and place(matrix, order[s], t) < high:
                ends[place(matrix, order[s], t) - low + 1] += 1
                t += 1
        for k in range(rows):
            ends[k + 1] += ends[k]
        if ends[rows] > len(positions):
            positions, values = np.empty(2 * ends[rows], np.uint32), np.empty(2 * ends[rows])
        for s in range(size):
            t = ahead[s]
            while t < stops[s] and place(matrix, order[s], t) < high:
                k = place(matrix, order[s], t) - low
                positions[ends[k]] = s
                values[ends[k]] = entry(matrix, order[s], t)
                ends[k] += 1  # in the end, where the list of this row ends
                t += 1
            ahead[s] = t
        start = 0
        for k in range(high - low):
            where, what = positions[start : ends[k]], values[start : ends[k]]
            start = ends[k]
            weight = h[low + k]
            for last in range(len(where), 0, -1):
                if weight == 0.0 or where[last - 1] < known:
                    break
                x = weight * what[last - 1]
                row = out[where[last - 1] - known]
                for t in range(last):
                    row[where[t]] += x * what[t]


@kernel
def mirror(parts: Any, known: int, out: Any) -> None:
    """out = the sum of the parts, from ``known`` on, with both triangles."""
    for s in range(parts.shape[1]):
        for t in range(known + s + 1):
            total = 0.0
            for part in range(len(parts)):
                total += parts[part, s, t]
            out[known + s, t] = total
            out[t, known + s] = total


@inner
def _sweep(gram: Any, penalty: Any, lam: float, order: Any, q: Any, g: Any, x: Any) -> float:
    """A step for each feature; returns the largest change of a gradient by its own step."""
    largest = 0.0
    for turn in range(len(order)):
        new = goal_of(penalty, lam, order[turn], x[turn], g[turn], q[turn])
        delta = new - x[turn]
        if delta != 0.0:
            x[turn] = new  # not x + δ, which could round out of a bound
            row = gram[turn]
            for k in range(len(order)):
                g[k] += delta * row[k]
            largest = max(largest, q[turn] * abs(delta))
    return largest


@kernel
def off(penalty: Any, lam: float, order: Any, q: Any, g: Any, x: Any) -> float:
    """The largest change of a gradient that a step would make."""
    largest = 0.0
    for turn in range(len(order)):
        new = goal_of(penalty, lam, order[turn], x[turn], g[turn], q[turn])
        largest = max(largest, q[turn] * abs(new - x[turn]))
    return largest


@inner
def _solve(gram: Any, more: Any, which: Any, right: Any) -> None:
    """right ← A⁻¹ right with A the Gram matrix of ``which``, and ``more`` on its diagonal."""
    size = len(which)
    system = np.empty((size, size))
    for s in range(size):
        row = gram[which[s]]
        for t in range(size):
            system[s, t] = row[which[t]]
        system[s, s] += more[which[s]] + _DAMPED * row[which[s]]
    factor = np.linalg.cholesky(system)
    for s in range(size):
        total = right[s]
        for t in range(s):
            total -= factor[s, t] * right[t]
        right[s] = total / factor[s, s]
    for s in range(size - 1, -1, -1):
        right[s] /= factor[s, s]
        for t in range(s):
            right[t] -= factor[s, t] * right[s]


@inner
def _shift(gram: Any, which: Any, goal: Any, x: Any, g: Any, change: Any) -> float:
    """change = the change of g by moving to ``goal``; returns that of the quadratic part."""
    change[:] = 0.0
    for s in range(len(which)):
        delta = goal[s] - x[which[s]]
        if delta != 0.0:
            row = gram[which[s]]
            for k in range(len(change)):
                change[k] += delta * row[k]
    total = 0.0
    for s in range(len(which)):
        k = which[s]
        total += (g[k] + 0.5 * change[k]) * (goal[s] - x[k])
    return total


@inner
def _solve_support(
    gram: Any, lam: float, l1: Any, l2: Any, low: Any, high: Any, g: Any, x: Any
) -> bool:
    """To the minimum of the model for the signs of x, or as far as they hold: then it is True."""
    size = len(x)
    which = np.empty(size, np.int64)
    count = 0
    for k in range(size):
        if (x[k] != 0.0 or l1[k] == 0.0) and low[k] < x[k] < high[k]:
            which[count] = k
            count += 1
    if count == 0:
        return False
    which = which[:count]
    move, goal = np.empty(count), np.empty(count)
    for s in range(count):
        k = which[s]
        move[s] = -g[k] - lam * (l1[k] * np.sign(x[k]) + l2[k] * x[k])
    _solve(gram, lam * l2, which, move)
    gain = 0.0
    length = 1.0
    for s in range(count):
        k = which[s]
        new = x[k] + move[s]
        if l1[k] > 0.0 and new * x[k] < 0.0:
            length = min(length, -x[k] / move[s])
            new = 0.0
        goal[s] = min(max(new, low[k]), high[k])
        gain += l1[k] * (abs(goal[s]) - abs(x[k])) + 0.5 * l2[k] * (goal[s] ** 2 - x[k] ** 2)
    change = np.empty(size)
    gain = lam * gain + _shift(gram, which, goal, x, g, change)
    cut = length < 1.0
    if not gain <= 0.0:
        for s in range(count):
            k = which[s]
            new = x[k] + length * move[s]
            # The first to arrive at zero stays there.
            if l1[k] > 0.0 and (new * x[k] <= 0.0 or abs(new) <= 1e-12 * abs(x[k])):
                new = 0.0
            goal[s] = min(max(new, low[k]), high[k])
        _shift(gram, which, goal, x, g, change)
    for s in range(count):
        x[which[s]] = goal[s]
    for k in range(size):
        g[k] += change[k]
    return cut


@kernel
def minimise(
    gram: Any,
    penalty: Any,
    lam: float,
    shaped: bool,
    l1: Any,
    l2: Any,
    low: Any,
    high: Any,
    order: Any,
    q: Any,
    g: Any,
    x: Any,
    close: float,
    part: float,
) -> tuple[float, float]:
    """Sweeps and direct solves, until no gradient is off by more than ``close``, or by more than a
    ``part`` of what the first sweep found; returns what it found, and what is left."""
    first = largest = _sweep(gram, penalty, lam, order, q, g, x)
    close = max(close, part * first)
    sweeps = _FIRST
    for turn in range(_ROUNDS):
        for _ in range(sweeps):
            if largest <= close:
                return first, largest
            largest = _sweep(gram, penalty, lam, order, q, g, x)
        support = np.count_nonzero(x)
        solves = 1 if shaped and largest > close else 0
        if turn >= _PATIENCE or support <= _FEW:
            solves *= 1 + int(_AT_ONCE / (1.0 + support) ** 3)
        # Features leave one by one, as long as there are more of them than it takes.
        while solves > 0 and _solve_support(gram, lam, l1, l2, low, high, g, x):
            solves -= 1
        support = np.count_nonzero(x)
        sweeps = _LATER + int(support * support / (_AS_FAST * len(x)))
        largest = inf
    return first, largest
