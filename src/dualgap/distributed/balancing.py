"""Dual variables that add up to 0, as an intercept without a penalty asks for: the driver's search.

Of the points a − t, brought back into the domain of the loss, one t has it: their sum falls as t
grows, so that a few exchanges of sums for many t at once find it. For many classes, Newton steps
find tilts (``balance_blocks.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.distributed.dual_change import Change, Weighed, imbalances, weigh
from dualgap.distributed.engine import Crew
from dualgap.linalg.validate import Floats
from dualgap.proof.balance_blocks import balanced
from dualgap.proof.balance_search import solved

_TRIALS, _POINTS = 40, 16
_DOUBLINGS = 60


class _Everywhere:
    """Dual points of all partitions, tilted; a ``Change`` stands for one."""

    def __init__(self, crew: Crew, size: int) -> None:
        self.crew, self.size = crew, size
        self._mixed: tuple[tuple[float, Floats], ...] = ()
        self._last: tuple[Any, Weighed | None] = (None, None)

    def mix(self, part: float) -> None:
        self._mixed = (*self._mixed, (part, np.zeros(self.size)))

    def at(self, t: Floats) -> Change:
        return Change(tilts=(*self._mixed[:-1], (self._mixed[-1][0], t)))

    def corrected(self, a: Change, missing: Floats) -> Change:
        return Change(tilts=(*a.tilts, (0.0, solved(self._weighed(a).gram, missing))))

    def imbalance(self, a: Change) -> Floats:
        return self._weighed(a).imbalance

    def length(self, a: Change) -> Floats:
        return np.asarray(np.sqrt(self._weighed(a).squares))

    def gram(self, t: Floats, a: Change) -> Floats:
        return self._weighed(a).gram

    def _weighed(self, a: Change) -> Weighed:
        """One exchange tells all of it."""
        if self._last[0] is not a:
            parts = self.crew.ask(weigh, a)
            self._last = a, Weighed(*(np.asarray(sum(each)) for each in zip(*parts)))
        found = self._last[1]
        assert found is not None
        return found


def balanced_classes(crew: Crew, width: int, n: int) -> Change:
    """The change with which dual variables add up to 0 for each class."""
    found: Change = balanced(_Everywhere(crew, width), Change(), n)
    return found


def balanced_numbers(crew: Crew, stride: float, close: float) -> Change:
    """The shift with which dual variables add up to 0."""

    def sums(ts: Floats) -> Floats:
        return np.asarray(sum(crew.ask(imbalances, ts)))

    return Change(falling_root(sums, stride, close))


def falling_root(values: Callable[[Floats], Floats], stride: float, close: float) -> float:
    """Where a function that never rises is 0, up to ``close`` or as near as floats come."""
    at = float(values(np.zeros(1))[0])
    if abs(at) <= close:
        return 0.0
    direction = np.sign(at)
    far = direction * stride * 2.0 ** np.arange(_DOUBLINGS)
    beyond = np.flatnonzero(direction * values(far) <= 0.0)
    last = int(beyond[0]) if beyond.size else _DOUBLINGS - 1
    near, end = (far[last - 1] if last else 0.0), far[last]
    best = end
    for _ in range(_TRIALS):
        low, high = min(near, end), max(near, end)
        points = np.unique(np.concatenate([np.linspace(low, high, _POINTS), [best]]))
        found = values(points)
        if abs(found).min() <= close:
            return float(points[np.argmin(abs(found))])
        above = np.flatnonzero(found > 0.0)
        left = points[above[-1]] if above.size else low
        right = points[above[-1] + 1] if above.size and above[-1] + 1 < len(points) else high
        if not above.size or (left, right) == (low, high):
            return float(points[np.argmin(abs(found))])
        rise = found[above[-1]] - found[above[-1] + 1]
        best = left + (right - left) * (found[above[-1]] / rise if rise > 0.0 else 0.5)
        near, end = left, right
    return float(best)
