"""Coordinate step: minimise F(v) + Σ G_i(x_i) over one coordinate at a time, in either view.

    g = Σ_k A_ik F_k'(v_k);  x_i ← argmin_s g·s + (q_i/2)(s − x_i)² + G_i(s);  v += scale_i Δ_i A_i

Dual view: the step of SDCA, Prox-SDCA, IProx-SDCA, AdaSDCA and AdaSDCA+ (Csiba et al. 2015,
Algorithms 1 and 2), exact for an L2 penalty. Primal view: the exact minimisation of Perekrestenko
et al. 2017, Algorithm 1, in one step for a squared loss and by safeguarded Newton steps otherwise.
Cost of an update: O(entries of coordinate i). Rate: linear when F is smooth and every G_i strongly
convex, 1/t when G_i only has a bounded domain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair
from dualgap.samplings.base import StepRule
from dualgap.samplings.scores import Scores
from dualgap.steps.base import Run, Setting, Start, Step, dual_refusal, primal_refusal
from dualgap.steps.coordinate.adaptive_steps import AdaptiveSteps
from dualgap.steps.coordinate.block_epoch import block_epoch
from dualgap.steps.coordinate.epoch import NOT_RECORDED, epoch
from dualgap.steps.coordinate.preferred_view import preferred_view
from dualgap.steps.coordinate.views import DualView, PrimalView


@dataclass(frozen=True)
class Coordinate(Step):
    """The coordinate step. ``view``: "dual" (samples), "primal" (features), or "auto".

    ``bound``: samplings by gap or residue need |w_j*| ≤ B in the primal view, where a penalty such
    as L1 does not bound coefficients by itself ("Lipschitzing", Perekrestenko et al. 2017, section
    4.1). "current" takes P(w)/λ, which falls as the run goes on, "start" P(w_0)/λ as in the paper.
    """

    view: Literal["auto", "dual", "primal"] = "auto"
    bound: Literal["current", "start"] = field(default="current", metadata={"later": True})

    def __post_init__(self) -> None:
        if self.view not in ("auto", "dual", "primal"):
            raise ValueError(f'view must be "auto", "dual" or "primal", not {self.view!r}')
        if self.bound not in ("current", "start"):
            raise ValueError(f'bound must be "current" or "start", not {self.bound!r}')

    def refusal(self, problem: Problem) -> str | None:
        dual = dual_refusal(problem) if self.view != "primal" else None
        primal = primal_refusal(problem) if self.view != "dual" else None
        if self.view == "auto":
            return f"{dual} and {primal}" if dual and primal else None
        return dual or primal

    def view_of(self, problem: Problem) -> str:
        """The view that a run on this problem takes."""
        return preferred_view(problem) if self.view == "auto" else self.view

    def describe(self, problem: Problem) -> str:
        name = self.view_of(problem)
        over = "samples" if name == "dual" else "features"
        return f"coordinate steps over {over} ({name} view)"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> CoordinateRun:
        name = self.view_of(problem)
        if name == "dual":
            return CoordinateRun(DualView(problem, warm.dual))
        view = PrimalView(problem, warm.coef)
        if self.bound == "start":
            view.ceiling = problem.primal(view.x)
        return CoordinateRun(view)


class CoordinateRun(Run):
    """A run of the coordinate step."""

    def __init__(self, view: DualView | PrimalView) -> None:
        self.view = view
        self.size = view.size
        self.entries = view.problem.entries * view.problem.width / self.size

    def pair(self) -> Pair:
        return self.view.pair()

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        return self.view.scores(pair, certificate)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int]:
        state = *self.view.fixed, order, self.view.x, self.view.v
        return epoch(*state, NOT_RECORDED) if self.view.problem.width == 1 else block_epoch(*state)

    def adaptive_steps(self, rule: StepRule) -> AdaptiveSteps | None:
        return AdaptiveSteps(self.view, rule) if self.view.problem.width == 1 else None

    def refresh(self) -> None:
        self.view.refresh()

    def state(self) -> dict[str, Any]:
        own = {"x": self.view.x, "v": self.view.v}
        ceiling = getattr(self.view, "ceiling", inf)
        return own if ceiling == inf else {**own, "ceiling": ceiling}

    def restore(self, state: dict[str, Any]) -> None:
        self.view.x[:], self.view.v[:] = state["x"], state["v"]
        if isinstance(self.view, PrimalView):
            self.view.ceiling = state.get("ceiling", inf)
