"""Coordinate steps that each score all coordinates first, many of them in one call.

Every step needs the scores of all coordinates at the current point, that is g = A F'(v). A step on
coordinate i changes v, and so F'(v), at the places of A_i only, and g by what these changes are
worth: a step reads Σ ω_k entries, where ω_k coordinates have an entry at place k, and never more
than all of X. Each call starts from a new g, so that rounding errors cannot add up for long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import helper, kernel
from dualgap.compile.rules import entry, goal, gradient, level, part, place, span
from dualgap.linalg.products import gather_scalars
from dualgap.samplings.base import StepRule
from dualgap.steps.coordinate.epoch import epoch
from dualgap.steps.coordinate.views import View

_GROUP = 256  # coordinates whose weights are summed, so that a draw can skip them; not measured


class AdaptiveSteps:
    """The steps of a sampling whose weights are a ``StepRule``, from the state of a view on."""

    def __init__(self, view: View, rule: StepRule) -> None:
        self.view, self.rule = view, rule
        # About the entries that a step reads.
        self.entries = view.size + float(np.sum(view.place_counts**2)) / view.size

    def advance(self, coins: Any) -> tuple[Any, int, int]:
        """A step for each of these uniform numbers; what was visited, how many moved, operations.

        Fewer are visited when the weights at some point have no finite positive sum.
        """
        view = self.view
        order = np.empty(len(coins), np.int64)
        visits, moved, operations = _steps(
            view.matrix,
            view.across,
            view.smooth,
            view.separable,
            view.scale,
            view.squares,
            view.scorer,
            self.rule,
            coins,
            order,
            view.x,
            view.v,
        )
        return order[:visits], moved, operations


@kernel
def _steps(
    matrix: Any,
    across: Any,
    smooth: Any,
    separable: Any,
    scale: Any,
    squares: Any,
    scorer: Any,
    rule: Any,
    coins: Any,
    order: Any,
    x: Any,
    v: Any,
) -> tuple[int, int, int]:
    slopes, g = np.empty(len(v)), np.empty(len(x))  # F'(v) and A F'(v)
    for k in range(len(v)):
        slopes[k] = gradient(smooth, k, v[k])
    gather_scalars(matrix, slopes, g)
    groups = (len(x) + _GROUP - 1) // _GROUP
    sums, counts = np.empty(groups), np.empty(groups)
    moved = 0
    operations = 0
    for turn in range(len(coins)):
        height = level(scorer, x, v)
        i = _draw(scorer, rule, height, coins[turn], x, g, sums, counts)
        if i < 0:
            return turn, moved, operations
        order[turn] = i
        one = order[turn : turn + 1]
        change, work = epoch(matrix, smooth, separable, scale, squares, one, x, v, order[:0])
        operations += work
        moved += change
        start, stop = span(matrix, i)
        if change:
            for t in range(start, stop):
                k = place(matrix, i, t)
                before = slopes[k]
                slopes[k] = gradient(smooth, k, v[k])
                if slopes[k] != before:
                    _add(across, k, slopes[k] - before, g)
        # As the step sees it: off by a rounding error, a coordinate that is optimal could be drawn
        # again and again, and never move.
        g[i] = 0.0
        for t in range(start, stop):
            g[i] += entry(matrix, i, t) * slopes[place(matrix, i, t)]
    return len(coins), moved, operations


# Unsigned, for Numba asks of each signed index whether it counts from the end: the loops below take
# half of the time.


@helper
def _add(across: Any, k: int, change: float, g: Any) -> None:
    """g += change times what all coordinates have at place k."""
    start, stop = span(across, k)
    for t in range(np.uint64(start), np.uint64(stop)):
        g[np.uint64(place(across, k, t))] += change * entry(across, k, t)


@kernel
def _draw(
    scorer: Any, rule: Any, height: float, coin: float, x: Any, g: Any, sums: Any, counts: Any
) -> Any:
    """A coordinate with the probabilities of the rule; −1 if they have no finite positive sum."""
    for group in range(len(sums)):
        first, beyond = _members(group, len(x))
        total = 0.0
        count = 0.0
        for i in range(first, beyond):
            score = _score(scorer, rule, height, i, x[i], g[i])
            total += rule.factor[i] * score
            count += score != 0.0
        sums[group], counts[group] = total, count
    total, count = np.sum(sums), np.sum(counts)
    slant = (1.0 - rule.even) / total if total > 0.0 else 0.0
    even = rule.even / max(count, 1.0)
    rest = slant * total + even * count
    if not 0.0 < rest < np.inf:
        return np.int64(-1)
    rest *= coin
    # Where rounding passes the end, it is the last one with a weight.
    chosen = 0
    for group in range(len(sums)):
        weight = slant * sums[group] + even * counts[group]
        if weight > 0.0:
            chosen = group
            if rest < weight:
                break
            rest -= weight
    found = np.int64(-1)
    first, beyond = _members(chosen, len(x))
    for i in range(first, beyond):
        score = _score(scorer, rule, height, i, x[i], g[i])
        weight = slant * rule.factor[i] * score + even * (score != 0.0)
        if weight > 0.0:
            found = np.int64(i)
            if rest < weight:
                break
            rest -= weight
    return found


@helper
def _members(group: int, size: int) -> Any:
    return np.uint64(group * _GROUP), np.uint64(min((group + 1) * _GROUP, size))


@helper
def _score(scorer: Any, rule: Any, height: float, i: int, x: float, g: float) -> float:
    if rule.by_gap:  # as a branch, which the compiler can take out of the loop
        return part(scorer, i, x, g, goal(scorer, i, x, g, height))
    return abs(goal(scorer, i, x, g, height) - x)
