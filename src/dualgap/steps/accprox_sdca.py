"""AccProx-SDCA: outer acceleration around Prox-SDCA (Shalev-Shwartz, Zhang 2013).

Outer step: minimise P(w) + (κ/2)‖w − y‖² by dual coordinate steps to a gap that shrinks with the
steps, then extrapolate, y = w + β(w − last w).  κ = max c_i‖x_i‖²/γ − λμ makes the inner problem so
easy that a few passes gain a digit. With η = √(λμ/2/(λμ/2 + κ)) and β = (1 − η)/(1 + η), the error
after t outer steps is at most (1 + η⁻²)(P(0) − D(0))(1 − η/2)ᵗ; each is solved to η/(2(1 + η⁻²)) of
the last. Rate: √(nR²/(λγ)) passes·n per digit, up to logarithms, where SDCA needs R²/(λγ).
Where κ ≤ 9λμ nothing is gained, and the method is Prox-SDCA.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap._validate import Floats
from dualgap.certificate import Certificate, Pair
from dualgap.problem import Problem
from dualgap.steps.base import Setting, Step
from dualgap.steps.coordinate import CoordinateRun
from dualgap.steps.proximal_point import ProximalPointRun
from dualgap.steps.quartz import lacks_for_rate
from dualgap.steps.start import Start
from dualgap.steps.views import DualView

_WORTH = 9.0  # κ/λμ below which acceleration gains nothing


@dataclass(frozen=True)
class AccProxSDCA(Step):
    """Accelerated outer steps over dual coordinate steps."""

    usual = "accprox-sdca"

    def refusal(self, problem: Problem) -> str | None:
        return lacks_for_rate(problem)

    def describe(self, problem: Problem) -> str:
        return "accelerated outer steps over coordinate steps on samples"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> CoordinateRun:
        strength = problem.lam * float(problem.features.strength.min())
        kappa = float(np.max(problem.c * problem.row_squares)) / problem.loss.gamma - strength
        if kappa <= _WORTH * strength:
            return CoordinateRun(DualView(problem, warm.dual))
        centre = problem.features.origin if warm.coef is None else warm.coef
        return AcceleratedRun(problem, kappa, strength, centre, warm)


class AcceleratedRun(ProximalPointRun):
    """Proximal-point steps around extrapolated centres."""

    def __init__(
        self, problem: Problem, kappa: float, strength: float, centre: Floats, warm: Start
    ) -> None:
        super().__init__(problem, kappa / problem.lam, centre, warm.dual)
        self.eta = float(np.sqrt(0.5 * strength / (0.5 * strength + kappa)))
        self.last = centre
        self.steps = 0
        self.first_gap: float | None = None

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        if self.first_gap is None:
            self.first_gap = certificate.gap
        allowed = 0.5 * self.eta * self.first_gap * (1.0 - 0.5 * self.eta) ** self.steps
        if self.inner_certificate.gap > allowed:
            return False
        beta = (1.0 - self.eta) / (1.0 + self.eta)
        centre = pair.w + beta * (pair.w - self.last)
        self.last = pair.w
        self.steps += 1
        self.move(self.inner.penalty.rho, centre)
        return True
