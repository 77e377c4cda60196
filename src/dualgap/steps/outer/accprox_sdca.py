"""AccProx-SDCA: outer acceleration around Prox-SDCA (Shalev-Shwartz, Zhang 2013).

Outer step: minimise P(w) + (κ/2)‖w − y‖² by dual coordinate steps, to a gap that shrinks from step
to step, then extrapolate, y = w + β(w − last w).  κ = max c_i‖x_i‖²/γ − λμ makes the inner problem
so easy that a few passes gain a digit. With η = √(λμ/2/(λμ/2 + κ)) and β = (1 − η)/(1 + η), the
error after t outer steps is at most (1 + η⁻²)(P(0) − D(0))(1 − η/2)ᵗ; each is solved to
η/(2(1 + η⁻²)) of the last. Rate: √(nR²/(λγ)) passes·n per digit, up to logarithms, where SDCA needs
R²/(λγ). If κ ≤ 9λμ nothing is gained, and the method is Prox-SDCA. These accuracies are far
stricter than practice needs: on text with λ = 1e-6 to 1e-8, two passes an outer step were 2.6 to 3
times faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, whole
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair, evaluate
from dualgap.steps.base import Setting, Start, Step, vector
from dualgap.steps.coordinate.coordinate import CoordinateRun
from dualgap.steps.coordinate.views import DualView
from dualgap.steps.outer.proximal_point import ProximalPointRun
from dualgap.steps.sets.quartz import rate_refusal


@dataclass(frozen=True)
class Tuning:
    """The constant of AccProx-SDCA."""

    # κ/λμ up to which acceleration gains nothing, and Prox-SDCA runs instead. Not
    # measured.
    least_kappa: float = 9.0


TUNING = Tuning()


@dataclass(frozen=True)
class AccProxSDCA(Step):
    """Accelerated outer steps over dual coordinate steps.

    ``passes``: passes of an outer step; None: as many as the accuracy of the theory takes.
    """

    passes: int | None = None

    usual = "accprox-sdca"

    def __post_init__(self) -> None:
        if self.passes is not None:
            whole(self.passes, "passes", 1)

    def refusal(self, problem: Problem) -> str | None:
        return rate_refusal(problem)

    def describe(self, problem: Problem) -> str:
        return "accelerated outer steps over coordinate steps on samples"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> CoordinateRun:
        strength = problem.lam * float(problem.features.strength.min())
        kappa = float(np.max(problem.c * problem.row_squares)) / problem.loss.gamma - strength
        if kappa <= TUNING.least_kappa * strength:
            return CoordinateRun(DualView(problem, warm.dual))
        centre = problem.features.origin if warm.coef is None else warm.coef
        return AcceleratedRun(problem, kappa, strength, centre, warm, self.passes)


class AcceleratedRun(ProximalPointRun):
    """Proximal-point steps around extrapolated centres."""

    def __init__(
        self,
        problem: Problem,
        kappa: float,
        strength: float,
        centre: Floats,
        warm: Start,
        passes: int | None,
    ) -> None:
        rho = np.full(problem.coef_size, kappa / problem.lam)
        super().__init__(problem, rho, centre, warm.dual)
        self.eta = float(np.sqrt(0.5 * strength / (0.5 * strength + kappa)))
        self.last = centre
        self.passes = passes
        self.steps = 0
        self.passes_made = 0  # in this outer step
        # P(0) − D(0), on which the accuracies of outer steps rest.
        self.first_gap = 0.0 if passes else evaluate(problem, self.pair()).gap

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        self.passes_made += 1
        if not self._is_solved():
            return False
        self.passes_made = 0
        beta = (1.0 - self.eta) / (1.0 + self.eta)
        centre = pair.w + beta * (pair.w - self.last)
        self.last = pair.w
        self.steps += 1
        self.move(self.inner.penalty.rho, centre)
        return True

    def _is_solved(self) -> bool:
        """Whether the inner problem is solved well enough for the next outer step."""
        if self.passes is not None:
            return self.passes_made >= self.passes
        return bool(self.inner_certificate.gap <= self.allowed_gap)

    @property
    def allowed_gap(self) -> float:
        """The gap of the inner problem at which this outer step ends."""
        return float(0.5 * self.eta * self.first_gap * (1.0 - 0.5 * self.eta) ** self.steps)

    def state(self) -> dict[str, Any]:
        own = {
            "last": self.last,
            "steps": self.steps,
            "made": self.passes_made,
            "first": self.first_gap,
        }
        return {**super().state(), **own}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.last = vector(state, "last", self.problem.coef_size)
        self.steps, self.passes_made, self.first_gap = (
            state[name] for name in ("steps", "made", "first")
        )
