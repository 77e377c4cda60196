"""Semismooth Newton steps on augmented Lagrangians: for few features, however badly scaled.

Losses with kinks are rounded off (``envelope.py``), which leaves
    Ψ(w) = Σ_i c_i e_i(x_i·w) + λ g(w)
with a Lipschitz gradient of the losses. Newton steps with a line search minimise it (Qi, Sun 1993):
each goes towards the minimum of the quadratic model of the losses plus the penalty itself
(``descent.py``). When a stage is solved well enough, its slopes become the multipliers of the next
stage, which rounds off less (Rockafellar 1976; Li, Sun, Toh 2018). Without kinks there is one.

Cost of a step: nnz·d for the Gram matrix of samples whose slope can change, d³/3 for a system (with
dK in place of d for K classes), or products with the Hessian (``systems.py``). Rate: superlinear.
A run starts at the minimum for a random sample. If slopes are constant except near kinks, several
steps are made on the samples near these before all samples are evaluated again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import SMALLEST, Floats
from dualgap.problem import Problem
from dualgap.problem.baseline import origin
from dualgap.proof.certificate import Certificate, Pair
from dualgap.proof.dual_point import balanced
from dualgap.steps.base import (
    FullPass,
    FullPassRun,
    Setting,
    Start,
    shape_refusal,
    vector,
)
from dualgap.steps.newton import estimate
from dualgap.steps.newton.descent import Descent
from dualgap.steps.newton.envelope import losses_of
from dualgap.steps.newton.tuning import TUNING


@dataclass(frozen=True)
class Newton(FullPass):
    """Newton steps on augmented Lagrangians."""

    usual = "newton"

    def refusal(self, problem: Problem) -> str | None:
        if problem.width > 1 and not hasattr(problem.loss, "hessian_entries"):
            return f"the {type(problem.given_loss).__name__} loss has no second derivatives"
        return shape_refusal(problem)

    def describe(self, problem: Problem) -> str:
        return "Newton steps on augmented Lagrangians"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> NewtonRun:
        return NewtonRun(problem, warm, setting)


class NewtonRun(FullPassRun):
    """A run; its state is w, the losses at z = Xw, and the multipliers of the stage.

    ``losses`` may be given: of samples that are elsewhere, such as in partitions.
    """

    descent: Descent  # from the first evaluation on all samples, which ``_begin`` makes

    def __init__(self, problem: Problem, warm: Start, setting: Setting, losses: Any = None) -> None:
        super().__init__(problem)
        shape = problem.penalty_shape
        assert shape is not None  # other penalties are refused
        first = origin(problem) if warm.coef is None else warm.coef
        self.first_coef, self.shape = np.clip(first, shape.low, shape.high), shape
        scalar = problem.width == 1
        self.losses = losses_of(problem, warm.dual) if losses is None else losses
        self.begun = False
        self.accuracy = 0.0  # a gap that is small enough whatever the setting says
        self.steps = 0  # of this stage
        self.reach = np.inf  # how far decision values may move in the next step
        self.steps_at_once = TUNING.steps_between_checks
        self.setting, self.rng = setting, setting.rng or np.random.default_rng(0)
        # A quadratic loss is its own model everywhere, so that a sample can save Hessians only.
        quadratic = scalar and bool(problem.loss.quadratic)
        self.unsampled = warm.coef is None and scalar and (not quadratic or estimate.pays(problem))
        # Before a sample, or a step to the minimum, the loop need not evaluate all samples.
        sampled = self.unsampled and self._sample_size() > 0
        self.starts_at_zero = warm.coef is None and (sampled or quadratic)
        # Whether many samples can have slopes that a step does not change.
        self.uses_subsets = (
            losses is None
            and scalar
            and problem.n >= TUNING.least_samples
            and (not problem.loss.differentiable or hasattr(problem.loss, "face"))
        )

    @property
    def target(self) -> float:
        return max(self.setting.target, self.accuracy)

    @property
    def negligible(self) -> float:
        """A gain that does not matter."""
        small = max(TUNING.negligible * self.setting.target, EPS * self.problem.scale)
        return max(small, self.accuracy)

    def _begin(self) -> None:
        """Evaluate all samples at the start, if that was not done before."""
        if not self.begun:
            self._begin_at(self.first_coef)

    def _begin_at(self, w: Floats) -> None:
        self.descent = Descent(self.problem, self.losses, self.shape, w)
        self.begun = True

    def refresh(self) -> None:
        """Recompute z, which removes the rounding errors of updates."""
        self._begin()
        z = self.problem.decision(self.descent.w)
        self.descent.accept(self.losses.respond(z))

    def pair(self) -> Pair:
        self._begin()
        at, problem = self.descent, self.problem
        pair = Pair(at.w, at.response.b, at.response.z, at.u, u_anew=True)
        if self.losses.q > 0.0 or problem.width > 1 or not len(problem.free_places):
            return pair
        # Balanced here, so that neither a gap check nor a proof needs another pass.
        a = balanced(problem, pair)
        return pair if a is pair.a else pair._replace(a=a, u=problem.average(a))

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Make a Newton step, or several on the samples near their kinks."""
        if self.unsampled:
            self.unsampled = False
            self._start_from_a_sample()
        self._begin()
        products = 0
        for _ in range(self.steps_at_once):
            length = self._step()
            products += 3 + self.descent.products
            # Without kinks of loss and penalty this is the gap, so that no gap check is needed.
            smoothed = self.losses.q > 0.0
            if length == 0.0 or smoothed or self.descent.coefficient_gap() <= self.target:
                break
        moved = length > 0.0 and not self._is_exhausted(self._multiplier_move())
        return int(moved), *self.worth(products)

    def _step(self) -> float:
        """Make a step, or several on a subset; returns the length."""
        self.descent.enough = TUNING.residual_share * self.target
        before = self.descent.response.z
        subset = self._near_kinks() if self.uses_subsets else None
        if subset is None:
            length = self.descent.step()
            self.steps += 1
        else:
            length = self._steps_on(subset)
        if self.uses_subsets and (subset is None or length > TUNING.short_step):
            moved = self.losses.distance(self.descent.response.z, before)
            self.reach = max(TUNING.reach_growth * moved, self.losses.q)
        return length

    def _start_from_a_sample(self) -> None:
        """Start at the minimum for some of the samples, chosen at random: a tenth of the work."""
        size = self._sample_size()
        if size == 0:
            return
        places = np.sort(self.rng.choice(self.problem.n, size, replace=False))
        run = run_on_sample(self.problem.sampled(places), self.problem.scale, self.setting)
        self.losses.q = run.losses.q
        self._begin_at(run.descent.w)
        useful = run.losses.q == 0.0 and estimate.pays(self.problem)
        if useful and not estimate.has_rare_features(run.problem, self.problem):
            self.descent.estimate = run.losses.hessian(run.descent.response)

    def _sample_size(self) -> int:
        """How many samples to start from; 0 if that does not pay."""
        n = self.problem.n
        size = max(n // TUNING.sample_divisor, TUNING.samples_per_feature * self.problem.d)
        return size if TUNING.least_samples <= size <= TUNING.largest_sample * n else 0

    def _near_kinks(self) -> Any:
        """The samples whose slope may change within reach; None if they are too many or none."""
        if not self.reach < np.inf:
            return None
        near = self.losses.near_kinks(self.descent.response.z, self.reach)
        return near if 0 < len(near) <= TUNING.largest_subset * self.problem.n else None

    def _steps_on(self, subset: Any) -> float:
        """Minimise over some samples, then go there as far as Ψ decreases over all samples."""
        inner = self.descent.restricted_to(subset)
        for _ in range(TUNING.subset_steps):
            length = inner.step()
            self.steps += 1
            moved = inner.losses.multiplier_move(inner.response.b)
            if length == 0.0 or self._is_solved(inner, moved):
                break
        length = self.descent.move_towards(inner.w)
        self.reach *= 1.0 if length > TUNING.short_step else TUNING.reach_growth
        if length > TUNING.full_step:
            self.descent.decrement = inner.decrement
        return length

    def _multiplier_move(self) -> float:
        return self.losses.multiplier_move(self.descent.response.b)

    def _is_solved(self, at: Descent, moved: float) -> bool:
        """Whether a stage is solved well enough, its multipliers having moved so far."""
        if not at.decrement <= max(TUNING.stage_accuracy * moved, self.negligible):
            return False
        # The dual point is good only if its own coefficients are close, too. If λ is small, that
        # takes another step or two.
        close = at.coefficient_gap() <= max(moved, self.negligible)
        return close or at.decrement <= EPS * self.problem.scale

    def _is_exhausted(self, moved: float) -> bool:
        """Whether rounding errors allow no progress, the multipliers having moved so far."""
        wide = self.losses.q > self.losses.least
        return not wide and self.descent.decrement + moved <= EPS * self.problem.scale

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        return self.end_stage()

    def end_stage(self) -> bool:
        """If the stage is solved well enough, take over the multipliers and round off less."""
        at, moved = self.descent, self._multiplier_move()
        if self.losses.q == 0.0 or not np.isfinite(moved):
            return False
        if self._is_exhausted(moved):
            # The coefficients are optimal; the rest of the gap is due to rounding errors of b.
            widened = self.losses.widen(at.response.b)
            at.accept(self.losses.respond(at.response.z))
            return widened
        if not self._is_solved(at, moved):
            return False
        factor = 1.0 if self.steps > TUNING.slow_stage_steps else TUNING.narrowing
        self.losses.narrow(at.response.b, factor, self._least_width())
        self.steps = 0
        at.accept(self.losses.respond(at.response.z))
        return True

    def _least_width(self) -> float:
        """Rounding errors of z, divided by the width, are those of b: they must neither show in the
        gap nor take u out of the bounds that a penalty with kinks sets it."""
        at = self.descent
        rounding = EPS * float(np.sum(np.sqrt(at.mean_squares) * np.abs(at.w)))
        largest = float(np.sqrt(np.max(at.mean_squares))) if at.shape.kinked else 0.0
        small = max(self.negligible, SMALLEST)  # P(0) may be 0
        accuracy = TUNING.negligible * self.problem.scale / small
        return rounding * max(accuracy, TUNING.rounding_margin * largest / self.problem.lam)

    def state(self) -> dict[str, Any]:
        self._begin()
        at = self.descent
        return {
            "w": at.w,
            "z": at.response.z,
            "left": at.decrement,
            "damping": at.damping,
            "samples": self.losses.state(),
            "steps": self.steps,
            "reach": self.reach,
            "unsampled": self.unsampled,
            "estimate": at.estimate,
            "systems": at.systems and at.systems.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._begin()
        problem, at, losses = self.problem, self.descent, self.losses
        losses.restore(state["samples"])
        at.w = vector(state, "w", problem.coef_size)
        at.decrement, at.damping = state["left"], state["damping"]
        at.accept(losses.respond(vector(state, "z", problem.dual_size)))
        self.steps, self.reach = state["steps"], state["reach"]
        self.unsampled = state["unsampled"]
        at.estimate = state.get("estimate")  # unknown to older versions, as is the next one
        if at.systems and state.get("systems"):
            at.systems.restore(state["systems"])


def run_on_sample(sample: Problem, scale: float, setting: Setting) -> NewtonRun:
    """A run at the minimum for a sample, as exactly as chance allows; ``scale``: of all samples."""
    run = NewtonRun(sample, Start(), setting)
    accuracy = max(TUNING.sample_accuracy, TUNING.sampling_error * sample.d / sample.n)
    run.accuracy, run.steps_at_once = accuracy * scale, 1
    for _ in range(TUNING.subset_steps):
        run.advance(None)
        run.end_stage()
        if run.descent.decrement + run._multiplier_move() <= run.negligible:
            break
    return run
