"""The search for dual variables that add up to 0, as an unpenalised intercept requires.

Among the points a − t, projected on the domain of the loss, one t balances: the sum falls as t
grows, so a few exchanges, each with sums for many t at once, find it. For many classes, Newton
steps find tilts (``proof/balance_blocks.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.messages import DualChange
from dualgap.distributed.tasks import changed_dual, tilts_of
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.proof.balance import newton_direction
from dualgap.proof.balance_blocks import balance_by_tilts

# --- one decision value for each sample -----------------------------------------------------------


def imbalances(block: Block, a: Floats, k: int, ts: Floats) -> tuple[Floats, Floats]:
    """Σ c (a − t) for each t (a task)."""
    return np.array([np.sum(block.c * changed_dual(block, a, DualChange(t))) for t in ts]), a


def balanced_numbers(engine: Engine, stride: float, close: float) -> DualChange:
    """The shift after which dual variables add up to 0."""

    def sums(ts: Floats) -> Floats:
        return np.asarray(sum(engine.ask(imbalances, ts)))

    return DualChange(falling_root(sums, stride, close))


def falling_root(values: Callable[[Floats], Floats], stride: float, close: float) -> float:
    """Where a function that never rises is 0, up to ``close`` or as near as floats come.

    One machine bisects (``problem/baseline.py``). Here each call of ``values`` is an exchange, and
    many values cost no more than one.
    """
    at = float(values(np.zeros(1))[0])
    if abs(at) <= close:
        return 0.0
    direction = np.sign(at)
    far = direction * stride * 2.0 ** np.arange(TUNING.root_doublings)
    beyond = np.flatnonzero(direction * values(far) <= 0.0)
    last = int(beyond[0]) if beyond.size else TUNING.root_doublings - 1
    near, end = (far[last - 1] if last else 0.0), far[last]
    best = end
    for _ in range(TUNING.root_exchanges):
        low, high = min(near, end), max(near, end)
        points = np.unique(np.concatenate([np.linspace(low, high, TUNING.root_points), [best]]))
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


# --- many classes ---------------------------------------------------------------------------------


class ImbalanceTerms(NamedTuple):
    """What a partition adds to Σ c a x of each class, to its squares, and to its derivative."""

    imbalance: Floats
    squares: Floats
    gram: Floats


def imbalance_terms(
    block: Block, a: Floats, k: int, change: DualChange
) -> tuple[ImbalanceTerms, Floats]:
    """Those of changed dual variables (a task)."""
    feasible = changed_dual(block, a, change)
    tilts = tilts_of(block, feasible)
    gram = tilts.gram(np.zeros(tilts.size), feasible)
    return ImbalanceTerms(tilts.imbalance(feasible), tilts.length(feasible) ** 2, gram), a


def balanced_classes(engine: Engine, width: int, n: int) -> DualChange:
    """The change after which dual variables add up to 0 for each class."""
    found: DualChange = balance_by_tilts(_DistributedTilts(engine, width), DualChange(), n)
    return found


class _DistributedTilts:
    """``Tilts`` of the dual variables of all partitions, for which a ``DualChange`` stands."""

    def __init__(self, engine: Engine, size: int) -> None:
        self.engine, self.size = engine, size
        self._mixed: tuple[tuple[float, Floats], ...] = ()
        self._last: tuple[Any, ImbalanceTerms | None] = (None, None)

    def mix(self, share: float) -> None:
        self._mixed = (*self._mixed, (share, np.zeros(self.size)))

    def at(self, t: Floats) -> DualChange:
        return DualChange(tilts=(*self._mixed[:-1], (self._mixed[-1][0], t)))

    def corrected(self, a: DualChange, missing: Floats) -> DualChange:
        return DualChange(tilts=(*a.tilts, (0.0, newton_direction(self._terms(a).gram, missing))))

    def imbalance(self, a: DualChange) -> Floats:
        return self._terms(a).imbalance

    def length(self, a: DualChange) -> Floats:
        return np.asarray(np.sqrt(self._terms(a).squares))

    def gram(self, t: Floats, a: DualChange) -> Floats:
        return self._terms(a).gram

    def _terms(self, a: DualChange) -> ImbalanceTerms:
        """One exchange answers all questions about ``a``."""
        if self._last[0] is not a:
            answers = self.engine.ask(imbalance_terms, a)
            self._last = a, ImbalanceTerms(*(np.asarray(sum(each)) for each in zip(*answers)))
        found = self._last[1]
        assert found is not None
        return found
