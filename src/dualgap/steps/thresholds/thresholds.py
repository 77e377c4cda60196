"""Newton's method for ordinal regression: coefficients, gaps and intercept at once.

Losses and penalty are smooth where gaps are positive, so that plain Newton steps converge
quadratically; a line search keeps the gaps positive. Systems of many coefficients are solved by
conjugate gradients, with the diagonal of the Hessian as preconditioner.

Cost of a step: N·d²/2 + d³/6 for N rows, or two products for each step of conjugate gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.penalties.thresholds import Thresholds, base_shape, gap_slopes
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start
from dualgap.steps.newton.cholesky import solve_scaled
from dualgap.steps.newton.hessian_products import HessianProducts
from dualgap.steps.thresholds.room_for_gaps import thresholds_of, with_room


@dataclass(frozen=True)
class Tuning:
    """None of these was measured: they are those of other Newton methods here, or far from where
    they would matter."""

    largest_hessian: int = 2000  # coefficients; more are left to conjugate gradients
    forcing: float = 0.1  # of the residual, at most; it falls with the square root of the gradient
    most_products: int = 500  # of one system
    kept_gap: float = 0.02  # the least share of a gap that one step leaves
    decrease: float = 1e-4  # of the objective, relative to what its slope promises
    most_halvings: int = 60
    # Damping after a step that had to be cut below this share, as a share of the largest Hessian,
    # and its factor from step to step: where logistic terms are flat, curvature says nothing.
    short_step: float = 0.25
    first_damping: float = 1e-3
    damping_factor: float = 10.0
    most_damping: float = 1e6


TUNING = Tuning()


@dataclass(frozen=True)
class NewtonThresholds(FullPass):
    """Newton steps on coefficients and gaps between thresholds."""

    usual = "thresholds"
    is_random = False

    def refusal(self, problem: Problem) -> str | None:
        if base_shape(problem.penalty, problem.coef_size) is None or problem.width > 1:
            name = type(problem.feature_penalty).__name__
            return f"the penalty {name} has no gaps between thresholds"
        return super().refusal(problem)

    def describe(self, problem: Problem) -> str:
        return "Newton steps on coefficients and gaps between thresholds"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> Any:
        return NewtonThresholdsRun(problem, warm.coef)


class NewtonThresholdsRun(FullPassRun):
    """A run; ``w`` are coefficients, gaps and the intercept."""

    def __init__(self, problem: Problem, coef: Floats | None) -> None:
        super().__init__(problem)
        penalty: Thresholds = problem.penalty
        shape = base_shape(penalty, problem.coef_size)
        assert shape is not None  # others were refused
        self.rates = penalty.rates
        self.gaps = np.flatnonzero(self.rates)
        self.thresholds = thresholds_of(problem, self.gaps)
        self.fixed = (shape.low == 0.0) & (shape.high == 0.0)
        self.l2 = np.where(self.rates > 0.0, 0.0, shape.l2)
        self.largest = problem.mean_squares() / problem.loss.gamma
        self.damping, self.products, self.objective = 0.0, 0, np.inf
        if coef is None:
            coef = np.zeros(problem.coef_size)
            coef[self.gaps] = 1.0
            coef[-1] = problem.best_constant[1] + 0.5 * len(self.gaps)
        self._move_to(coef.copy(), problem.decision(coef))

    def pair(self) -> Pair:
        h = self._curvatures()
        a = with_room(self.problem, self.thresholds, self.gaps, self.a, h)
        u = self.u if a is self.a else self.problem.average(a)
        return Pair(self.w, a, self.z, u, u_anew=True)

    def state(self) -> dict[str, Any]:
        return {"w": self.w, "damping": self.damping}

    def restore(self, state: dict[str, Any]) -> None:
        self.damping = state["damping"]
        self._move_to(state["w"], self.problem.decision(state["w"]))

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """One step: whether it moved, vector operations, and updates that it was worth."""
        before, self.products = self.w, 0
        problem, lam = self.problem, self.problem.lam
        bend = lam * self.l2
        slope = lam * (self.l2 * self.w - self.u)
        first, second = gap_slopes(self.rates[self.gaps], self.w[self.gaps])
        slope[self.gaps] += lam * first
        bend[self.gaps] += lam * second
        bend += self.damping * self.largest
        slope[self.fixed], bend[self.fixed] = 0.0, np.inf
        h = self._curvatures()
        small = problem.coef_size <= TUNING.largest_hessian
        step = (self._solved if small else self._by_products)(problem.c * h, bend, -slope)
        self._learn(self._search(step, float(slope @ step)))
        moved = bool((self.w != before).any()) or self.damping < TUNING.most_damping
        return int(moved), *self.worth(self.products + (problem.d if small else 0))

    def _curvatures(self) -> Floats:
        h = np.empty(self.problem.n)
        terms.curvatures(self.problem.loss, self.problem.y, self.z, h)
        return h

    def _move_to(self, w: Floats, z: Floats) -> None:
        problem = self.problem
        self.w, self.z, self.a = w, z, np.empty(problem.n)
        terms.slopes(problem.loss, problem.y, z, self.a)
        self.u = problem.average(self.a)
        self.products += 1
        self.objective = problem.loss_value(z) + problem.penalty_value(w)

    def _learn(self, length: float) -> None:
        """Damp more if a step had to be cut, and less if it had not."""
        if length < TUNING.short_step:
            self.damping = max(TUNING.damping_factor * self.damping, TUNING.first_damping)
        elif length >= 1.0:
            self.damping /= TUNING.damping_factor
            self.damping *= self.damping > 1e-6 * TUNING.first_damping

    def _search(self, step: Floats, promised: float) -> float:
        """Move along the step, so far that the objective falls and gaps stay positive; how far."""
        problem, image = self.problem, self.problem.decision(step)
        self.products += 1
        down = self.gaps[step[self.gaps] < 0.0]
        most = (1.0 - TUNING.kept_gap) * np.min(-self.w[down] / step[down], initial=np.inf)
        length = min(1.0, float(most))
        for _ in range(TUNING.most_halvings):
            w, z = self.w + length * step, self.z + length * image
            with np.errstate(over="ignore", invalid="ignore"):
                found = problem.loss_value(z) + problem.penalty_value(w)
            # Close to the optimum, rounding errors hide the decrease.
            if found <= self.objective + TUNING.decrease * length * promised + self._noise():
                self._move_to(w, problem.decision(w))
                return length
            length *= 0.5
        return 0.0

    def _noise(self) -> float:
        return 1e-15 * abs(self.objective)

    def _solved(self, weights: Floats, bend: Floats, right: Floats) -> Floats:
        """The system with its matrix."""
        problem, p = self.problem, self.problem.p
        H = np.zeros((problem.coef_size, problem.coef_size))
        X = problem.X
        if storage.is_sparse(X):
            weighted = X.multiply(weights[:, None]).tocsr()
            H[:p, :p] = (X.T @ weighted).toarray()
            border = np.asarray(X.T @ weights).ravel()
        else:
            H[:p, :p] = X.T @ (weights[:, None] * X)
            border = X.T @ weights
        H[:p, p], H[p, :p] = problem.constant * border, problem.constant * border
        H[p, p] = problem.constant**2 * np.sum(weights)
        free = np.flatnonzero(np.isfinite(bend))
        step = np.zeros(len(right))
        H = H[np.ix_(free, free)]
        step[free] = solve_scaled(H, np.diag(H) + bend[free], right[free])
        return step

    def _by_products(self, weights: Floats, bend: Floats, right: Floats) -> Floats:
        """The system by conjugate gradients."""
        products = HessianProducts(self.problem)
        bend = np.where(np.isfinite(bend), bend, 0.0)
        diagonal = products.moments(weights)[1] + bend
        diagonal[diagonal == 0.0] = 1.0
        step, residual = np.zeros(len(right)), right.copy()
        along = residual / diagonal
        size = float(residual @ along)
        enough = min(TUNING.forcing, size**0.25) ** 2 * size
        for _ in range(TUNING.most_products):
            if not size > enough:
                break
            curved = products.times(weights, along)[1] + bend * along
            curved[self.fixed] = 0.0
            self.products += 2
            length = size / float(along @ curved)
            step += length * along
            residual -= length * curved
            improved = residual / diagonal
            before, size = size, float(residual @ improved)
            along = improved + (size / before) * along
        return step
