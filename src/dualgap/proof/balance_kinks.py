"""A balanced dual point close to a given one, for losses with kinks.

The dual variable of a sample at a kink of its loss moves at no cost to first order. Others cost
more, the farther z_i is from the kink. A coordinate step at z_i + x_iU·t moves just the samples
that a change t of the free coefficients would bring to a kink:
    a_i(t) = project(a_i + step(z_i + x_iU·t) − step(z_i)).
If these lack room, all samples move: a_i(t) = project(a_i − x_iU·t) leads to the nearest balanced
point, which always exists, since 0 is balanced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import dual_step, project
from dualgap.linalg.products import norm
from dualgap.linalg.validate import Floats
from dualgap.proof import terms
from dualgap.proof.balance import (
    columns_times,
    gram_of,
    is_balanced,
    is_nearly_balanced,
    most_balanced,
    newton_direction,
    polish,
    rows_times,
)
from dualgap.proof.tuning import TUNING

_FAR = 1e300  # beyond every finite bound on a dual variable


class _Family:
    """What both families share: a_i depends on x_iU·t alone."""

    def __init__(self, problem: Any, X: Floats, a: Floats) -> None:
        self.problem, self.X, self.a = problem, X, a
        self.size = X.shape[1]
        self.difference = TUNING.difference_step

    def at(self, t: Floats) -> Floats:
        return self.shifted(rows_times(self.X, t))

    def shifted(self, shift: Floats) -> Floats:
        """a where x_iU·t is ``shift``."""
        raise NotImplementedError

    def imbalance(self, a: Floats) -> Floats:
        return columns_times(self.X, self.problem.c * a)

    def length(self, a: Floats) -> float:
        return norm(self.problem.c * a)

    def gram(self, t: Floats, a: Floats) -> Floats:
        shift = rows_times(self.X, t)
        fall = self.shifted(shift - self.difference) - self.shifted(shift + self.difference)
        return self.weighted_gram(fall / (2.0 * self.difference))

    def weighted_gram(self, h: Floats) -> Floats:
        return gram_of(self.X, self.problem.c * h)


class _StepFamily(_Family):
    """Each sample makes a coordinate step of curvature ``q``."""

    def __init__(self, problem: Any, X: Floats, a: Floats, z: Floats, q: float) -> None:
        super().__init__(problem, X, a)
        self.z, self.q = z, q
        self.difference = TUNING.difference_step * (1.0 + float(np.max(np.abs(z))))
        self.at_rest = np.zeros(problem.n)
        self.at_rest = self._stepped(z) - a

    def _stepped(self, z: Floats) -> Floats:
        out = np.empty(self.problem.n)
        _steps_from_rest(self.problem.loss, self.problem.y, self.a, z, self.at_rest, self.q, out)
        return out

    def shifted(self, shift: Floats) -> Floats:
        return self._stepped(self.z + shift)

    def along_one(self) -> Floats:
        """The most balanced point for a single free feature. Its imbalance falls with t: a bracket
        shrinks by chords (Illinois), each of which takes one loop without temporary vectors."""
        points = self.problem.loss, self.problem.y, self.problem.c, self.X[:, 0], self.a, self.z

        def imbalance(t: float) -> float:
            return float(_imbalance_of_steps(*points, self.at_rest, self.q, t))

        enough = TUNING.newton_tolerance * self.length(self.a)
        near, at_near = 0.0, imbalance(0.0)
        stride = self.difference / (float(np.max(np.abs(self.X))) or 1.0)
        far, at_far = near, at_near
        for _ in range(TUNING.max_doublings):
            if abs(at_far) <= enough or at_near * at_far < 0.0:
                break
            near, at_near = far, at_far
            far += stride if at_near > 0.0 else -stride
            at_far = imbalance(far)
            # By the chord, and beyond it, or else by longer and longer strides.
            fall = abs(at_near - at_far) / stride
            stride *= 8.0
            if fall > 0.0:
                stride = min(max(1.5 * abs(at_far) / fall, stride / 4.0), stride * 1e3)
        for _ in range(TUNING.max_cuts):
            if abs(at_far) <= enough or not at_near * at_far < 0.0:
                break
            t = far - at_far * (far - near) / (at_far - at_near)
            if not min(near, far) < t < max(near, far):
                break
            at = imbalance(t)
            if at * at_far < 0.0:
                near, at_near = far, at_far
            else:
                at_near *= 0.5
            far, at_far = t, at
        return self.at(np.array([far]))


class _ProjectionFamily(_Family):
    """Each sample moves by the shift, as far as its domain allows."""

    def shifted(self, shift: Floats) -> Floats:
        out = np.empty(self.problem.n)
        terms.projections(self.problem.loss, self.problem.y, self.a - shift, out)
        return out


def balance_kinks(problem: Any, X: Floats, q: float, a: Floats, z: Floats) -> Floats:
    """A balanced point close to ``a``."""
    if is_balanced(_Family(problem, X, a), a):
        return a
    family = _StepFamily(problem, X, a, z, q)
    found = family.along_one() if X.shape[1] == 1 else most_balanced(family)[0]
    found = _polished(family, found)
    if is_nearly_balanced(family, found, problem.n):
        return found
    nearest = _ProjectionFamily(problem, X, a)
    return _polished(nearest, most_balanced(nearest)[0])


def _polished(family: _Family, a: Floats) -> Floats:
    """``a`` without its imbalance, which samples inside their domain take up."""
    problem = family.problem
    low, high = np.empty((2, problem.n))
    terms.projections(problem.loss, problem.y, np.full(problem.n, -_FAR), low)
    terms.projections(problem.loss, problem.y, np.full(problem.n, _FAR), high)

    def corrected(a: Floats, missing: Floats) -> Floats:
        room = np.minimum(np.minimum(a - low, high - a), 1.0 + np.abs(a))
        out = np.empty(problem.n)
        push = room * rows_times(family.X, newton_direction(family.weighted_gram(room), missing))
        terms.projections(problem.loss, problem.y, a - push, out)
        return out

    return polish(family, a, corrected)


@kernel
def _steps_from_rest(loss: Any, y: Any, a: Any, z: Any, at_rest: Any, q: float, out: Any) -> None:
    """out = a after the coordinate step at z, less what the step does ``at_rest``."""
    for i in range(len(y)):
        out[i] = project(loss, dual_step(loss, a[i], z[i], q, y[i]) - at_rest[i], y[i])


@kernel
def _imbalance_of_steps(
    loss: Any, y: Any, c: Any, x: Any, a: Any, z: Any, at_rest: Any, q: float, t: float
) -> float:
    """Σ c x a after the coordinate steps at z + x·t, less what they do ``at_rest``."""
    total = 0.0
    for i in range(len(y)):
        step = dual_step(loss, a[i], z[i] + x[i] * t, q, y[i]) - at_rest[i]
        total += c[i] * x[i] * project(loss, step, y[i])
    return total
