"""Losses with their kinks rounded off, as an augmented Lagrangian sees them.

A multiplier a and a width q turn a loss into  e(z) = max_b −φ*(−b) − z·b − (q/2)(b − a)².  It is
convex, and its slope −b is Lipschitz; q = 0 gives the loss itself. If the multipliers a are
optimal, then so is the minimum of the rounded problem, whatever q is.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import curvature, dual_step, project, slope
from dualgap.linalg import parallel
from dualgap.linalg.gram import gram
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import Shape
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.proof.dual_point import balanced
from dualgap.steps.base import dual_start, vector
from dualgap.steps.newton.first_width import first_width
from dualgap.steps.newton.systems import Systems, solves_by_products
from dualgap.steps.newton.tuning import TUNING

_PROBE = TUNING.probe  # kernels read module-level names


class Response(NamedTuple):
    """The losses at decision values z: b = −e'(z), and the slope of Σ c e along the move to z."""

    z: Floats
    b: Floats
    slope: float


class SmoothLosses:
    """The losses of all samples, with kinks rounded off."""

    is_exact = True  # else Hessians of float32 data have the precision of these

    def __init__(self, problem: Problem, a: Floats, width: float) -> None:
        """``width`` of the kinks, 0 if there are none."""
        self.problem, self.a = problem, a
        self.q = width
        self.widest, self.least = self.q, TUNING.least_width * self.q
        self.known: tuple[Floats, Floats] | None = None  # the last Hessian, with its weights

    def respond(self, z: Floats, move: Floats | None = None, length: float = 0.0) -> Response:
        """The losses at z + length·move."""
        at, b = np.empty((2, self.problem.n))
        loss, y, c = self.problem.loss, self.problem.y, self.problem.c
        move = z if move is None else move
        calls = [
            (loss, y[i], c[i], z[i], move[i], length, self.a[i], self.q, at[i], b[i])
            for i, _ in terms.pieces(len(z), loss)
        ]
        return Response(at, b, sum(parallel.together(_envelopes, calls)))

    def known_slopes(self) -> dict[float, float]:
        """Slopes along the move of the last response by length, where others came with it."""
        return {}

    def balanced(self, w: Floats, response: Response) -> Response:
        """For a quadratic loss, b with free features balanced.

        Its steps find the best intercept up to rounding. Without that rounding error neither a gap
        check nor a proof has to move the dual point, which would cost a pass.
        """
        problem = self.problem
        if not (problem.loss.quadratic and len(problem.free_places)):
            return response
        a = balanced(problem, Pair(w, response.b, response.z, np.empty(0)))
        rounding = TUNING.rounding_of_balance if self.is_exact else TUNING.rough_balance
        most = rounding * self.distance(a, np.zeros(len(a)))
        return response._replace(b=a) if self.distance(a, response.b) <= most else response

    def curvatures(self, z: Floats) -> Floats:
        """c e''(z); where it jumps, a value between both sides."""
        loss, y, c, out = self.problem.loss, self.problem.y, self.problem.c, np.empty(len(z))
        calls = [
            (loss, y[i], c[i], z[i], self.a[i], self.q, out[i])
            for i, _ in terms.pieces(len(z), loss)
        ]
        parallel.together(_curvatures, calls)
        return out

    def total_curvature(self, at: Response) -> float:
        """Σ c e''."""
        return float(np.sum(self.curvatures(at.z)))

    def total_slope(self, at: Response) -> float:
        """Σ c b."""
        return float(np.sum(self.problem.c * at.b))

    def along_intercept(self) -> Floats:
        """How decision values move with an intercept."""
        return np.ones(self.problem.n)

    def systems(self, shape: Shape) -> Systems | None:
        """Newton systems without matrices, where these cost more."""
        return Systems(self.problem, shape) if solves_by_products(self.problem) else None

    def hessian(self, at: Response) -> Floats:
        """The Hessian of Σ c e(Xw) at a response.

        Losses made of quadratic pieces change few curvatures in a step; only these are added.
        """
        weights = self.curvatures(at.z)
        matrix = self._updated(weights)
        if matrix is None:
            matrix = gram(self.problem, weights, rough=not self.is_exact)
        self.known = weights, matrix
        return matrix

    def _updated(self, weights: Floats) -> Floats | None:
        """The last Hessian plus the changes; None if they are many, or if cancellation shows."""
        if self.known is None:
            return None
        before, matrix = self.known
        change = weights - before
        most = TUNING.changed_curvatures * np.count_nonzero(weights != 0.0)
        if np.count_nonzero(change != 0.0) > most:
            return None
        new = matrix + gram(self.problem, change)
        # Rounding errors of large entries must not dominate the small ones that remain.
        kept = np.diag(new) >= TUNING.kept_diagonal * np.diag(matrix)
        return new if kept.all() else None

    def near_kinks(self, z: Floats, reach: float) -> Any:
        """The samples whose b can change if z moves by at most ``reach``."""
        loss, y, out = self.problem.loss, self.problem.y, np.empty(self.problem.n, dtype=np.bool_)
        calls = [
            (loss, y[i], z[i], self.a[i], self.q, reach, out[i])
            for i, _ in terms.pieces(len(z), loss)
        ]
        parallel.together(_near_kinks, calls)
        return np.flatnonzero(out)

    def restricted_to(self, problem: Problem, samples: Any) -> SmoothLosses:
        """The losses of some samples, which are those of ``problem``."""
        some = SmoothLosses(problem, self.a[samples], self.q)
        some.is_exact = self.is_exact
        return some

    def multiplier_move(self, b: Floats) -> float:
        """How far b is from the multipliers, in units of the objective."""
        return 0.5 * self.q * self.distance(b, self.a) ** 2 if self.q > 0.0 else 0.0

    def distance(self, x: Floats, y: Floats) -> float:
        """The root of Σ c (x − y)²."""
        loss, c = self.problem.loss, self.problem.c
        calls = [(c[i], x[i], y[i]) for i, _ in terms.pieces(len(x), loss)]
        return math.sqrt(sum(parallel.together(_square_distance, calls)))

    def narrow(self, b: Floats, factor: float, least: float) -> None:
        """Make b the multipliers, and multiply the width by ``factor``, down to ``least``."""
        self.least = min(max(self.least, least), self.q)
        self.a, self.q = b, max(self.q * factor, self.least)

    def widen(self, b: Floats) -> bool:
        """Make b the multipliers and increase the width, so that rounding errors of z matter less;
        returns whether it could be increased."""
        wider = min(TUNING.widening * self.q, self.widest)
        possible = wider > self.q
        self.a, self.q, self.least = b, wider, wider
        return possible

    def state(self) -> dict[str, Any]:
        """What a checkpoint has to store."""
        return {name: getattr(self, name) for name in ("a", "q", "least", "known", "is_exact")}

    def restore(self, state: dict[str, Any]) -> None:
        self.a = vector(state, "a", self.problem.n)
        self.q, self.least = state["q"], state["least"]
        self.is_exact = state.get("is_exact", True)  # unknown to older versions
        if state["known"] is not None:
            weights, matrix = state["known"]
            size = self.problem.d
            if weights.shape != (self.problem.n,) or matrix.shape != (size, size):
                raise ValueError("the stored Hessian does not fit the problem")
            self.known = weights, matrix


class BlockLosses(SmoothLosses):
    """Losses of several decision values, without kinks, which provide their own Hessians."""

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
                weights = problem.c * problem.loss.hessian_entries(a, problem.plain_y, k, m)
                out[:, k, :, m] = out[:, m, :, k] = gram(problem, weights)
        return out.reshape(d * width, d * width)

    def balanced(self, w: Floats, response: Response) -> Response:
        return response

    def multiplier_move(self, b: Floats) -> float:
        return 0.0

    def state(self) -> dict[str, Any]:
        return {}  # everything follows from z

    def restore(self, state: dict[str, Any]) -> None:
        """Nothing is stored."""

    def narrow(self, b: Floats, factor: float, least: float) -> None:
        """There are no kinks to round off."""


def losses_of(problem: Problem, dual: Floats | None) -> SmoothLosses:
    """The losses of a problem, with these multipliers to start from, at the first width."""
    a = dual_start(problem, dual)
    if problem.width > 1:
        return BlockLosses(problem)
    width = 0.0 if problem.loss.differentiable else first_width(problem)
    losses = SmoothLosses(problem, a, width)
    losses.is_exact = problem.X.dtype != np.float32
    return losses


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
    # Separate loops, since those without branches and weights become vector instructions.
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
            left = dual_step(loss, a[i], z[i] - _PROBE * q, q, y[i])
            right = dual_step(loss, a[i], z[i] + _PROBE * q, q, y[i])
            out[i] = max(left - right, 0.0) / (2.0 * _PROBE * q)
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
def _near_kinks(loss: Any, y: Any, z: Any, a: Any, q: float, reach: float, out: Any) -> None:
    for i in range(len(y)):
        below, above = z[i] - reach, z[i] + reach
        if q > 0.0:
            out[i] = dual_step(loss, a[i], below, q, y[i]) != dual_step(loss, a[i], above, q, y[i])
        else:
            out[i] = slope(loss, below, y[i]) != slope(loss, above, y[i])
