"""The minimum of ½x·Gx − q·x + l1‖x‖₁ + ½l2‖x‖² over x, or over x ≥ 0, by sweeps and direct solves.

Sweeps of coordinate steps find the signs. A Cholesky solve for these signs is exact if none of them
changes; along a path they rarely do. The duality gap follows from x and its gradient g = Gx − q.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner
from dualgap.compile.scalar import soft
from dualgap.steps.path.tuning import TUNING

# Kernels read module-level names.
_SOLVE_SPEED, _REPEATED_SOLVES, _RIDGE = TUNING.solve_speed, TUNING.repeated_solves, TUNING.ridge


@inner
def gap_of(g: Any, x: Any, pull: Any, square: float, l1: float, l2: float, low: float) -> Any:
    """The duality gap and the objective, given Σ c y² = ``square``.

    The dual point is the residual, or a multiple of it for which l1 alone bounds all gradients. The
    gap is a sum of terms that are not negative, so no digits are lost between objective and bound.
    """
    largest, excess = pushes_of(g, l1, low)
    return gap_from(largest, excess, g, x, pull, square, l1, l2)


@inner
def pushes_of(g: Any, l1: float, low: float) -> Any:
    """The largest push on a coefficient, and Σ (push − l1)² of those above l1."""
    largest, excess = 0.0, 0.0
    if low == 0.0:
        for k in range(len(g)):
            largest = max(largest, -g[k])
            excess += max(-g[k] - l1, 0.0) ** 2
    else:
        for k in range(len(g)):
            largest = max(largest, abs(g[k]))
            excess += max(abs(g[k]) - l1, 0.0) ** 2
    return largest, excess


@inner
def gap_from(
    largest: float, excess: float, g: Any, x: Any, pull: Any, square: float, l1: float, l2: float
) -> Any:
    """The same from the pushes on all coefficients, and arrays of those that may not be 0."""
    fitted, own, norm, terms = 0.0, 0.0, 0.0, 0.0
    for k in range(len(x)):
        fitted += pull[k] * x[k]
        own += g[k] * x[k]
        norm += abs(x[k])
        terms += x[k] * x[k]
    rest = max(square - fitted + own, 0.0)  # Σ c (y − x·w)²
    penalty = l1 * norm + 0.5 * l2 * terms
    length = min(1.0, l1 / largest) if largest > 0.0 else 1.0
    gap = 0.5 * (1.0 - length) ** 2 * rest + max(penalty + length * own, 0.0)
    if l2 > 0.0:
        gap = min(gap, max(penalty + own + 0.5 * excess / l2, 0.0))
    return gap, 0.5 * rest + penalty


@inner
def minimise(
    gram: Any,
    pull: Any,
    square: float,
    l1: float,
    l2: float,
    low: float,
    share: float,
    least: float,
    most_sweeps: int,
    g: Any,
    x: Any,
) -> Any:
    """Change x and g until the gap is a ``share`` of the objective, which counts as at ``least`` so
    much; returns sweeps and multiplications."""
    size = len(x)
    work, since = 0.0, 0.0
    for sweep in range(most_sweeps):
        for k in range(size):
            bend = gram[k, k]
            if bend > 0.0:
                new = max(soft(bend * x[k] - g[k], l1) / (bend + l2), low)
                delta = new - x[k]
                if delta != 0.0:
                    x[k] = new
                    row = gram[k]
                    for j in range(size):
                        g[j] += delta * row[j]
                    since += size
        since += size
        gap, objective = gap_of(g, x, pull, square, l1, l2, low)
        if gap <= share * max(objective - gap, least):
            return sweep + 1, work + since
        support = float(np.count_nonzero(x))
        one = support * support * support / 6.0
        if since * _SOLVE_SPEED >= one:
            work += since + one
            since = 0.0
            left = 1 + int(_REPEATED_SOLVES / (1.0 + one))
            # Features that others can replace leave one by one.
            while left > 0 and _solve_support(gram, l1, l2, low, g, x):
                work += one
                left -= 1
    return most_sweeps, work + since


@inner
def _solve_support(gram: Any, l1: float, l2: float, low: float, g: Any, x: Any) -> bool:
    """Move to the minimum for the signs of x; returns whether a sign would change.

    If one does, those coefficients stop at 0; if the objective is not smaller there, all stop where
    the first sign would change.
    """
    size = len(x)
    which = np.empty(size, np.int64)
    count = 0
    for k in range(size):
        if x[k] != 0.0:
            which[count] = k
            count += 1
    system, move = np.empty((count, count)), np.empty(count)
    for s in range(count):
        k = which[s]
        row = gram[k]
        for t in range(count):
            system[s, t] = row[which[t]]
        system[s, s] += l2 + _RIDGE * row[k]
        move[s] = -g[k] - l1 * np.sign(x[k]) - l2 * x[k]
    if not _solve(system, move):
        return False
    length, rise = 1.0, 0.0
    goal = np.empty(count)
    for s in range(count):
        k = which[s]
        new = x[k] + move[s]
        if (l1 > 0.0 or low == 0.0) and new * x[k] < 0.0:
            length = min(length, -x[k] / move[s])
            new = 0.0
        goal[s] = new
        rise += l1 * (abs(new) - abs(x[k])) + 0.5 * l2 * (new * new - x[k] * x[k])
    cut = length < 1.0
    change = np.empty(size)
    if cut:
        rise += _shift(gram, which, count, goal, g, x, change)
    else:
        _shift(gram, which, count, goal, g, x, change)
    if cut and not rise <= 0.0:
        for s in range(count):
            k = which[s]
            new = x[k] + length * move[s]
            # The first to arrive at zero stays there.
            goal[s] = 0.0 if new * x[k] <= 0.0 or abs(new) <= 1e-12 * abs(x[k]) else new
        _shift(gram, which, count, goal, g, x, change)
    for s in range(count):
        x[which[s]] = goal[s]
    for k in range(size):
        g[k] += change[k]
    return cut


@inner
def _shift(gram: Any, which: Any, count: int, goal: Any, g: Any, x: Any, change: Any) -> float:
    """Set ``change`` to how g changes by moving to ``goal``; returns the rise of the quadratic."""
    change[:] = 0.0
    for s in range(count):
        delta = goal[s] - x[which[s]]
        if delta != 0.0:
            row = gram[which[s]]
            for k in range(len(change)):
                change[k] += delta * row[k]
    rise = 0.0
    for s in range(count):
        k = which[s]
        rise += (g[k] + 0.5 * change[k]) * (goal[s] - x[k])
    return rise


@inner
def _solve(system: Any, right: Any) -> bool:
    """right ← A⁻¹ right by Cholesky's method; False if A is singular up to rounding."""
    try:
        factor = np.linalg.cholesky(system)
    except Exception:
        return False
    size = len(right)
    for s in range(size):
        row = factor[s]
        total = 0.0
        for k in range(s):
            total += row[k] * right[k]
        right[s] = (right[s] - total) / row[s]
    for s in range(size - 1, -1, -1):
        row = factor[s]
        right[s] /= row[s]
        for k in range(s):
            right[k] -= right[s] * row[k]
    return True
