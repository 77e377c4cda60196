"""Losses and penalties with their kinks rounded off, as an augmented Lagrangian sees them.

A multiplier a and a width q turn a loss into  e(z) = max_b −φ*(−b) − z·b − (q/2)(b − a)²,  convex
with slope −b, which is Lipschitz; q = 0 is the loss itself. The kinks and bounds of a penalty,
k(w) = l1·|w| on [low, high], become  min_p k(p) + s(w − p) + (w − p)²/(2r)  in the same way.
Where the multipliers a and s are optimal, so is the minimum, however wide q and r are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import terms
from dualgap._compile import kernel
from dualgap._rules import curvature, dual_step, project, slope
from dualgap._validate import Floats
from dualgap.linalg.gram import gram
from dualgap.penalties.shape import Shape
from dualgap.problem import Problem

_NEARBY = 1e-4  # in units of q: the distance at which b is compared for its slope
_LEAST = 1e-8  # of the first width: narrower, and rounding errors decide where a kink is


class Samples:
    """The losses of all samples."""

    def __init__(self, problem: Problem, a: Floats, width: float) -> None:
        self.problem, self.a = problem, a
        self.q = 0.0 if problem.loss.differentiable else width
        self.least = _LEAST * self.q

    def respond(self, z: Floats) -> tuple[Floats, Floats]:
        """b = −e'(z) and e''(z), or one of its one-sided values."""
        b, h = np.empty((2, self.problem.n))
        _envelopes(self.problem.loss, self.problem.y, z, self.a, self.q, b, h)
        return b, h

    def hessian(self, h: Floats) -> Floats:
        """That of Σ c e(Xw), from what ``respond`` has returned."""
        return gram(self.problem.X, self.problem.c * h, self.problem.constant)

    def shift(self, b: Floats) -> float:
        """How far b is from the multipliers, in units of the objective."""
        away = b - self.a
        return 0.5 * self.q * float(np.sum(self.problem.c * away * away))

    def narrow(self, b: Floats, factor: float) -> None:
        """Take over the multipliers, and round off less."""
        self.a, self.q = b, max(self.q * factor, self.least)


class Blocks(Samples):
    """Losses of a vector without kinks, which say themselves what their Hessians are."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.q, self.least = problem, 0.0, 0.0

    def respond(self, z: Floats) -> tuple[Floats, Floats]:
        b = np.empty(self.problem.dual_size)
        terms.slopes(self.problem.loss, self.problem.y, z, b)
        return b, b

    def hessian(self, h: Floats) -> Floats:
        problem = self.problem
        d, width = problem.d, problem.width
        a = h.reshape(problem.n, width)
        out = np.empty((d, width, d, width))
        for k in range(width):
            for m in range(k + 1):
                weights = problem.c * problem.loss.hessian_entries(a, problem.y, k, m)
                part = gram(problem.X, weights, problem.constant)
                out[:, k, :, m] = out[:, m, :, k] = part
        return out.reshape(d * width, d * width)

    def shift(self, b: Floats) -> float:
        return 0.0

    def narrow(self, b: Floats, factor: float) -> None:
        """There is nothing to round off."""


@kernel
def _envelopes(loss: Any, y: Any, z: Any, a: Any, q: float, b: Any, h: Any) -> None:
    for i in range(len(y)):
        if q > 0.0:
            b[i] = dual_step(loss, a[i], z[i], q, y[i])
            left = dual_step(loss, a[i], z[i] - _NEARBY * q, q, y[i])
            right = dual_step(loss, a[i], z[i] + _NEARBY * q, q, y[i])
            h[i] = max(left - right, 0.0) / (2.0 * _NEARBY * q)
        else:
            b[i] = project(loss, -slope(loss, z[i], y[i]), y[i])
            h[i] = curvature(loss, z[i], y[i])


class Features:
    """The penalties of all coefficients: ½·l2·w² and what has kinks."""

    def __init__(self, problem: Problem, shape: Shape, s: Floats, width: float) -> None:
        self.lam, self.shape, self.s = problem.lam, shape, s
        bounded = (shape.low > -np.inf) | (shape.high < np.inf)
        self.kinked = bool((bounded | (shape.l1 > 0.0)).any())
        size = np.sqrt(np.repeat(problem.column_squares / problem.n, problem.width))
        size[size == 0.0] = 1.0
        # Multipliers of bounds are as large as slopes of the loss over λ, those of L1 at most l1.
        self.r = width / size * np.where(bounded, problem.lam / size, 1.0)
        self.least = _LEAST * self.r

    @property
    def is_wide(self) -> bool:
        return self.kinked and bool((self.r > self.least).any())

    def respond(self, w: Floats) -> tuple[Floats, Floats, Floats]:
        """The nearest p, the slope of the penalties at w, and their curvature."""
        l1, l2, low, high = self.shape
        if not self.kinked:
            return w, l2 * w, l2
        v = w + self.r * self.s
        t = self.r * l1
        p = np.maximum(v - t, 0.0) + np.minimum(v + t, 0.0)
        smooth = ((p != 0.0) | (l1 == 0.0)) & (p > low) & (p < high)
        p = np.clip(p, low, high)
        slope = np.where(smooth, l1 * np.sign(p), (v - p) / self.r)
        return p, l2 * w + slope, l2 + np.where(smooth, 0.0, 1.0 / self.r)

    def multipliers(self, w: Floats, slope: Floats) -> Floats:
        """The part of the slope at w that is due to kinks and bounds."""
        return np.asarray(slope - self.shape.l2 * w)

    def shift(self, w: Floats, slope: Floats) -> float:
        """How far the slopes are from the multipliers, in units of the objective."""
        if not self.kinked:
            return 0.0
        away = self.multipliers(w, slope) - self.s
        return 0.5 * self.lam * float(np.sum(self.r * away * away))

    def narrow(self, w: Floats, slope: Floats, factor: float) -> None:
        """Take over the multipliers, and round off less."""
        self.s = self.multipliers(w, slope)
        self.r = np.maximum(self.r * factor, self.least)
