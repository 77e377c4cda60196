"""A balanced dual point close to a given one, for losses with kinks.

Samples at a kink of their loss can move at no cost to first order, others at the price of how far
z_i is from the kink. A coordinate step at z_i + x_iU·t moves just those that a change t of the free
coefficients would bring to a kink:
    a_i(t) = project(a_i + step(z_i + x_iU·t) − step(z_i)).
Where they have not room enough, all move: a_i(t) = project(a_i − x_iU·t), the nearest balanced
point, which always exists, as 0 is balanced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import dual_step, project
from dualgap.linalg.products import norm
from dualgap.linalg.validate import Floats
from dualgap.proof import terms
from dualgap.proof.balance_search import (
    combined,
    gram_of,
    is_balanced,
    is_close,
    polish,
    settle,
    solved,
    summed,
)

_NUDGE = 1e-6  # of z or a, relative, for slopes of a family
_FAR = 1e300


class _Moves:
    """What both families share: a_i depends on x_iU·t alone."""

    def __init__(self, problem: Any, X: Floats, a: Floats) -> None:
        self.problem, self.X, self.a = problem, X, a
        self.size = X.shape[1]
        self.nudge = _NUDGE

    def at(self, t: Floats) -> Floats:
        return self.moved(combined(self.X, t))

    def moved(self, shift: Floats) -> Floats:
        raise NotImplementedError

    def imbalance(self, a: Floats) -> Floats:
        return summed(self.X, self.problem.c * a)

    def length(self, a: Floats) -> float:
        return norm(self.problem.c * a)

    def gram(self, t: Floats, a: Floats) -> Floats:
        shift = combined(self.X, t)
        fall = self.moved(shift - self.nudge) - self.moved(shift + self.nudge)
        return self.weighted_gram(fall / (2.0 * self.nudge))

    def weighted_gram(self, h: Floats) -> Floats:
        return gram_of(self.X, self.problem.c * h)


class _Steps(_Moves):
    """Samples answer by coordinate steps of curvature ``q``."""

    def __init__(self, problem: Any, X: Floats, a: Floats, z: Floats, q: float) -> None:
        super().__init__(problem, X, a)
        self.z, self.q = z, q
        self.nudge = _NUDGE * (1.0 + float(np.max(np.abs(z))))
        self.still = np.zeros(problem.n)
        self.still = self._stepped(z) - a

    def _stepped(self, z: Floats) -> Floats:
        out = np.empty(self.problem.n)
        _answers(self.problem.loss, self.problem.y, self.a, z, self.still, self.q, out)
        return out

    def moved(self, shift: Floats) -> Floats:
        return self._stepped(self.z + shift)


class _Projections(_Moves):
    """Samples go where they are pushed, as far as their domain allows."""

    def moved(self, shift: Floats) -> Floats:
        out = np.empty(self.problem.n)
        terms.projections(self.problem.loss, self.problem.y, self.a - shift, out)
        return out


def balance_kinks(problem: Any, X: Floats, q: float, a: Floats, z: Floats) -> Floats:
    """The balanced point."""
    family: _Moves = _Steps(problem, X, a, z, q)
    if is_balanced(family, a):
        return a
    found = _polished(family, settle(family)[0])
    if is_close(family, found, problem.n):
        return found
    family = _Projections(problem, X, a)
    return _polished(family, settle(family)[0])


def _polished(family: _Moves, a: Floats) -> Floats:
    """The last rounding errors, taken from samples inside their domain."""
    problem = family.problem
    low, high = np.empty((2, problem.n))
    terms.projections(problem.loss, problem.y, np.full(problem.n, -_FAR), low)
    terms.projections(problem.loss, problem.y, np.full(problem.n, _FAR), high)

    def corrected(a: Floats, missing: Floats) -> Floats:
        room = np.minimum(np.minimum(a - low, high - a), 1.0 + np.abs(a))
        out = np.empty(problem.n)
        push = room * combined(family.X, solved(family.weighted_gram(room), missing))
        terms.projections(problem.loss, problem.y, a - push, out)
        return out

    return polish(family, a, corrected)


@kernel
def _answers(loss: Any, y: Any, a: Any, z: Any, still: Any, q: float, out: Any) -> None:
    """out = the coordinate step at z, less what it does at rest."""
    for i in range(len(y)):
        out[i] = project(loss, dual_step(loss, a[i], z[i], q, y[i]) - still[i], y[i])
