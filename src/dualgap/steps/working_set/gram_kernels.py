"""The minimum of a Newton model over few features, by their Gram matrix.

Sweeps of coordinate steps find the signs of the coefficients; direct solves for these signs end a
model exactly. Penalties enter by their ``prox``, so that a user's own penalty gets sweeps alone.

``newton/model.minimum`` solves the same kind of model. They stay two because working sets need a
tolerance and any ``prox``, Newton steps an accuracy that only rounding errors limit. Measured with
each in the place of the other (L1, tol 1e-6): working sets with the other solver take 0.9 to 1.8
times as long on a9a (logistic), 1.3 to 1.6 times on madelon (Lasso), 0.9 to 1.1 times there with
the logistic loss, and 1.1 to 2.2 times on 1000 × 3000 Gaussian numbers (Lasso). The last bits of
every result differ.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import entry, place, within
from dualgap.steps.working_set.column_kernels import coordinate_minimum
from dualgap.steps.working_set.tuning import TUNING

# Kernels read module-level names.
_SWEEPS_BEFORE_SOLVE, _SWEEPS_BETWEEN_SOLVES = (
    TUNING.sweeps_before_solve,
    TUNING.sweeps_between_solves,
)
_SOLVE_SPEED, _ROUNDS, _REPEATED_SOLVES = TUNING.solve_speed, TUNING.rounds, TUNING.repeated_solves
_SMALL_SUPPORT, _PATIENT_ROUNDS, _RIDGE = TUNING.small_support, TUNING.patient_rounds, TUNING.ridge


@kernel
def add_products(
    matrix: Any, features: Any, h: Any, known: int, rows: int, begin: int, end: int, out: Any
) -> None:
    """out_st += Σ_k h_k A_sk A_tk, k from ``begin`` to ``end``, for all features s after the first
    ``known`` and all t up to s.

    Blocks of ``rows`` rows are turned into lists of entries, whose products are added up.
    """
    size = len(features)
    ahead, stops = np.empty(size, np.int64), np.empty(size, np.int64)
    for s in range(size):
        ahead[s], stops[s] = within(matrix, features[s], begin, end)
    ends = np.empty(rows + 1, np.int64)
    positions, values = np.empty(0, np.uint32), np.empty(0)
    for low in range(begin, end, rows):
        high = min(low + rows, end)
        ends[:] = 0
        for s in range(size):
            t = ahead[s]
            while t < stops[s] and place(matrix, features[s], t) < high:
                ends[place(matrix, features[s], t) - low + 1] += 1
                t += 1
        for k in range(rows):
            ends[k + 1] += ends[k]
        if ends[rows] > len(positions):
            positions, values = np.empty(2 * ends[rows], np.uint32), np.empty(2 * ends[rows])
        for s in range(size):
            t = ahead[s]
            while t < stops[s] and place(matrix, features[s], t) < high:
                k = place(matrix, features[s], t) - low
                positions[ends[k]] = s
                values[ends[k]] = entry(matrix, features[s], t)
                ends[k] += 1  # after the loop, the end of the list of this row
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
def mirror(sums: Any, known: int, out: Any) -> None:
    """out = the sum of what the threads found, from ``known`` on, with both triangles."""
    for s in range(sums.shape[1]):
        for t in range(known + s + 1):
            total = 0.0
            for k in range(len(sums)):
                total += sums[k, s, t]
            out[known + s, t] = total
            out[t, known + s] = total


@inner
def _sweep(gram: Any, penalty: Any, lam: float, features: Any, q: Any, g: Any, x: Any) -> float:
    """A step for each feature; returns the largest violation: the change of a gradient by it."""
    largest = 0.0
    for turn in range(len(features)):
        new = coordinate_minimum(penalty, lam, features[turn], x[turn], g[turn], q[turn])
        delta = new - x[turn]
        if delta != 0.0:
            x[turn] = new  # not x + δ, which could round out of a bound
            row = gram[turn]
            for k in range(len(features)):
                g[k] += delta * row[k]
            largest = max(largest, q[turn] * abs(delta))
    return largest


@kernel
def largest_violation(penalty: Any, lam: float, features: Any, q: Any, g: Any, x: Any) -> float:
    """The largest change of a gradient that a coordinate step would make."""
    largest = 0.0
    for turn in range(len(features)):
        new = coordinate_minimum(penalty, lam, features[turn], x[turn], g[turn], q[turn])
        largest = max(largest, q[turn] * abs(new - x[turn]))
    return largest


@inner
def _solve(gram: Any, added: Any, which: Any, right: Any) -> None:
    """right ← A⁻¹ right, A being the Gram matrix of ``which`` plus ``added`` on its diagonal."""
    size = len(which)
    system = np.empty((size, size))
    for s in range(size):
        row = gram[which[s]]
        for t in range(size):
            system[s, t] = row[which[t]]
        system[s, s] += added[which[s]] + _RIDGE * row[which[s]]
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
    """Set ``change`` to how g changes by moving to ``goal``; returns the rise of the quadratic."""
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
    """Move to the minimum of the model for the signs of x; returns whether a sign would change.

    If one does, those coefficients stop at 0; if the model is not smaller there, all stop where the
    first sign would change.
    """
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
    rise = 0.0
    length = 1.0
    for s in range(count):
        k = which[s]
        new = x[k] + move[s]
        if l1[k] > 0.0 and new * x[k] < 0.0:
            length = min(length, -x[k] / move[s])
            new = 0.0
        goal[s] = min(max(new, low[k]), high[k])
        rise += l1[k] * (abs(goal[s]) - abs(x[k])) + 0.5 * l2[k] * (goal[s] ** 2 - x[k] ** 2)
    change = np.empty(size)
    rise = lam * rise + _shift(gram, which, goal, x, g, change)
    cut = length < 1.0
    if not rise <= 0.0:
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
    direct: bool,
    l1: Any,
    l2: Any,
    low: Any,
    high: Any,
    features: Any,
    q: Any,
    g: Any,
    x: Any,
    tolerance: float,
    fraction: float,
) -> float:
    """Sweeps and direct solves, until no violation exceeds ``tolerance`` or the ``fraction`` of the
    largest in the first sweep; returns that one."""
    first = largest = _sweep(gram, penalty, lam, features, q, g, x)
    tolerance = max(tolerance, fraction * first)
    sweeps = _SWEEPS_BEFORE_SOLVE
    for turn in range(_ROUNDS):
        for _ in range(sweeps):
            if largest <= tolerance:
                return first
            largest = _sweep(gram, penalty, lam, features, q, g, x)
        support = np.count_nonzero(x)
        solves = 1 if direct and largest > tolerance else 0
        if turn >= _PATIENT_ROUNDS or support <= _SMALL_SUPPORT:
            solves *= 1 + int(_REPEATED_SOLVES / (1.0 + support) ** 3)
        # Features that others can replace leave one by one.
        while solves > 0 and _solve_support(gram, lam, l1, l2, low, high, g, x):
            solves -= 1
        support = np.count_nonzero(x)
        sweeps = _SWEEPS_BETWEEN_SOLVES + int(support * support / (_SOLVE_SPEED * len(x)))
        largest = inf
    return first
