"""From a dual point to one whose D(a) is finite: balance unpenalised features, then shrink.

How well u is known decides how far to go, so each way to compute u comes with a bound on its error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import exact
from dualgap.linalg.validate import Floats
from dualgap.proof import terms
from dualgap.proof.ballast import Ballast, Charge, ballast, charged
from dualgap.proof.free_features import balance
from dualgap.proof.rounding import (
    ErrorOfZ,
    error_of_u,
    error_of_z,
    rough_error_of_u,
    rough_error_of_z,
)

_SHRINKS = 8  # until rounding errors no longer lead out of the domain of g*
_BALANCING = 2.0**-40  # by which a point at its bounds is made smaller first, for room to balance
_UP = 1.0 + 4.0 * EPS


class Sums(NamedTuple):
    """How u is computed from a: ``measured`` returns a pair with it, and a bound on its error;
    ``scaled`` does so for a multiple of the pair's dual point. ``of_z`` bounds the error of z."""

    measured: Callable[[Any, Any], tuple[Any, Floats]]
    scaled: Callable[[Any, Any, Floats, float], tuple[Any, Floats]]
    of_z: Callable[[Any, Floats], ErrorOfZ]


def _multiple(pair: Any, factor: float) -> Any:
    # That keeps a feasible: 0 belongs to the domain of every loss that is bounded below.
    return pair._replace(a=pair.a * factor, u=pair.u * factor, u_anew=False)


def _as_it_is(problem: Any, pair: Any) -> tuple[Any, Floats]:
    return pair, np.empty(0)


def _scaled(problem: Any, pair: Any, error: Floats, factor: float) -> tuple[Any, Floats]:
    return _multiple(pair, factor), error


def _measured(problem: Any, pair: Any) -> tuple[Any, Floats]:
    u = pair.u if pair.u_anew else problem.average(pair.a)
    return pair._replace(u=u), error_of_u(problem, pair.a)


def _measured_roughly(problem: Any, pair: Any) -> tuple[Any, Floats]:
    u = pair.u if pair.u_anew else problem.average(pair.a)
    return pair._replace(u=u, u_anew=True), rough_error_of_u(problem, pair.a)


def _measured_twice(problem: Any, pair: Any) -> tuple[Any, Floats]:
    if problem.width > 1:
        return _measured(problem, pair)
    u, error = exact.average(problem, pair.a)
    return pair._replace(u=u), error


def _scaled_and_measured(
    problem: Any, pair: Any, error: Floats, factor: float
) -> tuple[Any, Floats]:
    return _measured_twice(problem, _multiple(pair, factor))


def _no_error(problem: Any, w: Floats) -> ErrorOfZ:
    return terms.no_error


# As a run maintains it, without any bound; in float64, with a bound that costs nothing and with a
# better one; in twice the precision.
GIVEN = Sums(_as_it_is, _scaled, _no_error)
ROUGH = Sums(_measured_roughly, _scaled, rough_error_of_z)
PLAIN = Sums(_measured, _scaled, partial(error_of_z, sharp=False))
EXACT = Sums(_measured_twice, _scaled_and_measured, partial(error_of_z, sharp=True))


class Point(NamedTuple):
    """A dual point as the penalty sees it.

    ``u``      with entries of 0 for free features once these are balanced
    ``error``  bounds that of u; empty if u is as given
    ``cost``   of an exact balance of free features; None if there is none
    """

    u: Floats
    error: Floats
    cost: Charge | None = Charge(0.0, 0.0, 0.0)


class Feasible(NamedTuple):
    """``pair`` has such a dual point, of which ``point`` tells the rest; ``shorter`` is the part by
    which it would be longer if u were exact."""

    pair: Any
    point: Point
    shorter: float


def feasible(problem: Any, pair: Any, sums: Sums) -> Feasible:
    """A pair with a finite D(a), from one with any dual point that the loss allows."""
    if len(problem.free_places):
        a = balance(problem, pair)
        pair = pair if a is pair.a else pair._replace(a=a, u_anew=False)
    if sums is GIVEN:
        return _as_given(problem, pair)
    whole, error = sums.measured(problem, pair)
    last = whole

    def at(length: float) -> Point:
        nonlocal last
        last, own = whole, error
        if length < 1.0:
            last, own = sums.scaled(problem, whole, error, length)
        if length == 0.0:
            last, own = _nothing(problem, pair), 0.0 * error
        return balanced(problem, Point(last.u, own), lambda: ballast(problem, last.a), last.w)

    length, point = shortened(problem, at)
    # Without the errors of u it could be as long as this.
    if_exact = _room(problem, whole.u, np.empty(0))
    shorter = 1.0 - length / if_exact if if_exact > 0.0 else 1.0
    return Feasible(last, point, shorter)


def balanced(frame: Any, point: Point, ballast: Callable[[], Ballast], w: Floats) -> Point:
    """The point with free features balanced exactly, by the dual variables that ``ballast`` has."""
    free = frame.free_places
    if not len(free):
        return point
    held = ballast()
    missing = frame.lam * (np.abs(point.u[held.places]) + point.error[held.places]) * _UP
    cost = charged(frame, held, missing, w)
    if cost is None:
        return point._replace(cost=None)
    u, error = point.u.copy(), point.error + cost.u
    u[free] = error[free] = 0.0
    return Point(u, error, cost)


def shortened(frame: Any, at: Callable[[float], Point]) -> tuple[float, Point]:
    """The point ``at(length)``, made shorter until g*(u) is finite for u up to its error and free
    features are balanced; and its length."""
    length = 1.0
    for trial in range(_SHRINKS):
        point = at(length)
        room = 1.0 - _BALANCING if point.cost is None else _room(frame, point.u, point.error)
        if room == 1.0:
            return length, point
        # What a is rounded to may lead outside again, by as little: later trials go further in.
        length *= max(1.0 - (1.0 - room) * 4.0**trial, 0.0)
    return 0.0, at(0.0)


def _room(frame: Any, u: Floats, error: Floats) -> float:
    if not frame.has_bounded_conj:
        return 1.0
    return float(terms.room(u, error, frame.features.low, frame.features.high))


def _as_given(problem: Any, pair: Any) -> Feasible:
    """On the way, where nothing is proven: what a balance misses costs about that much."""
    free, slack = problem.free_places, 0.0
    if len(free):
        u = pair.u.copy() if pair.u_anew else problem.average(pair.a)
        pair = pair._replace(u=u)
        if (np.abs(u[free]) > error_of_u(problem, pair.a)[free]).any():
            pair = _nothing(problem, pair)
        slack = 2.0 * problem.lam * float(np.sum(np.abs(pair.u[free] * pair.w[free])))
        pair.u[free] = 0.0
    room = _room(problem, pair.u, np.empty(0))
    pair = pair if room == 1.0 else _multiple(pair, room)
    return Feasible(pair, Point(pair.u, np.empty(0), Charge(0.0, slack, slack)), 0.0)


def _nothing(problem: Any, pair: Any) -> Any:
    """With a = 0, which is always feasible and says at least that losses have a minimum."""
    a, u = np.zeros(problem.dual_size), np.zeros(problem.coef_size)
    return pair._replace(a=a, u=u, u_anew=True)
