"""From a dual point to one whose D(a) is finite: balance unpenalised features, then shrink.

How well u is known decides how far to go, so each way to compute u comes with a bound on its error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dualgap import terms
from dualgap._validate import Floats
from dualgap.linalg import exact
from dualgap.rounding import ErrorOfZ, error_of_u, error_of_z, rough_error_of_u, rough_error_of_z
from dualgap.unpenalised import balance

SHRINKS = 8  # until rounding errors no longer lead out of the domain of g*


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


class Feasible(NamedTuple):
    """``pair`` has such a dual point; ``error`` bounds that of u, and is empty if u is as given;
    ``slack`` is what the balance of unpenalised features, which is never exact, may cost, and
    ``shorter`` the part by which the dual point would be longer if u were exact."""

    pair: Any
    error: Floats
    slack: float
    shorter: float


def feasible(problem: Any, pair: Any, sums: Sums) -> Feasible:
    """A pair with a finite D(a), from one with any dual point that the loss allows."""
    if not len(problem.free_places):
        pair, error, shorter = _shrunk(problem, *sums.measured(problem, pair), sums)
        return Feasible(pair, error, 0.0, shorter)
    pair, reach = _balanced(problem, pair)
    pair, error, shorter = _shrunk(problem, *sums.measured(problem, pair), sums)
    free = problem.free_places
    missing = np.abs(pair.u[free]) + (error[free] if error.size else 0.0)
    u = pair.u.copy()
    u[free] = 0.0
    slack = float(2.0 * problem.lam * np.sum(missing * reach))
    return Feasible(pair._replace(u=u), error, slack, shorter)


def _shrunk(problem: Any, pair: Any, error: Floats, sums: Sums) -> tuple[Any, Floats, float]:
    """The pair, made smaller until g*(u) is finite for u up to its error."""
    if not problem.has_bounded_conj:
        return pair, error, 0.0
    low, high = problem.features.low, problem.features.high
    if_exact = terms.room(pair.u, np.empty(0), low, high)
    if not error.size:
        return (pair if if_exact == 1.0 else _multiple(pair, if_exact)), error, 0.0
    whole, length = pair, 1.0
    for trial in range(SHRINKS):
        room = terms.room(pair.u, error, low, high)
        if room == 1.0:
            return pair, error, 1.0 - length / if_exact if if_exact > 0.0 else 1.0
        # What a is rounded to may lead outside again, by as little: later trials go further in.
        length *= max(1.0 - (1.0 - room) * 4.0**trial, 0.0)
        pair, error = sums.scaled(problem, whole, error, length)
    return _nothing(problem, pair), 0.0 * error, 1.0


def _nothing(problem: Any, pair: Any) -> Any:
    """With a = 0, which is always feasible and says at least that losses have a minimum."""
    a, u = np.zeros(problem.dual_size), np.zeros(problem.coef_size)
    return pair._replace(a=a, u=u, u_anew=True)


def _balanced(problem: Any, pair: Any) -> tuple[Any, Floats]:
    """The pair with a balanced dual point, and how large the free coefficients may be."""
    a, reach = balance(problem, pair)
    free = problem.free_places
    u = problem.average(a)
    if np.isinf(reach).any() or (np.abs(u[free]) > error_of_u(problem, a)[free]).any():
        return _nothing(problem, pair), np.zeros(len(free))  # no balance was found
    # However small the coefficients are here, at the optimum they may be as large as targets need.
    typical = np.sqrt(np.repeat(problem.column_squares, problem.width)[free] / problem.n)
    with np.errstate(divide="ignore"):
        needed = np.where(typical > 0.0, (1.0 + np.abs(problem.y).max()) / typical, 0.0)
    return pair._replace(a=a, u=u, u_anew=True), reach + needed
