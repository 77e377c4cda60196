"""Newton steps to a balanced dual point, along any family of points that reacts to t.

A family a(t) answers each t with a feasible dual point; its imbalance F(t) = Σ_i c_i a_i(t) x_iU is
minus the gradient of a convex function of t. So each step goes along G⁻¹F, G = −F', and so far that
the slope along it is at most half of what it was. Where G is singular, it goes along F.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.products import norm
from dualgap.linalg.validate import Floats

_STEPS = 60
_SETTLED = 1e-13  # imbalance, relative to ‖c a‖, that is left to ``polish``
_POLISHED = 2.0 * EPS  # what a sum can be brought down to
_ROUNDS = 6
_DOUBLINGS, _CUTS = 60, 80
Point = TypeVar("Point")


class Family(Protocol):
    """Dual points for each t: vectors, or whatever else stands for them."""

    size: int  # of t

    def at(self, t: Floats) -> Any:
        """a(t)."""

    def imbalance(self, a: Any) -> Floats:
        """Σ c a x_U."""

    def gram(self, t: Floats, a: Any) -> Floats:
        """−F'(t), at least about; symmetric, with no negative eigenvalue."""

    def length(self, a: Any) -> Any:
        """‖c a‖, if need be for each entry: how large imbalances for features of norm 1 can be."""


def settle(family: Family) -> tuple[Any, Floats]:
    """The family's most balanced point up to rounding errors, and its t."""
    t = np.zeros(family.size)
    a = family.at(t)
    for _ in range(_STEPS):
        if _within(family, a, _SETTLED):
            break
        step = _step(family, t, a)
        if not step.any():
            break
        t = t + step
        a = family.at(t)
    return a, t


def _step(family: Family, t: Floats, a: Any) -> Floats:
    missing = family.imbalance(a)
    along = solved(family.gram(t, a), missing)
    if not along @ missing > 1e-8 * norm(along) * norm(missing):
        size = norm(missing)
        if not size > 0.0:  # its square underflows
            return np.zeros(len(missing))
        along = missing / size

    def slope(far: float) -> float:
        return float(along @ family.imbalance(family.at(t + far * along)))

    return np.asarray(_how_far(slope, float(along @ missing)) * along)


def polish(family: Family, a: Point, corrected: Callable[[Point, Floats], Point]) -> Point:
    """``a`` after a few corrections of its imbalance, until that is a rounding error of the sum."""
    missing = family.imbalance(a)
    for _ in range(_ROUNDS):
        if is_balanced(family, a):
            break
        better = corrected(a, missing)
        left = family.imbalance(better)
        if not norm(left) < norm(missing):
            break
        a, missing = better, left
    return a


def is_balanced(family: Family, a: Any) -> bool:
    """Whether the imbalance is a rounding error."""
    return _within(family, a, _POLISHED)


def is_close(family: Family, a: Any, n: int) -> bool:
    """Whether the imbalance is what rounding errors of a sum of n terms may be."""
    return _within(family, a, n * EPS)


def _within(family: Family, a: Any, part: float) -> bool:
    return bool((np.abs(family.imbalance(a)) <= part * family.length(a)).all())


def solved(gram: Floats, missing: Floats) -> Floats:
    """G⁻¹F, or the shortest solution where G is singular; 0 where it overflows."""
    if not np.isfinite(gram).all():
        return np.zeros(len(missing))
    return np.asarray(np.linalg.lstsq(gram, missing, rcond=None)[0], dtype=np.float64)


# Not by BLAS, whose threads cost more than they save here and whose sums round more.


def summed(X: Floats, v: Floats) -> Floats:
    """Xᵀv, with small rounding errors."""
    return np.asarray(np.sum(X.T * v, axis=1))


def combined(X: Floats, t: Floats) -> Floats:
    """Xt."""
    return np.asarray(np.einsum("ij,j->i", X, t))


def gram_of(X: Floats, weights: Floats) -> Floats:
    """Σ_i weights_i x_i x_iᵀ."""
    return np.asarray(np.einsum("ij,ik->jk", X, X * weights[:, None]))


def _how_far(slope: Callable[[float], float], first: float) -> float:
    """A length at which the falling ``slope`` is within half of the ``first``; 0 if none is."""
    low, high = 0.0, 1.0
    at_low, at_high = first, slope(high)
    for _ in range(_DOUBLINGS):
        if at_high <= 0.5 * first:
            break
        low, at_low = high, at_high
        high *= 2.0
        at_high = slope(high)
    else:
        return 0.0
    for turn in range(_CUTS):
        if at_high >= -0.5 * first:
            break
        # By the chord, which is exact on straight pieces, and by halves in turns.
        part = at_low / (at_low - at_high) if turn % 2 == 0 else 0.5
        middle = low + (high - low) * part
        at_middle = slope(middle)
        if at_middle > 0.5 * first:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return high
