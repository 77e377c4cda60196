"""The search for a balanced dual point: Newton steps along a family of points, and smooth losses.

A family a(t) has a feasible dual point for each t. Let U be the free features. The imbalance
F(t) = Σ_i c_i a_i(t) x_iU is minus the gradient of a convex function of t. So each step goes along
G⁻¹F with G = −F', so far that the slope along it is at most half of what it was. If G is singular,
the step goes along F.

For a smooth loss the family is a(t) = −φ'(z + X_U t): it is balanced where t, a change of the free
coefficients, minimises the sum of the losses. ``balance_kinks.py`` and ``balance_blocks.py`` have
families for other losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.products import norm
from dualgap.linalg.validate import Floats
from dualgap.losses.offset import own_classes
from dualgap.proof import terms
from dualgap.proof.free_columns import FreeColumns
from dualgap.proof.free_features import FreeFeatures
from dualgap.proof.several_targets import of_each
from dualgap.proof.tuning import TUNING

_ROUNDING_OF_SUM = 2.0 * EPS  # the least imbalance that a sum of floats can be brought down to
Point = TypeVar("Point")


class Family(Protocol):
    """A dual point for each t: a vector, or whatever else stands for it."""

    size: int  # of t

    def at(self, t: Floats) -> Any:
        """a(t)."""

    def imbalance(self, a: Any) -> Floats:
        """Σ c a x_U."""

    def gram(self, t: Floats, a: Any) -> Floats:
        """−F'(t), at least about; symmetric, with no negative eigenvalue."""

    def length(self, a: Any) -> Any:
        """‖c a‖, for all entries or for each: how large imbalances of columns of norm 1 can be."""


def most_balanced(family: Family) -> tuple[Any, Floats]:
    """The family's most balanced point up to rounding errors, and its t."""
    t = np.zeros(family.size)
    a = family.at(t)
    for _ in range(TUNING.max_newton_steps):
        if _within(family, a, TUNING.newton_tolerance):
            break
        step = _newton_step(family, t, a)
        if not step.any():
            break
        t = t + step
        a = family.at(t)
    return a, t


def _newton_step(family: Family, t: Floats, a: Any) -> Floats:
    missing = family.imbalance(a)
    along = newton_direction(family.gram(t, a), missing)
    if not along @ missing > TUNING.least_cosine * norm(along) * norm(missing):
        size = norm(missing)
        if not size > 0.0:  # its square underflows
            return np.zeros(len(missing))
        along = missing / size

    def slope(far: float) -> float:
        return float(along @ family.imbalance(family.at(t + far * along)))

    return np.asarray(_step_length(slope, float(along @ missing)) * along)


def polish(family: Family, a: Point, corrected: Callable[[Point, Floats], Point]) -> Point:
    """``a`` after a few corrections of its imbalance, until that is a rounding error of the sum."""
    missing = family.imbalance(a)
    for _ in range(TUNING.max_corrections):
        if (np.abs(missing) <= _ROUNDING_OF_SUM * family.length(a)).all():
            break
        better = corrected(a, missing)
        left = family.imbalance(better)
        if not norm(left) < norm(missing):
            break
        a, missing = better, left
    return a


def is_balanced(family: Family, a: Any) -> bool:
    """Whether the imbalance is as small as rounding errors allow."""
    return _within(family, a, _ROUNDING_OF_SUM)


def is_nearly_balanced(family: Family, a: Any, n: int) -> bool:
    """Whether the imbalance may be the rounding error of a sum of n terms."""
    return _within(family, a, n * EPS)


def _within(family: Family, a: Any, share: float) -> bool:
    return bool((np.abs(family.imbalance(a)) <= share * family.length(a)).all())


def newton_direction(gram: Floats, missing: Floats) -> Floats:
    """G⁻¹F, or the shortest solution if G is singular; 0 if G overflows."""
    if not np.isfinite(gram).all():
        return np.zeros(len(missing))
    return np.asarray(np.linalg.lstsq(gram, missing, rcond=None)[0], dtype=np.float64)


# These do without BLAS: its threads cost more than they save here, and its sums round more.


def columns_times(X: Any, v: Floats) -> Floats:
    """Xᵀv, with small rounding errors."""
    if isinstance(X, FreeColumns):
        return X.summed(v)
    return np.asarray(np.sum(X.T * v, axis=1))


def rows_times(X: Any, t: Floats) -> Floats:
    """Xt."""
    if isinstance(X, FreeColumns):
        return X.times(t)
    return np.asarray(np.einsum("ij,j->i", X, t))


def gram_of(X: Any, weights: Floats) -> Floats:
    """Σ_i weights_i x_i x_iᵀ."""
    if isinstance(X, FreeColumns):
        return X.gram(weights)
    return np.asarray(np.einsum("ij,ik->jk", X, X * weights[:, None]))


def _step_length(slope: Callable[[float], float], first: float) -> float:
    """A length at which the falling ``slope`` is within ±half of the ``first``; 0 if none is."""
    low, high = 0.0, 1.0
    at_low, at_high = first, slope(high)
    for _ in range(TUNING.max_doublings):
        if at_high <= 0.5 * first:
            break
        low, at_low = high, at_high
        high *= 2.0
        at_high = slope(high)
    else:
        return 0.0
    for turn in range(TUNING.max_cuts):
        if at_high >= -0.5 * first:
            break
        # Cuts alternate between the chord, which is exact on straight pieces, and the middle.
        share = at_low / (at_low - at_high) if turn % 2 == 0 else 0.5
        middle = low + (high - low) * share
        at_middle = slope(middle)
        if at_middle > 0.5 * first:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return high


# --- smooth losses --------------------------------------------------------------------------------


def balance_smooth(problem: Any, free: FreeFeatures, a: Floats, z: Floats) -> Floats:
    """A balanced point close to ``a``, or else one close to −φ'(z)."""
    family = _SmoothFamily(problem, free, z)
    found = family.polished(a, np.zeros(family.size))
    if not is_nearly_balanced(family, found, problem.n):
        found, t = most_balanced(family)
        found = family.polished(found, t)
    return found


def null_dual_point(problem: Any) -> Floats:
    """The dual point −φ' of the best model of free features alone, for differentiable losses."""
    if problem.n_targets > 1:
        return of_each(problem, null_dual_point)
    free: FreeFeatures = problem.unpenalised
    if problem.width > 1:
        # An intercept alone predicts the shares of the classes, unless samples have offsets.
        own = np.eye(problem.width)[own_classes(problem.y)]
        if problem.offset is None:
            return np.asarray(own - problem.c @ own).ravel()
        a = np.empty(problem.dual_size)
        terms.slopes(problem.loss, problem.y, np.tile(problem.best_constants, problem.n), a)
        return a
    family = _SmoothFamily(problem, free, np.zeros(problem.n))
    found, t = most_balanced(family)
    return family.polished(found, t)


class _SmoothFamily:
    """a(t) = −φ'(z + X_U t), and 0 for settled samples."""

    def __init__(self, problem: Any, free: FreeFeatures, z: Floats) -> None:
        self.problem, self.X, self.z = problem, free.X, z
        self.settled = free.settled
        self.size = self.X.shape[1]

    def at(self, t: Floats) -> Floats:
        out = np.empty(self.problem.n)
        terms.slopes(self.problem.loss, self.problem.y, self.z + rows_times(self.X, t), out)
        return self._without_settled(out)

    def _without_settled(self, out: Floats) -> Floats:
        if self.settled is not None:
            out[self.settled] = 0.0
        return out

    def imbalance(self, a: Floats) -> Floats:
        return columns_times(self.X, self.problem.c * a)

    def length(self, a: Floats) -> float:
        return norm(self.problem.c * a)

    def gram(self, t: Floats, a: Floats) -> Floats:
        return self.weighted_gram(self.curvatures(t))

    def curvatures(self, t: Floats) -> Floats:
        h = np.empty(self.problem.n)
        terms.curvatures(self.problem.loss, self.problem.y, self.z + rows_times(self.X, t), h)
        return self._without_settled(h)

    def weighted_gram(self, h: Floats) -> Floats:
        return gram_of(self.X, self.problem.c * h)

    def polished(self, a: Floats, t: Floats) -> Floats:
        """``a`` without its imbalance, which samples take up in proportion to φ'' at t."""

        def corrected(a: Floats, missing: Floats) -> Floats:
            h, out = self.curvatures(t), np.empty(self.problem.n)
            push = h * rows_times(self.X, newton_direction(self.weighted_gram(h), missing))
            terms.projections(self.problem.loss, self.problem.y, a - push, out)
            return out

        return polish(self, a, corrected)
