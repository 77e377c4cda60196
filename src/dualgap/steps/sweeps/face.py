"""Conjugate gradients on the face of the dual problem: on dual variables between two kinks.

If φ* is made of quadratic pieces and the penalty is L2, the dual objective is a quadratic in the
dual variables inside their pieces, all others fixed: with z_i = x_i·u, bends κ_i and tilts τ_i
    slope c_i r_i,  r_i = −τ_i − κ_i a_i − z_i,     Hessian −c_i (κ_i δ_ij + (c_j/λ) x_i·x_j).
Conjugate gradients give a direction, and end when some variables would leave their pieces. The
search follows the path that bends at each kink it meets (Moré, Toraldo 1991), up to the first
maximum. So the dual objective rises and no variable leaves its domain. Cost: two passes over the
samples of the face for each iteration, and one sample for each kink on the way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import entry, face, place, span
from dualgap.penalties.structure import is_half_square
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.steps.base import Setting
from dualgap.steps.coordinate.views import DualView
from dualgap.steps.sweeps.free_intercept import has_free_intercept
from dualgap.steps.sweeps.tuning import TUNING


class Face(NamedTuple):
    """The samples inside their pieces, with what kernels need to know of each."""

    order: Any  # which samples
    c: Any
    scale: Any  # c/λ
    q: Any  # as in coordinate steps: scale·‖x‖²
    low: Any
    high: Any
    bend: Any
    tilt: Any
    a: Any

    def at(self, chosen: Any) -> Face:
        """The chosen samples, in this order."""
        return Face(*(np.ascontiguousarray(field[chosen]) for field in self))


class Ascent(NamedTuple):
    """What a step on the face did; ``length`` 1 is the step that the iterations proposed."""

    size: int
    iterations: int
    length: float
    gain: float


def has_faces(problem: Problem) -> bool:
    """Whether the dual objective is made of quadratic pieces."""
    penalty = problem.feature_penalty if has_free_intercept(problem) else problem.penalty
    return is_half_square(penalty) and hasattr(problem.loss, "face")


def ascend(view: DualView, most: int, target: float) -> Ascent:
    """Change a and u by one step of at most ``most`` iterations; ``target`` is the target gap."""
    problem, a, u = view.problem, view.x, view.v
    on = _face_of(view)
    if not len(on.order):
        return Ascent(0, 0, 0.0, 0.0)
    move, direction = np.zeros(len(on.order)), np.zeros(problem.d)
    outside, enough = TUNING.outside, TUNING.face_gap * target
    iterations = _conjugate_gradients(problem.rows, on, u, outside, enough, most, move, direction)
    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = np.where(move > 0.0, on.high - on.a, on.low - on.a) / move
    kinks[move == 0.0] = np.inf
    order = np.argsort(kinks, kind="stable")
    length, gain = _follow_path(
        problem.rows, on.at(order), problem.lam, kinks[order], move[order], u, direction
    )
    new = np.clip(on.a + length * move, on.low, on.high)
    a[on.order] = np.where(kinks <= length, np.where(move > 0.0, on.high, on.low), new)
    return Ascent(len(on.order), iterations, length, gain)


class FaceSteps:
    """When to make steps on the face, and how long they may be."""

    def __init__(self, view: DualView, setting: Setting) -> None:
        self.view, self.setting = view, setting
        # A quadratic loss has one face, and steps on it need no sweeps.
        self.single = bool(view.problem.loss.quadratic)
        self.most = TUNING.quadratic_iterations if self.single else TUNING.first_iterations
        self.rounds_left = 0 if self.single else TUNING.first_rounds  # until the next step
        self.wait = 1  # rounds to wait if that step gains too little
        self.gain = self.cost = 0.0

    def step(self) -> tuple[bool, float]:
        """Make a step if one is due; returns whether anything moved, and its cost in updates."""
        self.gain = self.cost = 0.0
        if self.rounds_left > 0:
            self.rounds_left -= 1
            return False, 0.0
        done = ascend(self.view, self.most, self.setting.target)
        if not self.single:
            most = self.most * (TUNING.longer if done.length > 0.5 else TUNING.shorter)
            self.most = int(min(max(most, TUNING.fewest_iterations), TUNING.most_iterations))
        self.gain, self.cost = done.gain, float(done.size * (done.iterations + 1))
        return done.length > 0.0, self.cost

    def compare(self, gain: float, swept: float) -> None:
        """Compare the gains of the round's sweeps and of its step on the face, for their costs."""
        if self.cost == 0.0 or swept == 0.0:
            return
        if self.gain / self.cost < (gain - self.gain) / swept:
            self.rounds_left = self.wait
            self.wait = min(2 * self.wait, TUNING.longest_wait)
        else:
            self.wait = 1

    def state(self) -> dict[str, Any]:
        return {"most": self.most, "left": self.rounds_left, "wait": self.wait}

    def restore(self, state: dict[str, Any]) -> None:
        self.most, self.rounds_left, self.wait = state["most"], state["left"], state["wait"]


def _face_of(view: DualView) -> Face:
    found = [_face_among(view, some) for some in terms.few_at_once(view.size)]
    return found[0] if len(found) == 1 else Face(*map(np.concatenate, zip(*found)))


def _face_among(view: DualView, some: slice) -> Face:
    """The face among some samples: it is often small, but the arrays it is found in are not."""
    problem, a, scale = view.problem, view.x[some], view.scale[some]
    q = scale * view.squares[some]
    low, high, bend, tilt = np.empty((4, len(a)))
    _pieces(problem.loss, problem.y[some], a, low, high, bend, tilt)
    tilt += view.offset
    order = np.arange(some.start, some.start + len(a))
    samples = Face(order, problem.c[some], scale, q, low, high, bend, tilt, a)
    return samples.at((low < a) & (a < high) & (q > 0.0))


@kernel
def _pieces(loss: Any, y: Any, a: Any, low: Any, high: Any, bend: Any, tilt: Any) -> None:
    """The quadratic piece of φ* on which each dual variable lies."""
    for i in range(len(y)):
        low[i], high[i], bend[i], tilt[i] = face(loss, a[i], y[i])


@inner
def _add_rows(matrix: Any, on: Any, amounts: Any, out: Any) -> None:
    """out = Σ scale·amount·x over the samples of the face."""
    out[:] = 0.0
    for k in range(len(amounts)):
        i = on.order[k]
        weight = on.scale[k] * amounts[k]
        start, stop = span(matrix, i)
        for t in range(start, stop):
            out[place(matrix, i, t)] += weight * entry(matrix, i, t)


@inner
def _row_products(matrix: Any, on: Any, vector: Any, out: Any) -> None:
    """out = x·vector for each sample of the face."""
    for k in range(len(out)):
        i = on.order[k]
        total = 0.0
        start, stop = span(matrix, i)
        for t in range(start, stop):
            total += entry(matrix, i, t) * vector[place(matrix, i, t)]
        out[k] = total


@inner
def _largest_gap(r: float, bend: float, low: float, high: float) -> float:
    """The most that a sample with slope r can contribute to the gap anywhere on its piece."""
    linear = abs(r) * (high - low)
    return min(linear, 0.5 * r * r / bend) if bend > 0.0 else linear


@kernel
def _conjugate_gradients(
    matrix: Any,
    on: Any,
    u: Any,
    outside: float,
    enough: float,
    most: int,
    move: Any,
    direction: Any,
) -> int:
    """Set ``move`` to about the maximum of the quadratic and ``direction`` to its change of u;
    returns the number of iterations.

    They end when the samples of the face would contribute at most ``enough`` to the gap, or when
    more than the share ``outside`` of them would be beyond their kinks.
    """
    m = len(move)
    r, p, product = np.empty(m), np.empty(m), np.empty(m)
    _row_products(matrix, on, u, product)
    square = 0.0
    for k in range(m):
        r[k] = -on.tilt[k] - on.bend[k] * on.a[k] - product[k]
        p[k] = r[k] / (on.q[k] + on.bend[k])
        square += on.c[k] * r[k] * p[k]
    for iteration in range(most):
        _add_rows(matrix, on, p, direction)
        _row_products(matrix, on, direction, product)
        curved = 0.0
        for k in range(m):
            product[k] += on.bend[k] * p[k]
            curved += on.c[k] * p[k] * product[k]
        if not curved > 0.0:
            most = iteration
            break
        length = square / curved
        before, square, left, beyond = square, 0.0, 0.0, 0
        for k in range(m):
            move[k] += length * p[k]
            r[k] -= length * product[k]
            square += on.c[k] * r[k] * r[k] / (on.q[k] + on.bend[k])
            beyond += on.a[k] + move[k] < on.low[k] or on.a[k] + move[k] > on.high[k]
            left += on.c[k] * _largest_gap(r[k], on.bend[k], on.low[k], on.high[k])
        if left <= enough or beyond > outside * m:
            most = iteration + 1
            break
        for k in range(m):
            p[k] = r[k] / (on.q[k] + on.bend[k]) + square / before * p[k]
    _add_rows(matrix, on, move, direction)
    return most


@kernel
def _follow_path(
    matrix: Any, on: Any, lam: float, kinks: Any, move: Any, u: Any, direction: Any
) -> tuple[float, float]:
    """Move u to the first maximum on the path whose samples stop at their kinks, in this order.

    Between two kinks the path is a straight line u + t·direction. At a kink u and direction change
    by a multiple of one sample. Returns the length t and the gain.
    """
    along, square, linear, curved = 0.0, 0.0, 0.0, 0.0
    for j in range(len(u)):
        along += u[j] * direction[j]
        square += direction[j] * direction[j]
    for k in range(len(move)):
        linear -= on.c[k] * move[k] * (on.tilt[k] + on.bend[k] * on.a[k])
        curved += on.c[k] * on.bend[k] * move[k] * move[k]
    gain, length = 0.0, 0.0
    for turn in range(len(move) + 1):
        # The slope at t is top − t·steep.
        top, steep = linear - lam * along, curved + lam * square
        kink = kinks[turn] if turn < len(move) else np.inf
        peak = top / steep if steep > 0.0 else length
        reached = max(min(peak, kink), length)
        gain += (reached - length) * (top - 0.5 * (reached + length) * steep)
        length = reached
        if peak <= kink:
            break
        i, amount = on.order[turn], on.scale[turn] * move[turn]
        of_u, of_direction = 0.0, 0.0
        start, stop = span(matrix, i)
        for t in range(start, stop):
            j = place(matrix, i, t)
            x = entry(matrix, i, t)
            of_u += x * u[j]
            of_direction += x * direction[j]
            u[j] += kink * amount * x
            direction[j] -= amount * x
        bent = amount * on.q[turn] / on.scale[turn]  # amount·‖x‖²
        along += amount * (kink * (of_direction - bent) - of_u)
        square += amount * (bent - 2.0 * of_direction)
        linear += on.c[turn] * move[turn] * (on.tilt[turn] + on.bend[turn] * on.a[turn])
        curved -= on.c[turn] * on.bend[turn] * move[turn] * move[turn]
    for j in range(len(u)):
        u[j] += length * direction[j]
    return length, gain
