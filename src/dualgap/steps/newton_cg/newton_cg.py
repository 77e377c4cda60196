"""Newton steps for losses of many classes, with the intercepts in the Newton system.

    minimise  P(w) = Σ_i c_i φ(x_i·W; y_i) + (λ/2) Σ_jk l2_jk w_jk²
The Hessian of φ is diag(h) − hhᵀ/Σh, for the softmax loss with h its probabilities. A product with
the Hessian of P costs two products with X, so conjugate gradients solve each Newton system as well
as need be (Dembo, Eisenstat, Steihaug 1982); a small Hessian is computed (``system.py``). A line
search keeps P falling. A run starts at the minimum for a random sample of the data. Before a pair
is handed over, Newton steps on the free features alone balance it up to rounding errors.

Cost of a step: 2(m + 2) products with X for m conjugate gradients. Rate: superlinear in the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.baseline import origin
from dualgap.steps.base import FullPass, Setting, Start, vector
from dualgap.steps.newton_cg.class_run import ClassRun, class_refusal
from dualgap.steps.newton_cg.losses_at import ClassResponse
from dualgap.steps.newton_cg.small_run import SmallSteps, suits_one_call
from dualgap.steps.newton_cg.system import System
from dualgap.steps.newton_cg.tuning import TUNING


@dataclass(frozen=True)
class NewtonCG(FullPass):
    """Newton steps by conjugate gradients."""

    usual = "newton-cg"

    def refusal(self, problem: Problem) -> str | None:
        return class_refusal(problem)

    def describe(self, problem: Problem) -> str:
        return "Newton steps by conjugate gradients on all classes"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> NewtonCGRun:
        return NewtonCGRun(problem, warm.coef, setting)


class NewtonCGRun(ClassRun):
    """A run; its state is W with the losses at Z = XW."""

    def __init__(
        self,
        problem: Problem,
        coef: Floats | None,
        setting: Setting,
        losses: Any = None,
        products: Any = None,
        system: System | None = None,
    ) -> None:
        super().__init__(problem, setting, losses, products)
        self.rng = setting.rng or np.random.default_rng(0)
        first = origin(problem) if coef is None else coef
        self.W = first.reshape(problem.d, problem.width).copy()
        if system is None:
            system = System(problem, self.products, self.l2, self.rng)
        self.system = system
        self.unsampled = coef is None and self._sample_size() > 0
        # A check there would balance a dual point that is far from any balance.
        self.starts_at_zero = coef is None
        small = self.checks_are_proofs
        self.most_steps = TUNING.small_steps if small else TUNING.steps_between_checks
        self.safe_share = TUNING.small_share if small else TUNING.safe_share
        self.decrement = np.inf  # what the last step promised
        self.gradient: Floats | None = None
        # Other free features may separate classes, and then a run takes many rounds.
        self.ends_at_once = small and len(problem.free_places) <= problem.width
        self.small: SmallSteps | None = None
        if small and not self.unsampled and suits_one_call(problem):
            system = self.system
            self.small = SmallSteps(problem, system.quadratic, system.largest, self.losses.y)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Make a few Newton steps, then balance the free features."""
        if self.made_already is not None:
            return self.taken_back()  # type: ignore[no-any-return]
        if self.small is not None:
            return self._advance_in_one_call(self.small)
        count = 0
        with single_threaded_blas():
            if self.unsampled:
                self.unsampled = False
                self._start_from_a_sample()
            before = self._evaluated()
            for _ in range(self.most_steps):
                length, products = self.step()
                count += products
                if length == 0.0 or self._gap() <= self.safe_share * self.setting.target:
                    break
            self._balance()
            self._centre()
        moved = self.at is not before and self.decrement > EPS * self.problem.scale
        return int(moved), *self.worth(2 * count + 4)

    def _advance_in_one_call(self, small: SmallSteps) -> tuple[int, int, float]:
        z = self.products.times(self.W) if self.at is None else self.at.z
        enough = self.safe_share * self.setting.target
        found = small.descend(
            self.W, z, self.system.damping, self.decrement, enough, self.most_steps
        )
        self._accept(found.W, found.at)
        self.system.damping, self.decrement = found.damping, found.decrement
        moved = found.moved and self.decrement > EPS * self.problem.scale
        return int(moved), *self.worth(2 * found.steps * self.problem.d + 4)

    def step(self) -> tuple[float, int]:
        """Make a Newton step; returns its length and the number of Hessian products."""
        at, gradient = self._evaluated(), self._gradient()
        negligible = TUNING.negligible * self.setting.target
        start = at.value + self._penalty(self.W)

        def gain(move: Floats, along: Floats) -> float:
            return start - self.losses.at(at.z + along).value - self._penalty(self.W + move)

        with np.errstate(over="ignore", invalid="ignore"):
            move, along, products = self.system.solve(
                self.losses.curvature(at), gradient, negligible, gain
            )
        self.decrement = -float(np.sum(gradient * move))
        if not self.decrement > 0.0:
            return 0.0, products
        with np.errstate(over="ignore", invalid="ignore"):
            length = self._search(at, move, along)
        self.system.learn(length)
        return length, products

    def _search(self, at: ClassResponse, move: Floats, along: Floats) -> float:
        """Go along the move until the slope is small and P has fallen; returns the length."""
        lam = self.problem.lam
        first, bend = self._penalty_slopes(move)
        penalty = self._penalty(self.W)
        low, high, length = 0.0, np.inf, 1.0
        at_low, at_high = -self.decrement, np.inf
        for trial in range(TUNING.trials):
            z = length * along
            z += at.z
            new = self.losses.at(z)
            slope = float(np.einsum("ij,ij->", new.slopes, along)) + lam * (first + length * bend)
            value = new.value + penalty + lam * length * (first + 0.5 * length * bend)
            falls = value <= at.value + penalty + TUNING.rounding * abs(value)
            if falls and abs(slope) <= TUNING.slope_left * self.decrement:
                self._accept(self.W + length * move, new)
                return length
            if falls and slope < 0.0:
                low, at_low = length, slope
            else:
                high, at_high = length, slope if slope == slope else np.inf
            if high == np.inf:
                length *= 2.0
            elif trial % 2 or not 0.0 < at_high < np.inf:
                length = 0.5 * (low + high) if low > 0.0 else 0.1 * high
            else:
                length = low - at_low * (high - low) / (at_high - at_low)
        if low > 0.0:
            self._accept(self.W + low * move, self.losses.at(at.z + low * along))
        return low

    def _penalty(self, W: Floats) -> float:
        return 0.5 * self.problem.lam * float(np.sum(self.l2 * W * W))

    def _penalty_slopes(self, move: Floats) -> tuple[float, float]:
        """The slope of the penalty along a move at its beginning, and by how much it grows."""
        curved = self.l2 * move
        return float(np.sum(curved * self.W)), float(np.sum(curved * move))

    def _accept(self, W: Floats, at: ClassResponse) -> None:
        self.W, self.at, self.gradient, self.handed = W, at, None, None

    @property
    def coefficients(self) -> Floats:
        return self.W

    def _replace(self, features: Any, values: Floats, at: ClassResponse) -> None:
        W = self.W.copy()
        W[features] = values
        self._accept(W, at)

    def _gradient(self) -> Floats:
        if self.gradient is None:
            slopes = self.products.summed(self._evaluated().slopes)
            self.gradient = slopes + self.problem.lam * self.l2 * self.W
        return self.gradient

    def _gap(self) -> float:
        """The gap, once the free features are balanced."""
        return self.system.gap_of(self._gradient())

    # --- the start --------------------------------------------------------------------------------

    def _sample_size(self) -> int:
        """How many samples to start from; 0 if that does not pay."""
        n = self.problem.n
        size = max(n // TUNING.sample_divisor, TUNING.samples_per_feature * self.problem.d)
        return size if TUNING.least_samples <= size <= TUNING.largest_sample * n else 0

    def _start_from_a_sample(self) -> None:
        """Start at the minimum for some of the samples, chosen at random: a tenth of the work."""
        problem, size = self.problem, self._sample_size()
        places = np.sort(self.rng.choice(problem.n, size, replace=False))
        setting = self.setting._replace(goal=None, rng=self.rng)
        W = minimum_of_sample(problem.sampled(places), self.W.ravel(), setting)
        self._accept(W, self.losses.at(self.products.times(W)))

    # --- checkpoints ------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Recompute Z, which removes the rounding errors of updates."""
        self._accept(self.W, self.losses.at(self.products.times(self.W)))

    def release_memory(self) -> None:
        self.gradient = self.handed = None

    def state(self) -> dict[str, Any]:
        return {
            "w": self.W.ravel(),
            "z": self._evaluated().z.ravel(),
            "left": self.decrement,
            "damping": self.system.damping,
            "unsampled": self.unsampled,
        }

    def restore(self, state: dict[str, Any]) -> None:
        problem = self.problem
        W = vector(state, "w", problem.coef_size).reshape(self.W.shape)
        z = vector(state, "z", problem.dual_size).reshape(problem.n, problem.width)
        self._accept(W, self.losses.at(z))
        self.system.damping = state["damping"]
        self.decrement, self.unsampled = state["left"], state["unsampled"]


def minimum_of_sample(sample: Problem, coef: Floats | None, setting: Setting) -> Floats:
    """The minimum for a sample, from these coefficients, as exactly as chance allows."""
    run = NewtonCGRun(sample, coef, setting)
    if run._sample_size() > 0:
        run._start_from_a_sample()
    ratio = sample.coef_size / sample.n
    for _ in range(TUNING.sample_steps):
        length, _ = run.step()
        at = run._evaluated()
        value = at.value + run._penalty(run.W)
        solved = run.decrement <= TUNING.sampling_error * ratio * value
        if length == 0.0 or solved or at.value <= TUNING.overfit * ratio:
            break
    return run.W
