"""Quasi-Newton steps with limited memory (L-BFGS), for losses of many classes.

    minimise  P(w) = Σ_i c_i φ(x_i·W; y_i) + (λ/2) Σ_jk l2_jk w_jk²
A step is −Hg with H from the last steps (``memory.py``) and, where that pays, from correlations of
the features (``scaling.py``). Trials of the line search cost no product, as z is linear along a
step. For wide data, vectors are combinations of samples (``spaces.py``).

Cost of a step: two products with X. Rate: linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.baseline import origin
from dualgap.steps.base import FullPass, Setting, Start, vector
from dualgap.steps.newton_cg.class_run import ClassRun, class_refusal
from dualgap.steps.newton_cg.losses_at import ClassResponse
from dualgap.steps.quasi_newton.memory import Memory
from dualgap.steps.quasi_newton.scaling import Scaling
from dualgap.steps.quasi_newton.spaces import Coefficients, Combinations, Space, dot
from dualgap.steps.quasi_newton.tuning import TUNING


@dataclass(frozen=True)
class QuasiNewton(FullPass):
    """L-BFGS steps on all classes at once."""

    usual = "quasi-newton"

    def refusal(self, problem: Problem) -> str | None:
        return class_refusal(problem)

    def describe(self, problem: Problem) -> str:
        return "quasi-Newton steps with limited memory on all classes"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> QuasiNewtonRun:
        return QuasiNewtonRun(problem, warm.coef, setting)


class QuasiNewtonRun(ClassRun):
    """A run; its state is x, a vector of the space, with the losses at Z."""

    def __init__(self, problem: Problem, coef: Floats | None, setting: Setting) -> None:
        super().__init__(problem, setting)
        first = (origin(problem) if coef is None else coef).reshape(problem.d, problem.width)
        space: Space = Coefficients(self.products, self.l2)
        if not first[: problem.p].any() and Combinations.suits(self.products, self.l2):
            space = Combinations(self.products, self.l2)
        self.space = space
        self.x = np.zeros(space.shape)
        if first.any():
            places = slice(0, problem.d)
            places = slice(problem.p, problem.d) if len(self.x) > 1 else places
            self.x = space.with_features(self.x, places, first[places])
        self.memory = Memory(TUNING.memory, space.shape)
        self.scaling = Scaling(space, self.losses)
        self.starts_at_zero = coef is None
        small, work = self.checks_are_proofs, 2.0 * problem.entries * problem.width
        steps = int(TUNING.multiplications / work)
        self.most_steps = TUNING.most_steps
        if not small:
            self.most_steps = min(max(steps, TUNING.least_steps), TUNING.most_steps)
        self.gradient: Floats | None = None

    @property
    def coefficients(self) -> Floats:
        """The coefficients, of shape (d, K)."""
        return self.space.coefficients(self.x)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Make some steps, then balance the free features."""
        before, count = self.x, 0
        with single_threaded_blas():
            for _ in range(self.most_steps):
                moved = self.step()
                count += 1
                if not moved:
                    break
                if self._is_close() and self._is_close_when_balanced():
                    break
            self._balance()
            self._centre()
        self.memory.gradient = None  # a run that resumes here multiplies anew: so does this one
        return int(self.x is not before), *self.worth(2 * count + 2)

    def _is_close(self) -> bool:
        gap = self.space.gap_of(self._gradient())
        return gap <= TUNING.safe_share * self.setting.target

    def _is_close_when_balanced(self) -> bool:
        if not len(self.problem.free_places):
            return True
        self._balance()
        return self._is_close()

    def step(self) -> bool:
        """Make a step; returns whether P has fallen."""
        at, gradient = self._evaluated(), self._gradient()
        solve = self.scaling.updated(at)
        if solve is not None:
            self.memory.start_from(solve)
        direction = self.memory.direction(gradient)
        slope = dot(gradient, direction)
        if not slope < 0.0:
            self.memory.forget()
            direction = self.memory.direction(gradient)
            slope = dot(gradient, direction)
        along = self.space.image(direction)
        if not self.memory.order and self.memory.solve is None:
            direction, along, slope = self._sized(at, direction, along, slope)
        length, new = self._search(at, direction, along, slope)
        if new is None:
            had = bool(self.memory.order)
            self.memory.forget()
            return had
        self.scaling.note_step()
        direction *= length
        self._accept(self.x + direction, new)
        after = self._gradient()
        self.memory.add(direction, after - gradient, after)
        return True

    def _sized(
        self, at: ClassResponse, direction: Floats, along: Floats, slope: float
    ) -> tuple[Floats, Floats, float]:
        """The steepest descent, as long as the curvature along it asks for."""
        curved = along.copy()
        self.losses.curvature(at)(slice(None), curved)
        bend = float(np.sum(along * curved)) + self.space.penalty(direction, direction)
        length = -slope / bend if bend > 0.0 else 1.0
        return length * direction, length * along, length * slope

    def _search(
        self, at: ClassResponse, direction: Floats, along: Floats, first: float
    ) -> tuple[float, ClassResponse | None]:
        """A length at which P has fallen enough and its slope has risen, and the losses there."""
        at_start = 0.5 * self.space.penalty(self.x, self.x)
        tilt = self.space.penalty(self.x, direction)
        bend = self.space.penalty(direction, direction)
        start = at.value + at_start
        allowed = TUNING.rounding * abs(start)
        low, high, length, best = 0.0, np.inf, 1.0, None
        at_low, at_high = first, np.inf
        for _ in range(TUNING.trials):
            with np.errstate(over="ignore", invalid="ignore"):
                new = self.losses.at(at.z + length * along)
                value = new.value + at_start + length * (tilt + 0.5 * length * bend)
                slope = float(np.sum(new.slopes * along)) + tilt + length * bend
            if not value <= start + TUNING.decrease * length * first + allowed:
                high, at_high = length, slope if slope > 0.0 else np.inf
            elif slope < TUNING.slope_left * first:
                low, at_low, best = length, slope, new
            else:
                return length, new
            if high == np.inf:
                length *= 2.0
            elif at_high < np.inf:
                step = at_low / (at_low - at_high)
                length = low + min(max(step, 0.1), 0.9) * (high - low)
            else:
                length = low + (0.5 if low > 0.0 else 0.1) * (high - low)
        return low, best

    def _accept(self, x: Floats, at: ClassResponse) -> None:
        self.x, self.at, self.gradient, self.handed = x, at, None, None

    def _gradient(self) -> Floats:
        if self.gradient is None:
            self.gradient = self.space.gradient(self.x, self._evaluated().slopes)
        return self.gradient

    def _evaluated(self) -> ClassResponse:
        if self.at is None:
            self.at = self.losses.at(self.space.image(self.x))
        return self.at

    def _of_free(self, features: Any) -> Floats:
        return self.space.features(self.x, features)

    def _replace(self, features: Any, values: Floats, at: ClassResponse) -> None:
        self._accept(self.space.with_features(self.x, features, values), at)

    def refresh(self) -> None:
        """Recompute Z, which removes the rounding errors of updates."""
        self._accept(self.x, self.losses.at(self.products.times(self.coefficients)))
        self.memory.forget()

    def release_memory(self) -> None:
        self.gradient = self.handed = None

    # --- checkpoints ------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        scaling = self.scaling
        kept = {} if scaling.at is None else {"scaled_at": scaling.at.ravel()}
        return {
            "x": self.x.ravel(),
            "z": self._evaluated().z.ravel(),
            "spent": scaling.spent,
            "memory": self.memory.state(),
            **kept,
        }

    def restore(self, state: dict[str, Any]) -> None:
        problem, solve = self.problem, None
        if "scaled_at" in state:
            z = vector(state, "scaled_at", problem.dual_size).reshape(problem.n, problem.width)
            with single_threaded_blas():
                solve = self.scaling.computed(self.losses.at(z))
        self.scaling.spent = state["spent"]
        x = vector(state, "x", self.x.size).reshape(self.x.shape)
        z = vector(state, "z", problem.dual_size).reshape(problem.n, problem.width)
        self._accept(x, self.losses.at(z))
        self.memory.restore(state["memory"], solve)
