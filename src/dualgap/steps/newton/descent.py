"""Newton steps with a line search on Ψ(w) = Σ_i c_i e_i(x_i·w) − λ pull·w + λ g(w).

e_i are losses, rounded off where they have kinks (``envelope.py``). A step goes to, or towards, the
minimum of the quadratic model of the losses plus the penalty itself (``quadratic.py``), or towards
any other goal. ``pull`` stands for samples that are left out because their slopes are settled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.blas import one_thread
from dualgap.linalg.validate import Floats
from dualgap.penalties.shape import Shape
from dualgap.problem import Problem
from dualgap.steps.newton.envelope import Response, Samples
from dualgap.steps.newton.quadratic import minimum

_FIRST, _LATER = 0.2, 0.3  # how much of the slope a line search may leave at length 1, and others
_FIRST_OF_STAGES = 0.9  # ... where the next stage changes the way anyhow
_BEYOND = 1e-3  # ... and where it has passed the minimum, beyond which Ψ might have grown
_ENOUGH = 0.01  # of the slope: what Ψ must fall by, if a goal at kinks is beyond the minimum
_TRIALS = 60
_ABSURD = 100.0  # relative to P(0): more than a step can gain
_SHORT = 1e-6  # the length of a step that calls for more damping
_FIRST_DAMPING = 1e-9  # of the curvature that all samples can have
_LEAST_DAMPING, _MOST_DAMPING = 1e-12, 1e-4


class Descent:
    """A point w, what samples say to it, and the way down."""

    def __init__(
        self,
        problem: Problem,
        samples: Samples,
        shape: Shape,
        w: Floats,
        pull: Any = 0.0,
        size: Floats | None = None,
    ) -> None:
        """``size`` has the mean squares of features, if these are to be those of other samples."""
        self.problem, self.samples, self.shape = problem, samples, shape
        self.w, self.pull = w, pull
        flat = samples.q > 0.0 or shape.kinked
        self.left, self.damping = np.inf, _FIRST_DAMPING if flat else _LEAST_DAMPING
        self.size = np.repeat(problem.mean_squares(), problem.width) if size is None else size
        self.answer(samples.respond(problem.decision(w)))

    def answer(self, response: Response) -> None:
        """Take over what samples say at w."""
        self.response = response
        self.u = self.problem.average(response.b) + self.pull

    def step(self) -> float:
        """A Newton step; returns its length, 1 being that of the model."""
        with one_thread():
            hessian = self.samples.hessian(self.response)
            goal = self._goal(hessian)
            while self._slope(goal) > _ABSURD * self.problem.scale and self.damping < _MOST_DAMPING:
                self.damping = min(100.0 * self.damping, _MOST_DAMPING)
                goal = self._goal(hessian)
        length = self.go(goal)
        # A system that is all but singular sends Newton steps into walls.
        change = 100.0 if length < _SHORT else 0.01
        self.damping = min(max(self.damping * change, _LEAST_DAMPING), _MOST_DAMPING)
        return length

    def _goal(self, hessian: Floats) -> Floats:
        """The minimum of the model: with some curvature everywhere, for there may be none."""
        lam, loss = self.problem.lam, self.problem.loss
        cap = 1.0 / (loss.gamma + self.samples.q or 1.0)
        damped = hessian.copy()
        np.fill_diagonal(damped, np.diag(hessian) + self.damping * cap * self.size)
        return minimum(damped, -lam * self.u, self.w, lam, self.shape)

    def _slope(self, goal: Floats) -> float:
        """How steep the way to the goal is at its beginning."""
        move = goal - self.w
        fall = float(np.sum(self.u * move)) - self.shape.slope(self.w, move)
        return self.problem.lam * fall

    def imbalance(self) -> float:
        """What the gap owes to the difference of w from the coefficients of the dual point, where
        the penalty is smooth."""
        l2 = self.shape.l2
        if self.shape.kinked or not (l2 > 0.0).all():
            return 0.0
        away = self.u - l2 * self.w
        return 0.5 * self.problem.lam * float(np.sum(away * away / l2))

    def go(self, goal: Floats) -> float:
        """Towards the goal, as far as that leads down."""
        self.left = self._slope(goal)
        move = goal - self.w
        with np.errstate(over="ignore", invalid="ignore"):
            length, response = self._search(move) if self.left > 0.0 else (0.0, self.response)
        if length > 0.0 and move.any():
            self.w = goal if length == 1.0 else self.w + length * move
            self.answer(response)
            return length
        return 0.0

    def _search(self, move: Floats) -> tuple[float, Response]:
        """Where the slope along the move has become small: Ψ is convex, so it has fallen."""
        along, slopes = self.problem.decision(move), self.shape.slopes(self.w, move)
        pulled = float(np.sum(self.pull * move))
        low, high, length = 0.0, np.inf, 1.0
        at_low, at_high = -self.left, np.inf
        first = _FIRST_OF_STAGES if self.samples.q > 0.0 else _FIRST

        def respond(length: float) -> Response:
            return self.samples.respond(self.response.z, along, length)

        for trial in range(_TRIALS):
            response = respond(length)
            slope = response.slope + self.problem.lam * (slopes(length) - pulled)
            slope = slope if slope == slope else np.inf
            if -(_LATER if trial else first) <= slope / self.left <= _BEYOND:
                return length, response
            del response  # it is long: whoever wants it later asks again
            if slope < 0.0:
                low, at_low = length, slope
                if self.shape.kinked and length == 1.0:
                    break  # beyond the goal coefficients would leave their kinks
                fall = low * at_low + (1.0 - low) * at_high  # Ψ falls by more on the way to 1
                if self.shape.kinked and high == 1.0 and fall <= -_ENOUGH * self.left:
                    return 1.0, respond(1.0)
            else:
                high, at_high = length, slope
            if high == np.inf:
                length *= 4.0
            elif trial % 2 or not at_high < np.inf:
                length = 0.5 * (low + high) if low > 0.0 else 0.01 * high
            else:
                length = low - at_low * (high - low) / (at_high - at_low)
        return low, respond(low) if low > 0.0 else self.response

    def among(self, near: Any) -> Descent:
        """The same on some of the samples, the slopes of all others being what they are."""
        problem = self.problem.on_samples(near)
        # What is left of u without them: a sum over all others would be a pass over all data.
        pull = self.u - problem.average(self.response.b[near])
        samples = self.samples.among(problem, near)
        return Descent(problem, samples, self.shape, self.w, pull, self.size)
