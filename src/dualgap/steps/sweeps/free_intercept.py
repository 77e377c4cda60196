"""A free intercept in sweeps: the method of multipliers for its constraint Σ c a = 0.

Let b be the multiplier, which is the intercept, and S = Σ c a the imbalance. Sweeps maximise
    D(a) − b S − κ S²/2,    κ = s²/λ,
which is the dual problem with the loss at z + b and an intercept that is penalised as the
coefficient of a constant feature of value s. After each sweep b increases by κ S (Hestenes 1969;
Powell 1969). A small s leaves the steps of samples as long as they are without an intercept: then
a free intercept takes no more sweeps than none.

At a gap check samples with room take up what is left of S, and the objective is taken at the best
intercept for the coefficients, since b is only as good as the sweeps are. If samples are nearly
independent, b continues from there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper, kernel
from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import conj_slope, dual_step, entry, place, project, slope, span
from dualgap.linalg import products
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import elastic_form, is_uniform
from dualgap.problem import Problem
from dualgap.proof.certificate import Pair
from dualgap.steps.base import Start
from dualgap.steps.coordinate.views import DualView
from dualgap.steps.sweeps.tuning import TUNING

_ROUNDING = 1e-12  # changes of the intercept that are smaller show no progress
_FAR = 1e300  # beyond every finite bound on a dual variable
_TRIALS = TUNING.intercept_trials  # kernels read module-level names


def has_free_intercept(problem: Problem) -> bool:
    """Whether the intercept is all that keeps the penalty from being strongly convex."""
    penalty = problem.feature_penalty
    known = is_uniform(penalty) or elastic_form(penalty) is not None
    if not known or problem.intercept is not True or problem.width > 1:
        return False
    return bool(problem.features.strength[:-1].min(initial=np.inf) > 0.0)


class ShiftedConjugate(NamedTuple):
    """φ*(−a) + b·a: the conjugate of the loss at z + b."""

    loss: Any
    y: Any
    offset: float

    def step(self, i, x, g, q):
        return dual_step(self.loss, x, g + self.offset, q, self.y[i])

    def expect(self, i):
        prefetch(self.y, i)


class FreeIntercept:
    """The intercept of a run, and the view of samples under which it sweeps."""

    def __init__(self, problem: Problem, warm: Start) -> None:
        self.problem = problem
        typical = _typical_square(problem)
        self.value = float(np.sqrt(TUNING.intercept_share * typical))
        # Whether λ is so large that samples hardly see each other, but all see the intercept.
        condition = typical / (problem.n * problem.lam * (problem.loss.gamma or np.inf))
        self.independent = 0.0 < condition <= TUNING.independent_condition
        self.view = DualView(problem.with_penalised_intercept(self.value), warm.dual)
        start = problem.best_constant[1] if warm.coef is None else warm.coef[-1]
        self.moved = 0.0  # by the last change of b
        self.set(float(start) * problem.constant)

    def set(self, multiplier: float) -> None:
        self.multiplier = multiplier
        loss, y = self.problem.loss, self.problem.y
        self.view.separable = ShiftedConjugate(loss, y, multiplier)
        self.view.offset = multiplier

    @property
    def now(self) -> float:
        """The intercept that the next step of a sample sees."""
        return self.multiplier + self.value * float(self.view.v[-1])

    def update(self) -> bool:
        """Add κ S to the multiplier; returns whether that is more than a rounding error."""
        self.moved = self.value * float(self.view.v[-1])
        self.set(self.multiplier + self.moved)
        return abs(self.moved) > _ROUNDING * (1.0 + abs(self.multiplier))

    def seen(self, pair: Pair) -> Floats:
        """The decision values of a pair with the intercept that the next step of a sample sees."""
        return pair.z + (self.now - self.problem.constant * float(pair.w[-1]))

    def state(self) -> dict[str, float]:
        return {"multiplier": self.multiplier, "moved": self.moved}

    def restore(self, state: dict[str, float]) -> None:
        self.set(state["multiplier"])
        self.moved = state["moved"]

    def pair(self, point: tuple[Floats, Floats] | None, target: float) -> Pair:
        """The pair of a dual point with its u, by default the current one, balanced, with the best
        intercept for its coefficients."""
        problem, matrix = self.problem, self.problem.stored_rows
        a, u = (vector.copy() for vector in point or (self.view.x, self.view.v))
        enough = TUNING.intercept_gap * target
        points = problem.loss, problem.y, problem.c
        gamma = float(problem.loss.gamma)
        _balance(matrix, *points, gamma, self.view.scale, self.view.squares, a, u, enough)
        w, z = np.empty(len(u)), np.empty(problem.n)
        _slopes(problem.feature_penalty, u, w)
        products.gather(matrix, w[:-1], z)
        b = _best_shift(*points, z, self.now, abs(self.moved), enough)
        far = abs(b - self.now) > TUNING.far_intercept * abs(self.moved)
        if self.independent or (gamma == 0.0 and far):
            self.set(b)
        z += b
        w[-1] = b / problem.constant
        u[-1] = problem.constant * float(np.sum(problem.c * a)) / problem.lam
        return Pair(w, a, z, u, z_anew=True)


def _typical_square(problem: Problem) -> float:
    """The median of ‖x_i‖², without the constant feature, among some samples; 1 if all are 0."""
    some = np.arange(0, problem.n, -(-problem.n // TUNING.intercept_samples))
    squares = problem.squares_of_rows[some]
    squares = squares[squares > 0.0]
    return float(np.median(squares)) if len(squares) else 1.0


@kernel
def _slopes(penalty: Any, u: Any, out: Any) -> None:
    """out = ∇g*(u), but for the intercept."""
    for j in range(len(u) - 1):
        out[j] = conj_slope(penalty, u[j], 0.0, j)


@helper
def _room(loss: Any, a: float, y: float) -> float:
    """How far a dual variable can move both ways, at most about its size."""
    return max(min(a - project(loss, -_FAR, y), project(loss, _FAR, y) - a, 1.0 + abs(a)), 0.0)


@kernel
def _balance(
    matrix: Any,
    loss: Any,
    y: Any,
    c: Any,
    gamma: float,
    scale: Any,
    squares: Any,
    a: Any,
    u: Any,
    enough: float,
) -> None:
    """Bring Σ c a to 0, as far as samples have room, and change u with it.

    Samples move in proportion to their room: as few of them as cost no more than about ``enough``
    of D(a).
    """
    missing, room, cost = 0.0, 0.0, 0.0
    for i in range(len(a)):
        missing += c[i] * a[i]
        own = _room(loss, a[i], y[i])
        room += c[i] * own
        cost += c[i] * (scale[i] * squares[i] + gamma) * own * own
    if missing == 0.0 or room == 0.0:
        return
    # All together would cost ½ cost (missing/room)², a share of them as many times more.
    least = 0.5 * cost * (missing / room) ** 2 / max(enough, 1e-300)
    used = min(max(2.0 * abs(missing), min(least, 1.0) * room), room)
    share, left, met = missing / used, missing, 0.0
    for i in range(len(a)):
        own = _room(loss, a[i], y[i])
        if own == 0.0 or c[i] == 0.0:
            continue
        met += c[i] * own
        want = left / c[i] if met >= used and abs(left) <= c[i] * own else share * own
        new = project(loss, a[i] - min(max(want, -own), own), y[i])
        moved = new - a[i]
        a[i] = new
        left += c[i] * moved
        start, stop = span(matrix, i)
        for t in range(start, stop):
            u[place(matrix, i, t)] += scale[i] * moved * entry(matrix, i, t)
        if met >= used:
            break


@kernel
def _sum_of_slopes(loss: Any, y: Any, c: Any, z: Any, shift: float) -> float:
    total = 0.0
    for i in range(len(y)):
        total += c[i] * slope(loss, z[i] + shift, y[i])
    return total


def _best_shift(
    loss: Any, y: Any, c: Any, z: Any, start: float, stride: float, enough: float
) -> float:
    """The b that minimises Σ c φ(z + b), up to ``enough`` of it, from ``start``."""
    points = loss, y, c, z
    near, at_near = start, _sum_of_slopes(*points, start)
    stride = max(stride, TUNING.least_stride * (1.0 + abs(start)))
    far, at_far = near, at_near
    for _ in range(_TRIALS):
        if (at_near * at_far <= 0.0 and far != near) or at_near == 0.0:
            break
        near, at_near = far, at_far
        far = far - np.sign(at_near) * stride
        at_far = _sum_of_slopes(*points, far)
        stride *= 4.0
    for trial in range(_TRIALS):
        if min(abs(at_near), abs(at_far)) * abs(far - near) <= enough:
            break
        share = at_near / (at_near - at_far) if trial % 2 == 0 else 0.5
        middle = near + (far - near) * min(max(share, 0.05), 0.95)
        at_middle = _sum_of_slopes(*points, middle)
        if at_middle * at_near > 0.0:
            near, at_near = middle, at_middle
        else:
            far, at_far = middle, at_middle
    return near if abs(at_near) <= abs(at_far) else far
