"""Smoothing: Newton steps on all classes for the multiclass hinge with its kinks.

Each stage makes Newton steps on the hinge with its kinks rounded over a width γ, around multipliers
m_i, a feasible dual point:
    e_i(z) = max_b −φ*(−b) − z·b − (γ/2)‖b − m_i‖²
which is the rounded hinge at z − γ m_i, up to a constant. So a stage is a problem with offsets. Its
dual points b are feasible for the hinge itself, so the certificate is that of the problem. Once the
gap of the stage is a small part of it, b becomes the multiplier of the next stage, and γ shrinks
unless the stage was hard (augmented Lagrangians: Rockafellar 1976; Li, Sun, Toh 2018). With optimal
multipliers the minimum is that of the problem, whatever γ is; without them γ would have to be as
small as the gap.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.losses.multiclass_hinge import MulticlassHinge
from dualgap.losses.offset import with_offset
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start, vector
from dualgap.steps.newton_cg.class_run import class_refusal
from dualgap.steps.newton_cg.newton_cg import NewtonCGRun


@dataclass(frozen=True)
class Tuning:
    """What stages trade, with digits, pendigits and letter in mind; others were not tried."""

    first_width: float = 1.0  # of the kinks; margins are 1
    shrink: float = 0.1  # by how much a stage is narrower than the one before ...
    hard_stage: int = 2  # ... unless that took more calls for steps
    least_width: float = 1e-6  # with good multipliers, narrower ones gain nothing
    # A stage ends when its gap is this share of the gap of the problem.
    solved_share: float = 0.2


TUNING = Tuning()
# What copies of a problem with another loss must compute anew. The scale stays that of the problem.
_OF_LOSS = ("floor", "_at_zero", "value_at_origin", "least", "best_constant")


@dataclass(frozen=True)
class Smoothing(FullPass):
    """Newton steps on a hinge of many classes whose kinks get sharper."""

    usual = "smoothing"

    def refusal(self, problem: Problem) -> str | None:
        name = type(problem.given_loss).__name__
        if not isinstance(problem.given_loss, MulticlassHinge):
            return f"the {name} loss is not the multiclass hinge"
        if problem.given_loss.gamma > 0.0:
            return f"the {name} loss with gamma > 0 is smooth already"
        return class_refusal(smoothed(problem, TUNING.first_width))

    def describe(self, problem: Problem) -> str:
        return "Newton steps on all classes, with rounded kinks and multipliers"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> SmoothingRun:
        return SmoothingRun(problem, warm.coef, setting)


def smoothed(problem: Problem, width: float, multipliers: Floats | None = None) -> Problem:
    """The same problem with kinks rounded around multipliers; data are shared."""
    other = copy.copy(problem)
    for fact in _OF_LOSS:
        other.__dict__.pop(fact, None)
    other.loss = problem.given_loss._replace(gamma=width)
    shift = problem.offset
    if multipliers is not None:
        own = -width * multipliers.reshape(problem.n, problem.width)
        shift = own if shift is None else shift + own
    if shift is not None:
        other.loss, other.y = with_offset(other.loss, problem.plain_y, shift, block=True)
        other.offset = shift
    return other


class SmoothingRun(FullPassRun):
    """A run whose state is that of the stage, with its multipliers."""

    def __init__(self, problem: Problem, coef: Floats | None, setting: Setting) -> None:
        super().__init__(problem)
        self.setting = setting
        self.starts_at_zero = coef is None
        self._begin(TUNING.first_width, None, coef)

    def _begin(self, width: float, multipliers: Floats | None, coef: Floats | None) -> None:
        self.width, self.multipliers, self.turns = width, multipliers, 0  # turns: calls for steps
        stage = smoothed(self.problem, width, multipliers)
        self.stage = NewtonCGRun(stage, coef, self.setting)

    def pair(self) -> Pair:
        return self.stage.pair()

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Newton steps of the stage."""
        self.turns += 1
        moved, operations, updates = self.stage.advance(order)
        # A stage that is solved at its start is not the end.
        return max(moved, int(self.turns == 1)), operations, updates

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Begin the next stage, if this one is solved well enough."""
        if not self.stage._gap() <= TUNING.solved_share * certificate.gap:
            return False
        shrink = 1.0 if self.turns > TUNING.hard_stage else TUNING.shrink
        width = max(shrink * self.width, TUNING.least_width)
        self._begin(width, np.array(self.stage.pair().a), self.stage.W.ravel())
        return True

    def refresh(self) -> None:
        self.stage.refresh()

    def release_memory(self) -> None:
        self.stage.release_memory()

    def state(self) -> dict[str, Any]:
        return {
            "width": self.width,
            "turns": self.turns,
            "multipliers": self.multipliers,
            "stage": self.stage.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        multipliers = state.get("multipliers")  # unknown to older versions
        if multipliers is not None:
            multipliers = vector(state, "multipliers", self.problem.dual_size)
        self._begin(state["width"], multipliers, None)
        self.turns = state.get("turns", 0)
        self.stage.restore(state["stage"])
