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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap._scalar import EPS
from dualgap._validate import Floats
from dualgap.certificate import Certificate, Pair
from dualgap.linalg.blas import one_thread
from dualgap.null_model import origin
from dualgap.penalties.shape import shape_of
from dualgap.problem import Problem
from dualgap.steps.base import Setting
from dualgap.steps.envelope import Blocks, Response, Samples
from dualgap.steps.full_pass import FullPass, FullPassRun
from dualgap.steps.quadratic import minimum
from dualgap.steps.start import Start, dual_start

_INEXACT = 0.1  # what a stage may leave, relative to how far its multipliers have moved ...
_NEGLIGIBLE = 0.01  # ... or to the gap that is aimed at
_FEW, _MANY = 3, 12  # steps of a stage that was easy, or hard
_NARROWER, _NARROW = 0.1, 0.3  # what the widths are multiplied by after an easy stage, and others
_FIRST, _LATER = 0.9, 0.3  # how much of the slope a line search may leave at length 1, and others
_BEYOND = 1e-3  # ... and where it has passed the minimum, beyond which Ψ might have grown
_TRIALS = 60
_SHORT = 1e-6  # the length of a step that calls for more damping
_LEAST_DAMPING, _MOST_DAMPING = 1e-14, 1e-4  # added to a diagonal of 1


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
        self.shape = shape
        self.negligible = max(_NEGLIGIBLE * setting.target, EPS * problem.scale)
        self.w = np.clip(origin(problem) if warm.coef is None else warm.coef, shape.low, shape.high)
        a = dual_start(problem, warm.dual)
        self.samples = (
            Samples(problem, a, _spread(problem)) if problem.width == 1 else Blocks(problem)
        )
        self.steps, self.left, self.damping = 0, np.inf, _LEAST_DAMPING
        self.refresh()

    def refresh(self) -> None:
        """What samples say to the current point and multipliers."""
        self._answered(self.samples.respond(self.problem.decision(self.w)))

    def _answered(self, response: Response) -> None:
        self.response = response
        self.u = self.problem.average(response.b)

    def pair(self) -> Pair:
        return Pair(self.w, self.response.b, self.response.z, self.u)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """A Newton step."""
        lam = self.problem.lam
        with one_thread():
            hessian = self.samples.hessian(self.response.h)
            goal = minimum(hessian, -lam * self.u, self.w, lam, self.shape, self.damping)
        move = goal - self.w
        self.left = lam * (float(np.sum(self.u * move)) - self.shape.slope(self.w, move))
        length, response = self._search(move)
        moved = length > 0.0 and bool(move.any())
        self.w = goal if length == 1.0 else self.w + length * move
        # A system that is all but singular sends Newton steps into walls.
        change = 100.0 if length < _SHORT else 0.01
        self.damping = min(max(self.damping * change, _LEAST_DAMPING), _MOST_DAMPING)
        self.steps += 1
        self._answered(response)
        moved = moved and not self._is_exhausted(self.samples.shift(response.b))
        return int(moved), *self.worth(3 + self.problem.d)

    def _is_exhausted(self, moved: float) -> bool:
        """Whether all is done that rounding errors allow, the multipliers having moved so far."""
        wide = self.samples.q > self.samples.least
        return not wide and self.left + moved <= EPS * self.problem.scale

    def _search(self, move: Floats) -> tuple[float, Response]:
        """Where the slope along the move has become small: Ψ is convex, so it has fallen."""
        if not self.left > 0.0:
            return 0.0, self.response
        along = self.problem.decision(move)
        low, high, length = 0.0, np.inf, 1.0
        at_low, at_high = -self.left, np.inf
        lowest = self.response
        for trial in range(_TRIALS):
            response, slope = self._at(length, move, along)
            if -(_LATER if trial else _FIRST) <= slope / self.left <= _BEYOND:
                return length, response
            if slope < 0.0:
                low, at_low, lowest = length, slope, response
                if self.shape.kinked and length == 1.0:
                    break  # beyond the goal coefficients would leave their kinks
            else:
                high, at_high = length, slope
            if high == np.inf:
                length *= 4.0
            elif trial % 2 or not at_high < np.inf:
                length = 0.5 * (low + high) if low > 0.0 else 0.01 * high
            else:
                length = low - at_low * (high - low) / (at_high - at_low)
        return low, lowest

    def _at(self, length: float, move: Floats, along: Floats) -> tuple[Response, float]:
        """What samples say there, and the slope of Ψ."""
        with np.errstate(over="ignore", invalid="ignore"):
            response = self.samples.respond(self.response.z, along, length)
            penalty = self.shape.slope(self.w + length * move, move)
            total = response.slope + self.problem.lam * penalty
        return response, total if total == total else np.inf

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """End the stage once it is solved well enough."""
        moved = self.samples.shift(self.response.b)
        if self.samples.q == 0.0 or not np.isfinite(moved) or self._is_exhausted(moved):
            return False
        if not self.left <= max(_INEXACT * moved, self.negligible):
            return False
        factor = 1.0 if self.steps > _MANY else (_NARROW if self.steps > _FEW else _NARROWER)
        self.samples.narrow(self.response.b, factor)
        self.steps = 0
        self._answered(self.samples.respond(self.response.z))
        return True


def _spread(problem: Problem) -> float:
    """How far decision values may have to go: the width of the first stage."""
    if problem.loss.targets != "real":
        return 1.0
    away = problem.y - np.sum(problem.c * problem.y)
    return float(np.sqrt(np.sum(problem.c * away * away))) or 1.0
