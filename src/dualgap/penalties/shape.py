"""The penalties of this package as numbers, for solvers that cannot call a ``prox``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.penalties.box import Box
from dualgap.penalties.elastic_net import ElasticNet
from dualgap.penalties.l1 import L1
from dualgap.penalties.l2 import L2
from dualgap.penalties.weighted import Weighted


class _Numbers(NamedTuple):
    l1: Floats
    l2: Floats
    low: Floats
    high: Floats


class Shape(_Numbers):
    """g_j(w) = l1_j |w| + ½ l2_j w² for low_j ≤ w ≤ high_j, infinite elsewhere."""

    @property
    def bounded(self) -> bool:
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    @cached_property
    def kinked(self) -> bool:
        """Whether it has kinks or bounds at all."""
        return self.bounded or bool((self.l1 > 0.0).any())

    def slope(self, w: Floats, towards: Floats) -> float:
        """Of Σ g_j at w, along a move."""
        if not self.kinked:
            return float(np.sum(self.l2 * w * towards))
        ahead = np.where(w != 0.0, np.sign(w), np.sign(towards))
        return float(np.sum((self.l1 * ahead + self.l2 * w) * towards))

    def slopes(self, w: Floats, move: Floats) -> Callable[[float], float]:
        """The slope along a move as a function of the length: as one arrives, where it jumps."""
        if self.kinked:
            return lambda length: -self.slope(w + length * move, -move)
        first, bend = self.slope(w, move), float(np.sum(self.l2 * move * move))
        return lambda length: first + length * bend


def shape_of(penalty: Any, d: int) -> Shape | None:
    """The shape of a checked penalty for d features; None for one that has none, or a user's own.

    A subclass may have rules of its own, so types are compared, not instances.
    """
    kind = type(penalty)
    if kind is L2:
        return _plain(d, 0.0, 1.0)
    if kind is L1:
        return _plain(d, 1.0, 0.0)
    if kind is ElasticNet:
        return _plain(d, penalty.l1_ratio, 1.0 - penalty.l1_ratio)
    if kind is not Box and kind is not Weighted:
        return None
    base = shape_of(penalty.base, d)
    if base is None:
        return None
    if kind is Box:
        low, high = np.maximum(base.low, penalty.low), np.minimum(base.high, penalty.high)
        return base._replace(low=low, high=high)
    off = np.isinf(penalty.weights)
    weights = np.where(off, 0.0, penalty.weights)
    return Shape(
        weights * base.l1,
        weights * base.l2,
        np.where(off, 0.0, base.low),
        np.where(off, 0.0, base.high),
    )


def _plain(d: int, l1: float, l2: float) -> Shape:
    return Shape(np.full(d, l1), np.full(d, l2), np.full(d, -inf), np.full(d, inf))
