"""Coordinate steps, one after the other, in the order given: the kernel of ``coordinate.py``."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import (
    announce,
    entry,
    expect,
    fetch,
    gradient,
    hessian,
    place,
    quadratic_bound,
    search,
    span,
    step,
)


class Tuning(NamedTuple):
    """Of coordinate steps. None of these numbers was measured on its own."""

    # Updates between prefetching a coordinate's entries and reading them.
    prefetch_distance: int = 4
    # Steps of a line search; a bracket that is halved so often is down to rounding errors.
    max_trials: int = 40
    # A line search ends with a step this much shorter than the whole move: the next visit to the
    # coordinate is worth more than further digits.
    last_step: float = 1e-3
    # The least curvature of a Newton step, relative to its bound: flat losses promise too much.
    least_curvature: float = 0.001
    # The largest change of z in one step of a loss whose curvature has no bound (Poisson).
    largest_move: float = 4.0


TUNING = Tuning()
# Numba takes globals of kernels for constants.
_AHEAD = TUNING.prefetch_distance
_TRIALS, _CLOSE = TUNING.max_trials, TUNING.last_step
_FLATTEST, _LONGEST = TUNING.least_curvature, TUNING.largest_move
NOT_RECORDED: Any = np.empty(0, np.int64)  # for ``movers``, if the caller does not need them


@kernel
def epoch(
    matrix: Any,
    smooth: Any,
    separable: Any,
    scale: Any,
    squares: Any,
    order: Any,
    x: Any,
    v: Any,
    movers: Any,
) -> tuple[int, int]:
    """Visit the coordinates in ``order``; returns how many moved and the vector operations.

    Curvatures of steps are scale · squares. Those that moved are written to ``movers``, which may
    be ``order`` itself, unless it is empty.
    """
    moved = 0
    operations = 0
    last = len(order) - 1
    for turn in range(len(order)):
        i = order[turn]
        later = order[min(turn + 2 * _AHEAD, last)]
        announce(matrix, later)
        expect(separable, later)
        prefetch(x, later)
        prefetch(squares, later)
        prefetch(scale, later)
        fetch(matrix, order[min(turn + _AHEAD, last)])
        q = scale[i] * squares[i]
        start, stop = span(matrix, i)
        if quadratic_bound(smooth):
            g = 0.0
            for t in range(start, stop):
                k = place(matrix, i, t)
                g += entry(matrix, i, t) * gradient(smooth, k, v[k])
            new = step(separable, i, x[i], g, q)
            operations += 1
        else:
            new, passes = search(smooth, matrix, separable, i, x[i], v, q)
            operations += passes
        if new != x[i]:
            delta = scale[i] * (new - x[i])
            x[i] = new  # not x + Δ, which could round out of the domain
            for t in range(start, stop):
                v[place(matrix, i, t)] += delta * entry(matrix, i, t)
            if len(movers):
                movers[moved] = i
            moved += 1
            operations += 1
    return moved, operations


@inner
def line_minimum(
    smooth: Any, matrix: Any, separable: Any, i: int, x: float, v: Any, q: float
) -> tuple[float, int]:
    """The value of coordinate i that minimises the objective, and the passes over its entries.

    A proximal Newton step always points towards the minimum, so each one tightens a bracket; a step
    that would leave the bracket, and every other one once it is closed, goes to its middle. What is
    returned lies between the start and the minimum, or beyond it by so little that the objective
    falls all the same.
    """
    low, high = -inf, inf
    s = x
    start, stop = span(matrix, i)
    for trial in range(_TRIALS):
        g = 0.0
        h = 0.0
        largest = 0.0
        for t in range(start, stop):
            k = place(matrix, i, t)
            a = entry(matrix, i, t)
            at = v[k] + (s - x) * a
            g += a * gradient(smooth, k, at)
            h += a * a * hessian(smooth, k, at)
            largest = max(largest, abs(a))
        if largest == 0.0:
            return step(separable, i, x, 0.0, 0.0), trial + 1
        flat = h < _FLATTEST * q < inf  # Newton alone would go anywhere
        new = step(separable, i, s, g, _FLATTEST * q if flat else h)
        if flat and s != x and (new > s) == (s > x) and (high == inf or low == -inf):
            # Still on the way, with nothing to go by: stride out. q = ∞ only projects.
            new = step(separable, i, s + 2.0 * (s - x), 0.0, inf)
        reach = _LONGEST / largest if q == inf else inf
        if not abs(new - s) <= reach:  # also when it is not a number
            new = s - reach if g > 0.0 else s + reach
        beyond = (new > s) != (s > x)
        if new == s or (s != x and abs(new - s) <= _CLOSE * abs(s - x) and not (beyond and flat)):
            return s, trial + 1
        if new > s:
            low = s
        else:
            high = s
        closed = low > -inf and high < inf
        inside = low < new < high and not (closed and trial % 2)
        s = new if inside else 0.5 * (low + high)
    return low if x < low else (high if high < x else x), _TRIALS
