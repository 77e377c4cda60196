"""From any dual point to one whose D(a) is finite: balance free features, then shrink.

How far to go depends on how well u is known, so each way to compute u comes with a bound on its
error (``Precision``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.scalar import EPS
from dualgap.linalg import exact
from dualgap.linalg.validate import Floats
from dualgap.proof import group_terms, several_targets, terms
from dualgap.proof.balance import balance_smooth
from dualgap.proof.balance_blocks import balance_blocks
from dualgap.proof.balance_kinks import balance_kinks
from dualgap.proof.free_features import Ballast, FreeFeatures
from dualgap.proof.rounding import (
    BalanceCost,
    ErrorOfZ,
    balance_cost,
    cheap_error_of_u,
    cheap_error_of_z,
    error_of_free_u,
    error_of_u,
    error_of_z,
)
from dualgap.proof.several_targets import ballast_of
from dualgap.proof.tuning import TUNING

ROUNDED_UP = 1.0 + 4.0 * EPS  # covers the three roundings of an imbalance


class DualPoint(NamedTuple):
    """A dual point as the penalty sees it.

    ``u``      (1/λ) Σ c a x, with entries of 0 for free features once these are balanced
    ``error``  bounds the error of u; empty if u is taken as the run maintains it
    ``cost``   what the exact balance of free features costs; None if there is no such balance
    ``ballast``  the samples whose dual variables make that balance
    """

    u: Floats
    error: Floats
    cost: BalanceCost | None = BalanceCost(0.0, 0.0, 0.0)
    ballast: Any = ()


class FeasiblePair(NamedTuple):
    """A pair with a finite D(a), and its dual point.

    ``shrinkage`` is the share of its length that the dual point has lost to the errors of u.
    """

    pair: Any
    point: DualPoint
    shrinkage: float


# --- how u is computed ----------------------------------------------------------------------------


class Precision(NamedTuple):
    """How well z and u are known.

    ``compute_u(problem, pair)``                the pair with its u, and a bound on the error of u
    ``scale(problem, pair, error, factor)``     the same for a multiple of the pair's dual point
    ``error_of_z(problem, w)``                  a bound on the error of z
    """

    compute_u: Callable[[Any, Any], tuple[Any, Floats]]
    scale: Callable[[Any, Any, Floats, float], tuple[Any, Floats]]
    error_of_z: Callable[[Any, Floats], ErrorOfZ]


def _multiple(pair: Any, factor: float) -> Any:
    # That keeps a feasible: 0 belongs to the domain of every loss that is bounded below.
    return pair._replace(a=pair.a * factor, u=pair.u * factor, u_anew=False)


def _keep_u(problem: Any, pair: Any) -> tuple[Any, Floats]:
    return pair, np.empty(0)


def _scale(problem: Any, pair: Any, error: Floats, factor: float) -> tuple[Any, Floats]:
    return _multiple(pair, factor), error


def _compute_u(problem: Any, pair: Any) -> tuple[Any, Floats]:
    u = pair.u if pair.u_anew else problem.average(pair.a)
    return pair._replace(u=u), error_of_u(problem, pair.a)


def _compute_u_with_cheap_bound(problem: Any, pair: Any) -> tuple[Any, Floats]:
    u = pair.u if pair.u_anew else problem.average(pair.a)
    return pair._replace(u=u, u_anew=True), cheap_error_of_u(problem, pair.a)


def _compute_u_twice_as_precisely(problem: Any, pair: Any) -> tuple[Any, Floats]:
    if problem.width > 1:
        return _compute_u(problem, pair)
    u, error = exact.average(problem, pair.a)
    return pair._replace(u=u), error


def _scale_and_compute_u(
    problem: Any, pair: Any, error: Floats, factor: float
) -> tuple[Any, Floats]:
    return _compute_u_twice_as_precisely(problem, _multiple(pair, factor))


def _no_error_of_z(problem: Any, w: Floats) -> ErrorOfZ:
    return terms.no_error


# u as a run maintains it, without any bound: nothing is proven.
AS_MAINTAINED = Precision(_keep_u, _scale, _no_error_of_z)
# Float64 sums with bounds that need no further pass over the data.
FLOAT64_CHEAP_BOUNDS = Precision(_compute_u_with_cheap_bound, _scale, cheap_error_of_z)
# Float64 sums with sharper bounds.
FLOAT64 = Precision(_compute_u, _scale, partial(error_of_z, sharp=False))
# Double-double sums, for scalar losses.
DOUBLE_DOUBLE = Precision(
    _compute_u_twice_as_precisely, _scale_and_compute_u, partial(error_of_z, sharp=True)
)


# --- a feasible pair ------------------------------------------------------------------------------


def make_feasible(problem: Any, pair: Any, precision: Precision) -> FeasiblePair:
    """A pair with a finite D(a), from one with any dual point in the domain of the loss."""
    if precision is AS_MAINTAINED:
        return _feasible_as_maintained(problem, pair)
    if len(problem.free_places):
        a = balanced(problem, pair)
        pair = pair if a is pair.a else pair._replace(a=a, u_anew=False)
    full, error = precision.compute_u(problem, pair)
    last = full

    def point_at(length: float) -> DualPoint:
        nonlocal last
        last, own_error = full, error
        if length < 1.0:
            last, own_error = precision.scale(problem, full, error, length)
        if length == 0.0:
            last, own_error = _with_zero_dual(problem, pair), 0.0 * error
        point = DualPoint(last.u, own_error)
        return balance_exactly(problem, point, lambda: ballast_of(problem, last.a), last.w)

    length, point = shrink_until_feasible(problem, point_at)
    # Without the errors of u it could be as long as this.
    if_exact = _feasible_length(problem, full.u, np.empty(0))
    shrinkage = 1.0 - length / if_exact if if_exact > 0.0 else 1.0
    return FeasiblePair(last, point, shrinkage)


def balanced(problem: Any, pair: Any) -> Floats:
    """A dual point that satisfies the constraint of each free feature, up to rounding.

    It is close to the pair's own, if that has room, else to −φ'(z). If free features are so nearly
    collinear that no search can end, it is the pair's own.
    """
    if problem.n_targets > 1:
        return several_targets.balanced(problem, pair, balanced)
    free: FreeFeatures = problem.unpenalised
    if free.settled is not None:
        pair = pair._replace(a=np.where(free.settled, 0.0, pair.a))
    if free.collinear or not len(free.features):
        return np.asarray(pair.a)
    if problem.width > 1:
        return balance_blocks(problem, free.X, pair.a)
    if problem.loss.differentiable:
        return balance_smooth(problem, free, pair.a, pair.z)
    return balance_kinks(problem, free.X, free.q, pair.a, pair.z)


def balance_exactly(
    problem: Any, point: DualPoint, ballast: Callable[[], Ballast], w: Floats
) -> DualPoint:
    """The point with free features balanced exactly, by the dual variables of the ballast."""
    free = problem.free_places
    if not len(free):
        return point
    own = ballast()

    def cost_of(view: Any, one: Ballast, u: Floats, error: Floats, w: Floats) -> BalanceCost | None:
        missing = view.lam * (np.abs(u[one.places]) + error[one.places]) * ROUNDED_UP
        return balance_cost(view, one, missing, w)

    if problem.n_targets > 1:
        cost, used = several_targets.summed_cost(problem, own, point, w, cost_of)
    else:
        cost, used = cost_of(problem, own, point.u, point.error, w), own.samples
    if cost is None:
        return point._replace(cost=None)
    u, error = point.u.copy(), point.error + cost.u
    u[free] = error[free] = 0.0
    return DualPoint(u, error, cost, used)


def shrink_until_feasible(
    problem: Any, point_at: Callable[[float], DualPoint]
) -> tuple[float, DualPoint]:
    """The longest multiple found whose g*(u) is finite for any error of u and whose free features
    are balanced: its length and ``point_at(length)``."""
    length = 1.0
    for trial in range(TUNING.max_shrinks):
        point = point_at(length)
        if point.cost is None:
            longest = 1.0 - TUNING.shrink_for_balance
        else:
            longest = _feasible_length(problem, point.u, point.error)
        if longest == 1.0:
            return length, point
        # Rounding a may lead out of the domain again, by as little: later trials go further in.
        length *= max(1.0 - (1.0 - longest) * 4.0**trial, 0.0)
    return 0.0, point_at(0.0)


def _feasible_length(problem: Any, u: Floats, error: Floats) -> float:
    if not problem.has_bounded_conj:
        return 1.0
    if problem.on_groups:
        return group_terms.feasible_length(problem.penalty, u, error)
    return float(feasible_length(u, error, problem.features.low, problem.features.high))


def feasible_length_of(problem: Any, u: Floats) -> float:
    """The largest factor up to 1 that brings u into the domain of g*."""
    return _feasible_length(problem, u, np.empty(0))


@kernel
def feasible_length(u: Any, error: Any, low: Any, high: Any) -> float:
    """The largest factor up to 1 that brings u within its bounds for any such error.

    Features without a penalty, whose bounds are both 0, do not count.
    """
    factor = 1.0
    for j in range(len(u)):
        size = error[j] if len(error) else 0.0
        if u[j] + size > high[j] and (high[j] > 0.0 or low[j] < 0.0):
            factor = min(factor, max(high[j] - size, 0.0) / u[j] if u[j] > 0.0 else 0.0)
        if u[j] - size < low[j] and (high[j] > 0.0 or low[j] < 0.0):
            factor = min(factor, max(-low[j] - size, 0.0) / -u[j] if u[j] < 0.0 else 0.0)
    return factor


def _feasible_as_maintained(problem: Any, pair: Any) -> FeasiblePair:
    """During a run nothing is proven: an imbalance costs about what it changes."""
    free, slack = problem.free_places, 0.0
    if len(free):
        if _is_balanced(problem, pair):
            pair = pair._replace(u=pair.u.copy())
        else:
            a = balanced(problem, pair)
            u = pair.u.copy() if a is pair.a and pair.u_anew else problem.average(a)
            pair = pair._replace(a=a, u=u)
        if not _is_balanced(problem, pair):
            pair = _with_zero_dual(problem, pair)
        slack = 2.0 * problem.lam * float(np.sum(np.abs(pair.u[free] * pair.w[free])))
        pair.u[free] = 0.0
    length = _feasible_length(problem, pair.u, np.empty(0))
    pair = pair if length == 1.0 else _multiple(pair, length)
    return FeasiblePair(pair, DualPoint(pair.u, np.empty(0), BalanceCost(0.0, slack, slack)), 0.0)


def _is_balanced(problem: Any, pair: Any) -> bool:
    """Whether free features are balanced, but for rounding errors of u."""
    free = problem.free_places
    return bool((np.abs(pair.u[free]) <= error_of_free_u(problem, pair.a)).all())


def _with_zero_dual(problem: Any, pair: Any) -> Any:
    """The pair with a = 0, which is always feasible and proves that losses have a minimum."""
    a, u = np.zeros(problem.dual_size), np.zeros(problem.coef_size)
    return pair._replace(a=a, u=u, u_anew=True)
