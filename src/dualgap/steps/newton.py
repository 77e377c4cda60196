"""Semismooth Newton steps on augmented Lagrangians: for few features, however badly scaled.

Losses with kinks and penalties with kinks or bounds are rounded off (``envelope.py``), which leaves
a convex function of w with a Lipschitz gradient,
    Ψ(w) = Σ_i c_i e_i(x_i·w) + λ Σ_j (½ l2_j w_j² + k_j(w_j)),
to be minimised by Newton steps with a line search (Qi, Sun 1993). When this is done well enough,
its slopes become the multipliers of the next stage, which rounds off less (Rockafellar 1976; Li,
Sun, Toh 2018). Without kinks there is one stage: Newton's method on the problem itself.

Cost of a step: nnz·d for the Gram matrix of samples whose slope can change, d³/3 for a system (with
dK in place of d for K classes). Rate: superlinear, in the steps of a stage and in the stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from dualgap._scalar import EPS
from dualgap._validate import Floats
from dualgap.certificate import Certificate, Pair
from dualgap.linalg.blas import one_thread
from dualgap.null_model import origin
from dualgap.penalties.shape import shape_of
from dualgap.problem import Problem
from dualgap.steps.base import Setting
from dualgap.steps.envelope import Blocks, Features, Samples
from dualgap.steps.full_pass import FullPass, FullPassRun
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
    """A run; its state is w with z = Xw, and the multipliers of the stage."""

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        super().__init__(problem)
        shape = shape_of(problem.penalty, problem.coef_size)
        assert shape is not None  # others were refused
        self.negligible = max(_NEGLIGIBLE * setting.target, EPS * problem.scale)
        self.w = origin(problem) if warm.coef is None else warm.coef
        a, width = dual_start(problem, warm.dual), _spread(problem)
        self.samples = Samples(problem, a, width) if problem.width == 1 else Blocks(problem)
        s = np.zeros(problem.coef_size)
        if warm.dual is not None:
            s = np.clip(problem.average(a) - shape.l2 * self.w, -shape.l1, shape.l1)
        self.features = Features(problem, shape, s, width)
        self.staged = self.features.kinked or self.samples.q > 0.0
        self.steps, self.left, self.damping = 0, np.inf, _LEAST_DAMPING
        self._respond()

    def _respond(self) -> None:
        """What samples and features say to the current point."""
        self.z = self.problem.decision(self.w)
        self.b, self.h = self.samples.respond(self.z)
        self.p, self.slope, self.bend = self.features.respond(self.w)
        self.u = self.problem.average(self.b)

    def pair(self) -> Pair:
        # p has the zeros and keeps to the bounds.
        z = self.problem.decision(self.p) if self.features.kinked else self.z
        return Pair(self.p, self.b, z, self.u)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """A Newton step."""
        lam = self.problem.lam
        gradient = lam * (self.slope - self.u)
        with one_thread():
            hessian = self.samples.hessian(self.h)
            hessian[np.diag_indices_from(hessian)] += lam * self.bend
            move = _solved(hessian, -gradient, self.damping)
        self.left = -float(np.sum(gradient * move))
        before, length = self.w, self._length(move)
        self.w = self.w + length * move
        # A system that is all but singular sends Newton steps into walls.
        change = 100.0 if length < _SHORT else 0.01
        self.damping = min(max(self.damping * change, _LEAST_DAMPING), _MOST_DAMPING)
        self.steps += 1
        self._respond()
        moved = not self._is_exhausted(self._moved()) and bool((self.w != before).any())
        return int(moved), *self.worth(3 + self.problem.d)

    def _moved(self) -> float:
        """How far this stage has moved the multipliers, in units of the objective."""
        return self.samples.shift(self.b) + self.features.shift(self.w, self.slope)

    def _is_exhausted(self, moved: float) -> bool:
        """Whether all is done that rounding errors allow, the multipliers having moved so far."""
        wide = self.samples.q > self.samples.least or self.features.is_wide
        return not wide and self.left + moved <= EPS * self.problem.scale

    def _length(self, move: Floats) -> float:
        """Where the slope along the move has become small: Ψ is convex, so it has fallen."""
        if not self.left > 0.0:
            return 0.0
        along = self.problem.decision(move)
        low, high, length = 0.0, np.inf, 1.0
        at_low, at_high = -self.left, np.inf
        for trial in range(_TRIALS):
            slope = self._slope_at(length, move, along)
            if -(_LATER if trial else _FIRST) <= slope / self.left <= _BEYOND:
                return length
            if slope < 0.0:
                low, at_low = length, slope
            else:
                high, at_high = length, slope
            if high == np.inf:
                length *= 4.0
            elif trial % 2 or not at_high < np.inf:
                length = 0.5 * (low + high) if low > 0.0 else 0.01 * high
            else:
                length = low - at_low * (high - low) / (at_high - at_low)
        return low

    def _slope_at(self, length: float, move: Floats, along: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            b, _ = self.samples.respond(self.z + length * along)
            _, slope, _ = self.features.respond(self.w + length * move)
            of_losses = float(np.sum(self.problem.weighted(b) * along))
            total = self.problem.lam * float(np.sum(slope * move)) - of_losses
        return total if total == total else np.inf

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """End the stage once it is solved well enough."""
        moved = self._moved()
        if not self.staged or not np.isfinite(moved) or self._is_exhausted(moved):
            return False
        if not self.left <= max(_INEXACT * moved, self.negligible):
            return False
        factor = 1.0 if self.steps > _MANY else (_NARROW if self.steps > _FEW else _NARROWER)
        self.samples.narrow(self.b, factor)
        self.features.narrow(self.w, self.slope, factor)
        self.steps = 0
        self._respond()
        return True


def _spread(problem: Problem) -> float:
    """How far decision values may have to go: the width of the first stage."""
    if problem.loss.targets != "real":
        return 1.0
    away = problem.y - np.sum(problem.c * problem.y)
    return float(np.sqrt(np.sum(problem.c * away * away))) or 1.0


def _solved(hessian: Floats, right: Floats, more: float) -> Floats:
    """The Newton step, in units in which the diagonal is 1; ``more`` is added to it, or yet more.

    None at all where numbers have overflowed.
    """
    if not np.isfinite(hessian).all() or not np.isfinite(right).all():
        return np.zeros(len(right))
    size = np.sqrt(np.diag(hessian))
    size[size == 0.0] = 1.0
    scaled = hessian / np.outer(size, size)
    diagonal = np.diag_indices_from(scaled)
    while True:
        scaled[diagonal] = 1.0 + more
        try:
            factor = scipy.linalg.cho_factor(scaled, lower=True)
        except np.linalg.LinAlgError:
            more *= 100.0
        else:
            return np.asarray(scipy.linalg.cho_solve(factor, right / size) / size)
