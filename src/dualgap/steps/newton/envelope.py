"""Losses with their kinks rounded off, as an augmented Lagrangian sees them.

A multiplier a and a width q turn a loss into  e(z) = max_b −φ*(−b) − z·b − (q/2)(b − a)²,  convex
with slope −b, which is Lipschitz; q = 0 is the loss itself. Where the multipliers a are optimal, so
is the minimum, however wide q is.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile import thread_pool
from dualgap.compile.kernels import kernel
from dualgap.compile.rules import curvature, dual_step, project, slope
from dualgap.linalg.gram import gram
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.steps.base import vector

_NEARBY = 1e-4  # in units of q: the distance at which b is compared for its slope
_LEAST = 1e-8  # of the first width: narrower, and rounding errors decide where a kink is
_WIDER = 10.0
_FEW = 0.5  # curvatures, of those other than 0, whose change costs less than all of them anew
_KEPT = 0.1  # of the sum of squares of each feature


class Response(NamedTuple):
    """What samples say to decision values z: b = −e'(z), and the slope of Σ c e along the move that
    has led to z."""

    z: Floats
    b: Floats
    slope: float


class Samples:
    """The losses of all samples."""

    def __init__(self, problem: Problem, a: Floats, width: float) -> None:
        self.problem, self.a = problem, a
        self.q = 0.0 if problem.loss.differentiable else width
        self.widest, self.least = self.q, _LEAST * self.q
        self.known: tuple[Floats, Floats] | None = None  # the last Hessian, with its weights

    def respond(self, z: Floats, move: Floats | None = None, length: float = 0.0) -> Response:
        """At z + length·move."""
        at, b = np.empty((2, self.problem.n))
        loss, y, c = self.problem.loss, self.problem.y, self.problem.c
        move = z if move is None else move
        calls = [
            (loss, y[i], c[i], z[i], move[i], length, self.a[i], self.q, at[i], b[i])
            for i, _ in terms.pieces(len(z), loss)
        ]
        return Response(at, b, sum(thread_pool.together(_envelopes, calls)))

    def curvatures(self, z: Floats) -> Floats:
        """c e''(z), or one of its one-sided values."""
        loss, y, c, out = self.problem.loss, self.problem.y, self.problem.c, np.empty(len(z))
        calls = [
            (loss, y[i], c[i], z[i], self.a[i], self.q, out[i])
            for i, _ in terms.pieces(len(z), loss)
        ]
        thread_pool.together(_curvatures, calls)
        return out

    def hessian(self, at: Response) -> Floats:
        """That of Σ c e(Xw), where ``respond`` has just been asked.

        Losses made of quadratic pieces change few curvatures in a step, and only these cost.
        """
        weights = self.curvatures(at.z)
        matrix = self._updated(weights)
        if matrix is None:
            matrix = gram(self.problem, weights)
        self.known = weights, matrix
        return matrix

    def _updated(self, weights: Floats) -> Floats | None:
        """The last Hessian with what has changed since; None if that is much, or rounds badly."""
        if self.known is None:
            return None
        before, matrix = self.known
        change = weights - before
        if np.count_nonzero(change != 0.0) > _FEW * np.count_nonzero(weights != 0.0):
            return None
        new = matrix + gram(self.problem, change)
        # What large entries leave behind must not show among small ones.
        return new if (np.diag(new) >= _KEPT * np.diag(matrix)).all() else None

    def unsettled(self, z: Floats, reach: float) -> Any:
        """The samples whose b would change if z did, by so much at most."""
        loss, y, out = self.problem.loss, self.problem.y, np.empty(self.problem.n, dtype=np.bool_)
        calls = [
            (loss, y[i], z[i], self.a[i], self.q, reach, out[i])
            for i, _ in terms.pieces(len(z), loss)
        ]
        thread_pool.together(_unsettled, calls)
        return np.flatnonzero(out)

    def among(self, problem: Problem, places: Any) -> Samples:
        """Some of them, which are those of ``problem``."""
        some = Samples(problem, self.a[places], self.q)
        some.q = self.q
        return some

    def shift(self, b: Floats) -> float:
        """How far b is from the multipliers, in units of the objective."""
        return 0.5 * self.q * self.distance(b, self.a) ** 2 if self.q > 0.0 else 0.0

    def distance(self, x: Floats, y: Floats) -> float:
        """The root of Σ c (x − y)²."""
        loss, c = self.problem.loss, self.problem.c
        calls = [(c[i], x[i], y[i]) for i, _ in terms.pieces(len(x), loss)]
        return math.sqrt(sum(thread_pool.together(_square_distance, calls)))

    def narrow(self, b: Floats, factor: float, least: float) -> None:
        """Take over the multipliers, and round off less."""
        self.least = min(max(self.least, least), self.q)
        self.a, self.q = b, max(self.q * factor, self.least)

    def widen(self, b: Floats) -> bool:
        """Take over the multipliers, and round off more, so that rounding errors of z matter less;
        whether that is possible."""
        wider = min(_WIDER * self.q, self.widest)
        possible = wider > self.q
        self.a, self.q, self.least = b, wider, wider
        return possible

    def state(self) -> dict[str, Any]:
        """What a checkpoint has to keep."""
        return {name: getattr(self, name) for name in ("a", "q", "least", "known")}

    def restore(self, state: dict[str, Any]) -> None:
        self.a = vector(state, "a", self.problem.n)
        self.q, self.least = state["q"], state["least"]
        if state["known"] is not None:
            weights, matrix = state["known"]
            size = self.problem.d
            if weights.shape != (self.problem.n,) or matrix.shape != (size, size):
                raise ValueError("a Hessian does not fit the problem")
            self.known = weights, matrix


class Blocks(Samples):
    """Losses of a vector without kinks, which say themselves what their Hessians are."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.q, self.least, self.widest = problem, 0.0, 0.0, 0.0

    def respond(self, z: Floats, move: Floats | None = None, length: float = 0.0) -> Response:
        b = np.empty(self.problem.dual_size)
        at = z if move is None else z + length * move
        terms.slopes(self.problem.loss, self.problem.y, at, b)
        slope = 0.0 if move is None else -float(np.sum(self.problem.weighted(b) * move))
        return Response(at, b, slope)

    def hessian(self, at: Response) -> Floats:
        problem = self.problem
        d, width = problem.d, problem.width
        a = at.b.reshape(problem.n, width)
        out = np.empty((d, width, d, width))
        for k in range(width):
            for m in range(k + 1):
                weights = problem.c * problem.loss.hessian_entries(a, problem.y, k, m)
                part = gram(problem, weights)
                out[:, k, :, m] = out[:, m, :, k] = part
        return out.reshape(d * width, d * width)

    def shift(self, b: Floats) -> float:
        return 0.0

    def state(self) -> dict[str, Any]:
        return {}  # all follows from z

    def restore(self, state: dict[str, Any]) -> None:
        """There is nothing to go on from."""

    def narrow(self, b: Floats, factor: float, least: float) -> None:
        """There is nothing to round off."""


@kernel
def _envelopes(
    loss: Any,
    y: Any,
    c: Any,
    z: Any,
    move: Any,
    length: float,
    a: Any,
    q: float,
    at: Any,
    b: Any,
) -> float:
    # A loop for each purpose: those without branches and weights become vector instructions.
    for i in range(len(y)):
        at[i] = z[i] + length * move[i]
    if q > 0.0:
        for i in range(len(y)):
            b[i] = dual_step(loss, a[i], at[i], q, y[i])
    else:
        for i in range(len(y)):
            b[i] = project(loss, -slope(loss, at[i], y[i]), y[i])
    total = 0.0
    for i in range(len(y)):
        total -= c[i] * b[i] * move[i]
    return total


@kernel
def _curvatures(loss: Any, y: Any, c: Any, z: Any, a: Any, q: float, out: Any) -> None:
    if q > 0.0:
        for i in range(len(y)):
            left = dual_step(loss, a[i], z[i] - _NEARBY * q, q, y[i])
            right = dual_step(loss, a[i], z[i] + _NEARBY * q, q, y[i])
            out[i] = max(left - right, 0.0) / (2.0 * _NEARBY * q)
    else:
        for i in range(len(y)):
            out[i] = curvature(loss, z[i], y[i])
    for i in range(len(y)):
        out[i] *= c[i]


@kernel
def _square_distance(c: Any, x: Any, y: Any) -> float:
    """Σ c (x − y)²."""
    total = 0.0
    for i in range(len(x)):
        total += c[i] * (x[i] - y[i]) * (x[i] - y[i])
    return total


@kernel
def _unsettled(loss: Any, y: Any, z: Any, a: Any, q: float, reach: float, out: Any) -> None:
    for i in range(len(y)):
        below, above = z[i] - reach, z[i] + reach
        if q > 0.0:
            out[i] = dual_step(loss, a[i], below, q, y[i]) != dual_step(loss, a[i], above, q, y[i])
        else:
            out[i] = slope(loss, below, y[i]) != slope(loss, above, y[i])
