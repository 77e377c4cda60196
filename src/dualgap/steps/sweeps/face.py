"""Conjugate gradients on the face of the dual problem: on dual variables between two kinks.

Where φ* is made of quadratic pieces and the penalty is L2, the dual objective of the samples that
lie inside their piece is a quadratic, all others held: with z_i = x_i·u, bends κ_i and tilts τ_i
    slope c_i r_i,  r_i = −τ_i − κ_i a_i − z_i,     Hessian −c_i (κ_i δ_ij + (c_j/λ) x_i·x_j).
Conjugate gradients give a direction, and end when it leaves its piece in some variables; the search
follows the path that bends at each kink it meets (Moré, Toraldo 1991), up to the first maximum. So
the dual objective rises and no variable leaves its domain. Cost: for each iteration two passes over
the samples of the face, and for each kink on the way one sample.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import entry, face, place, span
from dualgap.penalties.structure import is_half_square
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.steps.coordinate.views import DualView

_OUTSIDE = 0.003  # the share of variables beyond their kinks at which a direction is long enough
_LEFT = 0.3  # of the gap that is aimed at: what the samples of the face may add to it


class Face(NamedTuple):
    """The samples inside their pieces, with what the kernels need of each."""

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
        """Those of the samples, in this order."""
        return Face(*(np.ascontiguousarray(field[chosen]) for field in self))


class Ascent(NamedTuple):
    """What a step on the face did: ``length`` 1 means all that the iterations proposed."""

    size: int
    iterations: int
    length: float
    gain: float


def has_faces(problem: Problem) -> bool:
    """Whether the dual objective is made of quadratic pieces."""
    return is_half_square(problem.penalty) and hasattr(problem.loss, "face")


def ascend(view: DualView, most: int, target: float) -> Ascent:
    """Change a and u by one step of at most ``most`` iterations; ``target``: the gap aimed at."""
    problem, a, u = view.problem, view.x, view.v
    on = _face_of(view)
    if not len(on.order):
        return Ascent(0, 0, 0.0, 0.0)
    move, direction = np.zeros(len(on.order)), np.zeros(problem.d)
    iterations = conjugate_gradients(
        problem.rows, on, u, _OUTSIDE, _LEFT * target, most, move, direction
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = np.where(move > 0.0, on.high - on.a, on.low - on.a) / move
    kinks[move == 0.0] = np.inf
    turns = np.argsort(kinks, kind="stable")
    length, gain = follow(
        problem.rows, on.at(turns), problem.lam, kinks[turns], move[turns], u, direction
    )
    new = np.clip(on.a + length * move, on.low, on.high)
    a[on.order] = np.where(kinks <= length, np.where(move > 0.0, on.high, on.low), new)
    return Ascent(len(on.order), iterations, length, gain)


def _face_of(view: DualView) -> Face:
    found = [_part_of_face(view, some) for some in terms.few_at_once(view.size)]
    return found[0] if len(found) == 1 else Face(*map(np.concatenate, zip(*found)))


def _part_of_face(view: DualView, some: slice) -> Face:
    """Those of some samples: a face is often small, and what all of them say of it is not."""
    problem, a, scale = view.problem, view.x[some], view.scale[some]
    q = scale * view.squares[some]
    low, high, bend, tilt = np.empty((4, len(a)))
    faces(problem.loss, problem.y[some], a, low, high, bend, tilt)
    order = np.arange(some.start, some.start + len(a))
    every = Face(order, problem.c[some], scale, q, low, high, bend, tilt, a)
    return every.at((low < a) & (a < high) & (q > 0.0))


@kernel
def faces(loss: Any, y: Any, a: Any, low: Any, high: Any, bend: Any, tilt: Any) -> None:
    """The piece on which each dual variable lies."""
    for i in range(len(y)):
        low[i], high[i], bend[i], tilt[i] = face(loss, a[i], y[i])


@inner
def spread(matrix: Any, on: Any, amounts: Any, out: Any) -> None:
    """out = Σ scale·amount·x over the samples of the face."""
    out[:] = 0.0
    for k in range(len(amounts)):
        i = on.order[k]
        weight = on.scale[k] * amounts[k]
        start, stop = span(matrix, i)
        for t in range(start, stop):
            out[place(matrix, i, t)] += weight * entry(matrix, i, t)


@inner
def collect(matrix: Any, on: Any, vector: Any, out: Any) -> None:
    """out = x·vector for each sample of the face."""
    for k in range(len(out)):
        i = on.order[k]
        total = 0.0
        start, stop = span(matrix, i)
        for t in range(start, stop):
            total += entry(matrix, i, t) * vector[place(matrix, i, t)]
        out[k] = total


@inner
def could_add(r: float, bend: float, low: float, high: float) -> float:
    """What a sample with this slope can add to the gap, wherever on its piece it is."""
    linear = abs(r) * (high - low)
    return min(linear, 0.5 * r * r / bend) if bend > 0.0 else linear


@kernel
def conjugate_gradients(
    matrix: Any,
    on: Any,
    u: Any,
    outside: float,
    enough: float,
    most: int,
    move: Any,
    direction: Any,
) -> int:
    """move ≈ where the quadratic has its maximum, direction = its image in u; the iterations.

    They end when the samples of the face would add no more than ``enough`` to the gap, and when
    more than the share ``outside`` would be beyond their kinks.
    """
    m = len(move)
    r, p, image = np.empty(m), np.empty(m), np.empty(m)
    collect(matrix, on, u, image)
    square = 0.0
    for k in range(m):
        r[k] = -on.tilt[k] - on.bend[k] * on.a[k] - image[k]
        p[k] = r[k] / (on.q[k] + on.bend[k])
        square += on.c[k] * r[k] * p[k]
    for iteration in range(most):
        spread(matrix, on, p, direction)
        collect(matrix, on, direction, image)
        curved = 0.0
        for k in range(m):
            image[k] += on.bend[k] * p[k]
            curved += on.c[k] * p[k] * image[k]
        if not curved > 0.0:
            most = iteration
            break
        length = square / curved
        before, square, left, beyond = square, 0.0, 0.0, 0
        for k in range(m):
            move[k] += length * p[k]
            r[k] -= length * image[k]
            square += on.c[k] * r[k] * r[k] / (on.q[k] + on.bend[k])
            beyond += on.a[k] + move[k] < on.low[k] or on.a[k] + move[k] > on.high[k]
            left += on.c[k] * could_add(r[k], on.bend[k], on.low[k], on.high[k])
        if left <= enough or beyond > outside * m:
            most = iteration + 1
            break
        for k in range(m):
            p[k] = r[k] / (on.q[k] + on.bend[k]) + square / before * p[k]
    spread(matrix, on, move, direction)
    return most


@kernel
def follow(
    matrix: Any, on: Any, lam: float, kinks: Any, move: Any, u: Any, direction: Any
) -> tuple[float, float]:
    """Move u along the path whose samples stop at their kinks, in this order, to the first maximum.

    Between two kinks u + t·direction is a straight line, of which both parts change by a multiple
    of one sample where a kink is met. Returns the length t and the gain.
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
