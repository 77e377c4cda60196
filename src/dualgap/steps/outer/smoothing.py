"""Smoothing: Newton steps on all classes for the multiclass hinge with its kinks.

Each stage makes Newton steps on the hinge with kinks rounded over a width γ. Its dual points are
feasible for the hinge itself, so the certificate is that of the problem, and its gap exceeds that
of the stage by at most about γ. Once the gap of the stage is a small part of it, γ shrinks
(Nesterov's smoothing, with continuation).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from dualgap.linalg.validate import Floats
from dualgap.losses.multiclass_hinge import MulticlassHinge
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start
from dualgap.steps.newton_cg.class_run import class_refusal
from dualgap.steps.newton_cg.newton_cg import NewtonCGRun


@dataclass(frozen=True)
class Tuning:
    """Measured on iris, wine and digits, with and without an intercept without a penalty: ten
    times less per stage takes one to three Newton steps each, up to the last stages of digits."""

    first_width: float = 1.0  # of the kinks; margins are 1
    shrink: float = 0.1  # by how much a stage is narrower than the one before
    least_width: float = 1e-13  # narrower ones are rounding errors of decision values
    # A stage ends when its gap is this share of the gap of the problem.
    solved_share: float = 0.2


TUNING = Tuning()
# What copies of a problem with another loss must compute anew.
_OF_LOSS = ("floor", "_at_zero", "value_at_origin", "scale", "least", "best_constant")


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
        return "Newton steps on all classes, with kinks that get sharper"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> SmoothingRun:
        return SmoothingRun(problem, warm.coef, setting)


def smoothed(problem: Problem, width: float) -> Problem:
    """The same problem with kinks rounded; data are shared."""
    other = copy.copy(problem)
    for fact in _OF_LOSS:
        other.__dict__.pop(fact, None)
    own = problem.given_loss._replace(gamma=width)
    other.loss = problem.loss._replace(base=own) if hasattr(problem.loss, "base") else own
    return other


class SmoothingRun(FullPassRun):
    """A run whose state is that of the stage."""

    def __init__(self, problem: Problem, coef: Floats | None, setting: Setting) -> None:
        super().__init__(problem)
        self.setting = setting
        self.starts_at_zero = coef is None
        self._begin(TUNING.first_width, coef)

    def _begin(self, width: float, coef: Floats | None) -> None:
        self.width = width
        self.stage = NewtonCGRun(smoothed(self.problem, width), coef, self.setting)

    def pair(self) -> Pair:
        return self.stage.pair()

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Newton steps of the stage."""
        moved, operations, updates = self.stage.advance(order)
        narrower = self.width > TUNING.least_width  # a stage that is solved is not the end
        return max(moved, int(narrower)), operations, updates

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Begin the next stage, if this one is solved well enough."""
        if not self.stage._gap() <= TUNING.solved_share * certificate.gap:
            return False
        if self.width <= TUNING.least_width:
            return False
        self._begin(TUNING.shrink * self.width, self.stage.W.ravel())
        return True

    def refresh(self) -> None:
        self.stage.refresh()

    def release_memory(self) -> None:
        self.stage.release_memory()

    def state(self) -> dict[str, Any]:
        return {"width": self.width, "stage": self.stage.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self._begin(state["width"], None)
        self.stage.restore(state["stage"])
