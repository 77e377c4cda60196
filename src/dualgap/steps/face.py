"""Conjugate gradients on the face of the dual problem: on dual variables between two kinks.

Where φ* is made of quadratic pieces and the penalty is L2, the dual objective of the samples that lie
inside their piece is a quadratic, all others held: with x_i·u = z_i, bends κ_i and tilts τ_i
    slope r_i = −τ_i − κ_i a_i − z_i,     Hessian −c_i (κ_i δ_ij + (c_j/λ) x_i·x_j).
A few iterations of conjugate gradients give a direction; the search along it follows the path that
bends at each kink it meets (Moré, Toraldo 1991) and ends at the first maximum, so that the dual
objective rises and no variable leaves its domain. Cost: 2 passes over the samples of the face for each
iteration, and for each kink on the way one sample.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap._compile import kernel
from dualgap._rules import entry, face, place, span
from dualgap._validate import Floats
from dualgap.penalties import L2
from dualgap.problem import Problem

_OUTSIDE = (
    0.01  # the share of variables beyond their kinks that ends the iterations: too long a move
)
_LEFT = 0.3  # of the gap that is aimed at: what the iterations may leave


class Ascent(NamedTuple):
    """What a step on the face did."""

    size: int  # samples of the face
    iterations: int
    length: float  # of the path that it went, where 1 is all that the iterations proposed
    gain: float  # of the dual objective


def has_faces(problem: Problem) -> bool:
    """Whether the dual objective is made of quadratic pieces."""
    return isinstance(problem.penalty, L2) and hasattr(problem.loss, "face")


def ascend(problem: Problem, q: Floats, a: Floats, u: Floats, most: int, target: float) -> Ascent:
    """Change a and u by one step of at most ``most`` iterations; ``q`` as in coordinate steps."""
    pieces = np.empty((4, problem.n))
    faces(problem.loss, problem.y, a, *pieces)
    low, high = pieces[:2]
    inside = (low < a) & (a < high) & (q > 0.0)
    order = np.flatnonzero(inside)
    if not len(order):
        return Ascent(0, 0, 0.0, 0.0)
    low, high, bend, tilt = np.ascontiguousarray(pieces[:, order])
    at, c = a[order], problem.c[order]
    scale, diagonal = c / problem.lam, q[order] + bend
    move = np.zeros(len(order))
    direction = np.zeros(problem.d)
    iterations = conjugate_gradients(
        problem.rows, order, c, scale, diagonal, low, high, bend, tilt, at, u,
        _OUTSIDE, _LEFT * target, most, move, direction,
    )  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        kinks = np.where(move > 0.0, (high - at) / move, (low - at) / move)
    kinks[move == 0.0] = np.inf
    turns = np.argsort(kinks)
    linear = -float(np.sum(c * move * (tilt + bend * at)))
    curved = float(np.sum(c * bend * move * move))
    squares = (q[order] / scale)[turns]
    length, gain = follow(
        problem.rows, order[turns], problem.lam, c[turns], scale[turns], squares, bend[turns],
        tilt[turns], at[turns], kinks[turns], move[turns], linear, curved, u, direction,
    )  # fmt: skip
    beyond = kinks <= length
    a[order] = np.where(
        beyond, np.where(move > 0.0, high, low), np.clip(at + length * move, low, high)
    )
    return Ascent(len(order), iterations, length, gain)


@kernel
def faces(loss: Any, y: Any, a: Any, low: Any, high: Any, bend: Any, tilt: Any) -> None:
    """The piece on which each dual variable lies."""
    for i in range(len(y)):
        low[i], high[i], bend[i], tilt[i] = face(loss, a[i], y[i])


@kernel
def conjugate_gradients(
    matrix: Any,
    order: Any,
    c: Any,
    scale: Any,
    diagonal: Any,
    low: Any,
    high: Any,
    bend: Any,
    tilt: Any,
    at: Any,
    u: Any,
    outside: float,
    enough: float,
    most: int,
    move: Any,
    direction: Any,
) -> int:
    """move ≈ the maximum of the quadratic on the face, direction = its image; the iterations.

    They end when samples of the face would add no more than ``enough`` to the gap, and when the move
    has left the pieces in more than the share ``outside``.
    """
    m = len(order)
    r, p, image = np.empty(m), np.empty(m), np.empty(m)
    square = 0.0
    for k in range(m):
        i = order[k]
        z = 0.0
        start, stop = span(matrix, i)
        for t in range(start, stop):
            z += entry(matrix, i, t) * u[place(matrix, i, t)]
        r[k] = -tilt[k] - bend[k] * at[k] - z
        p[k] = r[k] / diagonal[k]
        square += c[k] * r[k] * p[k]
    iterations = 0
    while iterations < most and square > 0.0:
        iterations += 1
        direction[:] = 0.0
        for k in range(m):
            i = order[k]
            weight = scale[k] * p[k]
            start, stop = span(matrix, i)
            for t in range(start, stop):
                direction[place(matrix, i, t)] += weight * entry(matrix, i, t)
        curved = 0.0
        for k in range(m):
            i = order[k]
            z = 0.0
            start, stop = span(matrix, i)
            for t in range(start, stop):
                z += entry(matrix, i, t) * direction[place(matrix, i, t)]
            image[k] = z + bend[k] * p[k]
            curved += c[k] * p[k] * image[k]
        if not curved > 0.0:
            break
        length = square / curved
        before = square
        square = 0.0
        left = 0.0
        beyond = 0
        for k in range(m):
            move[k] += length * p[k]
            r[k] -= length * image[k]
            square += c[k] * r[k] * r[k] / diagonal[k]
            new = at[k] + move[k]
            if new < low[k] or new > high[k]:
                beyond += 1
            size = abs(r[k])
            most_of_it = size * (high[k] - low[k])
            if bend[k] > 0.0:
                most_of_it = min(most_of_it, 0.5 * size * size / bend[k])
            left += c[k] * most_of_it
        if left <= enough or beyond > outside * m:
            break
        for k in range(m):
            p[k] = r[k] / diagonal[k] + square / before * p[k]
    direction[:] = 0.0
    for k in range(m):
        i = order[k]
        weight = scale[k] * move[k]
        start, stop = span(matrix, i)
        for t in range(start, stop):
            direction[place(matrix, i, t)] += weight * entry(matrix, i, t)
    return iterations


@kernel
def follow(
    matrix: Any,
    order: Any,
    lam: float,
    c: Any,
    scale: Any,
    squares: Any,
    bend: Any,
    tilt: Any,
    at: Any,
    kinks: Any,
    move: Any,
    linear: float,
    curved: float,
    u: Any,
    direction: Any,
) -> tuple[float, float]:
    """Move u along the path whose samples stop at their kinks, in this order, to the first maximum.

    ``linear`` and ``curved`` are the sums of c·move·slope of −φ* and of c·bend·move². Between two
    kinks u + t·direction is a straight line, whose two ends both change by a multiple of one sample
    where a kink is met. Returns the length t and the gain.
    """
    along = 0.0
    square = 0.0
    for j in range(len(u)):
        along += u[j] * direction[j]
        square += direction[j] * direction[j]
    gain = 0.0
    length = 0.0
    for turn in range(len(order) + 1):
        # The slope at t is top − t·steep.
        top = linear - lam * along
        steep = curved + lam * square
        kink = kinks[turn] if turn < len(order) else np.inf
        peak = top / steep if steep > 0.0 else length
        stop_at = max(min(peak, kink), length)
        gain += (stop_at - length) * (top - 0.5 * (stop_at + length) * steep)
        length = stop_at
        if peak <= kink:
            break
        i = order[turn]
        amount = scale[turn] * move[turn]
        of_u = 0.0
        of_direction = 0.0
        start, stop = span(matrix, i)
        for t in range(start, stop):
            k = place(matrix, i, t)
            of_u += entry(matrix, i, t) * u[k]
            of_direction += entry(matrix, i, t) * direction[k]
            u[k] += kink * amount * entry(matrix, i, t)
            direction[k] -= amount * entry(matrix, i, t)
        along += amount * (kink * (of_direction - amount * squares[turn]) - of_u)
        square += amount * (amount * squares[turn] - 2.0 * of_direction)
        linear += c[turn] * move[turn] * (tilt[turn] + bend[turn] * at[turn])
        curved -= c[turn] * bend[turn] * move[turn] * move[turn]
    for j in range(len(u)):
        u[j] += length * direction[j]
    return length, gain
