"""A Newton step with its line search on Ψ(w) = Σ_i c_i e_i(x_i·w) − λ fixed_u·w + λ g(w).

e_i are the losses, with kinks rounded off (``envelope.py``). A step goes towards the minimum of the
quadratic model of the losses plus the penalty itself, or towards any other goal. ``fixed_u`` stands
for samples that are left out because their slopes do not change.

``model.py`` minimises the model with its matrix, ``systems.py`` without it where that costs less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import Shape
from dualgap.problem import Problem
from dualgap.steps.newton.envelope import Response, SmoothLosses
from dualgap.steps.newton.estimate import corrected
from dualgap.steps.newton.model import minimum
from dualgap.steps.newton.systems import Systems
from dualgap.steps.newton.tuning import TUNING


class Descent:
    """A point w, the losses there, and the next step down."""

    def __init__(
        self,
        problem: Problem,
        losses: SmoothLosses,
        shape: Shape,
        w: Floats,
        fixed_u: Any = 0.0,
        mean_squares: Floats | None = None,
    ) -> None:
        """``mean_squares`` of the features, if not those of the samples of ``problem``."""
        self.problem, self.losses, self.shape = problem, losses, shape
        self.w, self.fixed_u = w, fixed_u
        flat = losses.q > 0.0 or shape.kinked
        self.damping = TUNING.first_damping if flat else TUNING.least_damping
        self.decrement = np.inf  # how steep the last step was at its beginning
        self.estimate: Floats | None = None  # of the Hessian, in the place of the exact one
        # None where a Hessian costs so little that it is computed at each step.
        self.systems = losses.systems(shape)
        self.enough = 0.0  # a gap that residuals of systems may leave
        self.products = problem.d  # with X, that the last system took
        if mean_squares is None:
            mean_squares = np.repeat(problem.mean_squares(), problem.width)
        self.mean_squares = mean_squares
        self.accept(losses.respond(problem.decision(w)))

    def accept(self, response: Response) -> None:
        """Store the response of the losses at w."""
        self.response = response = self.losses.balanced(self.w, response)
        self.u = self.problem.average(response.b) + self.fixed_u

    def step(self) -> float:
        """Make a Newton step; returns its length, relative to that of the model."""
        most, factor = TUNING.most_damping, TUNING.damping_factor
        absurd = TUNING.absurd_decrease * self.problem.scale
        before, slope_before, last = self.w, self.u, self.decrement
        along: Floats | None = None
        with single_threaded_blas():
            goal = self._estimated_goal()
            if goal is None and self.systems is not None:
                goal, along = self._goal_by_products(self.systems)
                while self._decrease(goal) > absurd and self.damping < most:
                    self.damping = min(factor * self.damping, most)
                    goal, along = self._goal_by_products(self.systems)
            elif goal is None:
                hessian = self.losses.hessian(self.response)
                goal = self._model_minimum(hessian)
                while self._decrease(goal) > absurd and self.damping < most:
                    self.damping = min(factor * self.damping, most)
                    goal = self._model_minimum(hessian)
        length = self.move_towards(goal, along)
        if self.decrement > TUNING.rough_progress * last and not self.losses.is_exact:
            self.losses.is_exact, self.losses.known = True, None
        # Nearly singular systems send Newton steps against bounds and kinks.
        change = factor if length < TUNING.blocked_step else 1.0 / factor
        self.damping = min(max(self.damping * change, TUNING.least_damping), most)
        if self.estimate is not None:
            change = self.problem.lam * (slope_before - self.u)
            self.estimate = corrected(self.estimate, self.w - before, change)
        return length

    def _estimated_goal(self) -> Floats | None:
        """The goal of a step with the estimated Hessian, while such steps make progress."""
        if self.estimate is not None:
            goal = self._model_minimum(self.estimate)
            if self._decrease(goal) <= TUNING.estimate_progress * self.decrement:
                return goal
            self.estimate = None
        return None

    def _model_minimum(self, hessian: Floats) -> Floats:
        """The minimum of the damped model: there may be no curvature without damping."""
        lam, damped = self.problem.lam, hessian.copy()
        np.fill_diagonal(damped, np.diag(hessian) + self._added_curvature())
        in_stages = self.losses.q > 0.0
        accuracy = TUNING.model_accuracy_in_stages if in_stages else TUNING.model_accuracy
        return minimum(damped, -lam * self.u, self.w, lam, self.shape, accuracy)

    def _added_curvature(self) -> Floats:
        """What damping adds to the diagonal of the Hessian."""
        cap = 1.0 / (self.problem.loss.gamma + self.losses.q or 1.0)
        return self.damping * cap * self.mean_squares

    def _goal_by_products(self, systems: Systems) -> tuple[Floats, Floats]:
        """About the minimum of the damped model, and the product of the move there."""
        lam, l2 = self.problem.lam, self.shape.l2
        gradient = lam * (l2 * self.w - self.u)

        def overshoots(move: Floats, along: Floats) -> bool:
            response = self.losses.respond(self.response.z, along, 1.0)
            curved = lam * float(np.sum((l2 * (self.w + move) - self.fixed_u) * move))
            return response.slope + curved > TUNING.overshoot * -float(np.sum(gradient * move))

        weights = self.losses.curvatures(self.response.z)
        move, along, self.products = systems.solve(
            weights, gradient, self._added_curvature(), self.enough, overshoots
        )
        return self.w + move, along

    def _decrease(self, goal: Floats) -> float:
        """How fast Ψ decreases at w on the way to the goal."""
        move = goal - self.w
        fall = float(np.sum(self.u * move)) - self.shape.slope(self.w, move)
        return self.problem.lam * fall

    def coefficient_gap(self) -> float:
        """What w ≠ ∇g*(u) contributes to the gap, where the penalty is smooth; else 0.

        Features without a penalty contribute nothing, once the dual point is balanced.
        """
        l2, own = self.shape.l2, self.shape.l2 > 0.0
        if self.shape.kinked or not own.any():
            return 0.0
        away = (self.u - l2 * self.w)[own]
        return 0.5 * self.problem.lam * float(np.sum(away * away / l2[own]))

    def move_towards(self, goal: Floats, along: Floats | None = None) -> float:
        """Move towards the goal while Ψ decreases; returns the length, 1 being all the way.

        ``along``: the product of the move with X, if it is known.
        """
        self.decrement = self._decrease(goal)
        if not self.decrement > 0.0:
            return 0.0
        move = goal - self.w
        with np.errstate(over="ignore", invalid="ignore"):
            length, response = self._search(move, along)
        if length > 0.0 and move.any():
            self.w = goal if length == 1.0 else self.w + length * move
            self.accept(response if self.systems is None else self._with_best_intercept(response))
            return length
        return 0.0

    def _search(self, move: Floats, along: Floats | None) -> tuple[float, Response]:
        """A length at which the slope has become small: Ψ is convex, so it has decreased."""
        along = self.problem.decision(move) if along is None else along
        slopes = self.shape.slopes(self.w, move)
        fixed = float(np.sum(self.fixed_u * move))
        low, high, length = 0.0, np.inf, 1.0
        at_low, at_high = -self.decrement, np.inf
        allowed = TUNING.slope_left_in_stages if self.losses.q > 0.0 else TUNING.slope_left

        def respond(length: float) -> Response:
            return self.losses.respond(self.response.z, along, length)

        for trial in range(TUNING.trials):
            response = respond(length)
            slope = response.slope + self.problem.lam * (slopes(length) - fixed)
            slope = slope if slope == slope else np.inf
            if -allowed <= slope / self.decrement <= TUNING.slope_beyond:
                return length, response
            allowed = TUNING.slope_left_later
            del response  # it is long, and can be computed again
            if slope < 0.0:
                low, at_low = length, slope
                if self.shape.kinked and length == 1.0:
                    break  # beyond the goal coefficients would leave their kinks
                fall = low * at_low + (1.0 - low) * at_high  # Ψ(1) − Ψ(0) is below it
                enough = -TUNING.enough_decrease * self.decrement
                if self.shape.kinked and high == 1.0 and fall <= enough:
                    return 1.0, respond(1.0)
            else:
                high, at_high = length, slope
            if high == np.inf:
                length *= 4.0
            elif trial % 2 or not at_high < np.inf:
                length = 0.5 * (low + high) if low > 0.0 else 0.01 * high
            else:
                length = low - at_low * (high - low) / (at_high - at_low)
            length = self._known_length(slopes, fixed, low, high) or length
        return low, respond(low) if low > 0.0 else self.response

    def _known_length(
        self, slopes: Callable[[float], float], fixed: float, low: float, high: float
    ) -> float | None:
        """The next length to try among those whose slopes are known; None without any."""
        known = {
            length: slope + self.problem.lam * (slopes(length) - fixed)
            for length, slope in self.losses.known_slopes().items()
            if low < length < high
        }
        most = TUNING.slope_beyond * self.decrement
        before = [length for length, slope in known.items() if slope <= most]
        return max(before) if before else min(known, default=None)

    def _with_best_intercept(self, response: Response) -> Response:
        """After Newton steps on a free intercept alone, which systems leave unbalanced.

        They cost no pass over X.
        """
        problem = self.problem
        if not len(problem.free_places) or self.shape.kinked:
            return response
        missing = self._imbalance(response)
        for _ in range(TUNING.intercept_steps):
            curvature = self.losses.total_curvature(response)
            if not missing * missing > TUNING.intercept_share * self.enough * curvature > 0.0:
                break
            shift = missing / curvature
            new = self.losses.respond(response.z, self.losses.along_intercept(), shift)
            left = self._imbalance(new)
            if not abs(left) < abs(missing):
                break
            response, missing = new, left
            self.w[-1] += shift / problem.constant
        return response

    def _imbalance(self, response: Response) -> float:
        """How fast Ψ falls if all decision values grow."""
        fixed = self.problem.lam * float(np.ravel(self.fixed_u)[-1]) / self.problem.constant
        return self.losses.total_slope(response) + fixed

    def restricted_to(self, samples: Any) -> Descent:
        """The same on some of the samples, with the slopes of the others fixed."""
        problem = self.problem.on_samples(samples)
        # Subtracted, because a sum over all other samples would be a pass over all data.
        fixed_u = self.u - problem.average(self.response.b[samples])
        losses = self.losses.restricted_to(problem, samples)
        return Descent(problem, losses, self.shape, self.w, fixed_u, self.mean_squares)
