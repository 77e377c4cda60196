"""Semismooth Newton steps on augmented Lagrangians: for few features, however badly scaled.

Losses with kinks are rounded off (``envelope.py``), which leaves
    Ψ(w) = Σ_i c_i e_i(x_i·w) + λ g(w)
with a Lipschitz gradient of the losses, to be minimised by Newton steps with a line search (Qi, Sun
1993): each goes to, or towards, the minimum of the quadratic model of the losses plus the penalty
itself (``quadratic.py``). When this is done well enough, the slopes become the multipliers of the
next stage, which rounds off less (Rockafellar 1976; Li, Sun, Toh 2018). Without kinks of the loss
there is one stage: Newton's method on the problem itself.

Cost of a step: nnz·d for the Gram matrix of samples whose slope can change, d³/3 for a system (with
dK in place of d for K classes). Rate: superlinear, in the steps of a stage and in the stages.
Two things save passes over all data: a run starts where a sample of the data has its minimum; and a
loss whose slope is constant but near its kinks leaves few samples whose slopes can change, among
which several steps are made before all samples are asked again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import SMALLEST
from dualgap.penalties.shape import shape_of
from dualgap.problem import Problem
from dualgap.problem.baseline import origin
from dualgap.proof.certificate import Certificate, Pair
from dualgap.steps.base import Setting, vector
from dualgap.steps.full_pass import FullPass, FullPassRun
from dualgap.steps.newton.descent import Descent
from dualgap.steps.newton.envelope import Blocks, Samples
from dualgap.steps.start import Start, dual_start

_INEXACT = 0.1  # what a stage may leave, relative to how far its multipliers have moved ...
_NEGLIGIBLE = 0.01  # ... or to the gap that is aimed at
_MANY, _NARROWER = 12, 0.3  # what widths are multiplied by, unless a stage took more steps
_WITHIN = 300.0  # rounding errors of u are so much smaller than its bounds
_UNSEEN = 4  # steps between two looks, if the gap is known to be too large
_INNER = 20  # steps among some samples before all of them are asked
_AHEAD, _FURTHER = 4.0, 4.0  # how far decision values may go next, relative to the last time ...
_SHORTER = 0.5  # ... or, after a step that was so short, to what was thought
_ALL = 0.9  # length of a step that was as good as among some samples
_WORTH = 0.5  # of all samples: more are not worth leaving some out
_PART, _PER_FEATURE = 10, 20  # a sample to start from: a tenth, or so many for each feature ...
_LEAST, _MOST = 500, 0.2  # ... if these are at least so many, and at most that part
_CONSTANT = 1e-9  # of the size of targets: what differs by less is as good as one number
_ROUGH, _CHANCE = 1e-3, 0.2  # of P(0), the latter for each feature over the samples: no minimum of
# a sample need be better, as chance moves it by more


@dataclass(frozen=True)
class Newton(FullPass):
    """Newton steps on augmented Lagrangians."""

    usual = "newton"

    def refusal(self, problem: Problem) -> str | None:
        if problem.width > 1 and not hasattr(problem.loss, "hessian_entries"):
            return f"the {type(problem.loss).__name__} loss has no second derivatives"
        if shape_of(problem.penalty, problem.coef_size) is None:
            return (
                f"the penalty {type(problem.penalty).__name__} is not made of L1 and L2 parts, "
                "weights and bounds"
            )
        return None

    def describe(self, problem: Problem) -> str:
        return "Newton steps on augmented Lagrangians"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> NewtonRun:
        return NewtonRun(problem, warm, setting)


class NewtonRun(FullPassRun):
    """A run; its state is w, what samples say to z = Xw, and the multipliers of the stage."""

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        super().__init__(problem)
        shape = shape_of(problem.penalty, problem.coef_size)
        assert shape is not None  # others were refused
        self.target = setting.target
        self.negligible = max(_NEGLIGIBLE * setting.target, EPS * problem.scale)
        begin = origin(problem) if warm.coef is None else warm.coef
        self.begin, self.shape = np.clip(begin, shape.low, shape.high), shape
        a = dual_start(problem, warm.dual)
        self.samples = (
            Samples(problem, a, _spread(problem)) if problem.width == 1 else Blocks(problem)
        )
        self.steps, self.reach = 0, np.inf
        self.setting, self.rng = setting, setting.rng or np.random.default_rng(0)
        # A quadratic loss is its own model, wherever it is made.
        self.unsampled = warm.coef is None and problem.width == 1 and not problem.loss.quadratic
        # There is no need to ask all samples before some of them have been asked.
        self.at_rest = self.unsampled and self._sample_size() > 0 and not len(problem.free_places)
        # Whether there can be samples, and not a few, whose slopes are settled.
        scalars = problem.width == 1 and problem.n >= _LEAST
        self.settles = scalars and (
            not problem.loss.differentiable or hasattr(problem.loss, "face")
        )

    @cached_property
    def at(self) -> Descent:
        """Where the run is, once somebody wants to know."""
        return Descent(self.problem, self.samples, self.shape, self.begin)

    def refresh(self) -> None:
        """Wipe out the rounding errors of updates."""
        self.at.answer(self.samples.respond(self.problem.decision(self.at.w)))

    def pair(self) -> Pair:
        at = self.at
        return Pair(at.w, at.response.b, at.response.z, at.u, u_anew=True)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """A Newton step, or several of them among samples near their kinks."""
        if self.unsampled:
            self.unsampled = False
            self._start_from_a_sample()
        products = 0
        for _ in range(_UNSEEN):
            length = self._step()
            products += 3 + self.problem.d
            # Without kinks of loss and penalty this is the gap: what is larger need not be seen.
            if length == 0.0 or self.samples.q > 0.0 or self.at.imbalance() <= self.target:
                break
        moved = length > 0.0 and not self._is_exhausted(self.samples.shift(self.at.response.b))
        return int(moved), *self.worth(products)

    def _step(self) -> float:
        """The length of a step, or of several among few samples."""
        before = self.at.response.z
        near = self._near() if self.settles else None
        if near is None:
            length = self.at.step()
            self.steps += 1
        else:
            length = self._steps_among(near)
        if self.settles and (near is None or length > _SHORTER):
            away = self.samples.distance(self.at.response.z, before)
            self.reach = max(_AHEAD * away, self.samples.q)
        return length

    def _start_from_a_sample(self) -> None:
        """Go to where some of the samples, at random, have their minimum: a tenth of the work."""
        size = self._sample_size()
        if size == 0:
            return
        places = np.sort(self.rng.choice(self.problem.n, size, replace=False))
        run = NewtonRun(self.problem.sampled(places), Start(), self.setting)
        rough = max(_ROUGH, _CHANCE * self.problem.d / size)
        run.target = run.negligible = rough * self.problem.scale
        for _ in range(_INNER):
            run.advance(None)
            run.end_stage()
            if run.at.left + run.samples.shift(run.at.response.b) <= run.negligible:
                break
        self.samples.q = run.samples.q
        self.at = Descent(self.problem, self.samples, self.shape, run.at.w)

    def _sample_size(self) -> int:
        """How many samples to start from; 0 if that does not pay."""
        n = self.problem.n
        size = max(n // _PART, _PER_FEATURE * self.problem.d)
        return size if _LEAST <= size <= _MOST * n else 0

    def _near(self) -> Any:
        """The samples whose slope may change within reach; None if that is no great saving."""
        if not self.reach < np.inf:
            return None
        near = self.samples.unsettled(self.at.response.z, self.reach)
        return near if 0 < len(near) <= _WORTH * self.problem.n else None

    def _steps_among(self, near: Any) -> float:
        """Minimise among these samples, then go there as far as all samples agree."""
        inner = self.at.among(near)
        for _ in range(_INNER):
            length = inner.step()
            self.steps += 1
            if length == 0.0 or self._is_solved(inner, inner.samples.shift(inner.response.b)):
                break
        length = self.at.go(inner.w)
        self.reach *= 1.0 if length > _SHORTER else _FURTHER
        if length > _ALL:
            self.at.left = inner.left
        return length

    def _is_solved(self, at: Descent, moved: float) -> bool:
        """Whether a stage is solved well enough, its multipliers having moved so far."""
        if not at.left <= max(_INEXACT * moved, self.negligible):
            return False
        # The dual point is good only if its own coefficients are close, too: where λ is small that
        # takes a better solution, which is a step or two away.
        return at.imbalance() <= max(moved, self.negligible) or at.left <= EPS * self.problem.scale

    def _is_exhausted(self, moved: float) -> bool:
        """Whether all is done that rounding errors allow, the multipliers having moved so far."""
        wide = self.samples.q > self.samples.least
        return not wide and self.at.left + moved <= EPS * self.problem.scale

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        return self.end_stage()

    def end_stage(self) -> bool:
        """Take over multipliers and round off less, once the stage is solved well enough."""
        moved = self.samples.shift(self.at.response.b)
        if self.samples.q == 0.0 or not np.isfinite(moved):
            return False
        if self._is_exhausted(moved):
            # The coefficients are optimal; what is left of the gap are rounding errors of b.
            widened = self.samples.widen(self.at.response.b)
            self.at.answer(self.samples.respond(self.at.response.z))
            return widened
        if not self._is_solved(self.at, moved):
            return False
        rounding = EPS * float(np.sum(np.sqrt(self.at.size) * np.abs(self.at.w)))
        factor = 1.0 if self.steps > _MANY else _NARROWER
        # Rounding errors of z, divided by the width, are those of b: they must neither show in the
        # gap nor take u out of the bounds that a penalty with kinks sets it.
        largest = float(np.sqrt(np.max(self.at.size))) if self.at.shape.kinked else 0.0
        small = max(self.negligible, SMALLEST)  # P(0) may be 0
        accuracy = _NEGLIGIBLE * self.problem.scale / small
        least = rounding * max(accuracy, _WITHIN * largest / self.problem.lam)
        self.samples.narrow(self.at.response.b, factor, least)
        self.steps = 0
        self.at.answer(self.samples.respond(self.at.response.z))
        return True

    def state(self) -> dict[str, Any]:
        at = self.at
        return {
            "w": at.w,
            "z": at.response.z,
            "left": at.left,
            "damping": at.damping,
            "samples": self.samples.state(),
            "steps": self.steps,
            "reach": self.reach,
            "unsampled": self.unsampled,
        }

    def restore(self, state: dict[str, Any]) -> None:
        problem, at, samples = self.problem, self.at, self.samples
        samples.restore(state["samples"])
        at.w = vector(state, "w", problem.coef_size)
        at.left, at.damping = state["left"], state["damping"]
        at.answer(samples.respond(vector(state, "z", problem.dual_size)))
        self.steps, self.reach = state["steps"], state["reach"]
        self.unsampled = state["unsampled"]


def _spread(problem: Problem) -> float:
    """How far decision values may have to go: the width of the first stage."""
    if problem.loss.targets != "real":
        return 1.0
    away = problem.y - np.sum(problem.c * problem.y)
    spread = float(np.sqrt(np.sum(problem.c * away * away)))
    size = float(np.sum(problem.c * np.abs(problem.y)))
    # What rounding errors leave of a constant is no width.
    return spread if spread > _CONSTANT * size else size or 1.0
