"""Proximal point: coordinate steps for a loss with kinks and a penalty that is not strongly convex.

Neither view fits such a problem (an SVM or a quantile regression with L1). Each outer step solves
    min P(w) + (λρ/2)‖w − centre‖²
in the dual view, starting from the last dual variables, until its gap is a fraction of the proximal
term (Rockafellar's relative criterion), then moves the centre to its solution. The certificate is
that of the problem itself. For piecewise linear problems the number of outer steps is finite.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from dualgap._validate import Floats
from dualgap.certificate import Certificate, Pair, evaluate
from dualgap.penalties.proximal import Proximal
from dualgap.problem import Problem
from dualgap.steps.coordinate import CoordinateRun
from dualgap.steps.start import Start
from dualgap.steps.views import DualView, Scores

_INEXACT = 0.1  # gap of an outer step, relative to its proximal term


@dataclass(frozen=True)
class ProximalPoint:
    """Proximal-point steps over dual coordinate steps; ``rho`` None: chosen from the data."""

    rho: float | None = None

    def refusal(self, problem: Problem) -> str | None:
        if ((problem.features.low == 0.0) & (problem.features.high == 0.0)).any():
            return "a feature without a penalty needs a loss without kinks"
        return None

    def describe(self, problem: Problem) -> str:
        return "proximal-point outer steps over coordinate steps on samples"

    def start(self, problem: Problem, warm: Start) -> ProximalPointRun:
        centre = problem.features.origin if warm.coef is None else warm.coef
        rho = _default_rho(problem) if self.rho is None else self.rho
        return ProximalPointRun(problem, rho, centre, warm.dual)


def _default_rho(problem: Problem) -> float:
    """λρ such that an average sample has a curvature q of order one."""
    mean_square = float(np.sum(problem.c * problem.row_squares))
    return float(max(mean_square / (problem.n * problem.lam), 1e-12))


class ProximalPointRun(CoordinateRun):
    def __init__(self, problem: Problem, rho: float, centre: Floats, dual: Floats | None) -> None:
        self.problem = problem
        self.centre = centre.copy()
        self.inner = copy.copy(problem)
        self.inner.__dict__.pop("features", None)
        self.inner.__dict__.pop("scale", None)
        self.inner.penalty = Proximal(problem.penalty, rho, self.centre)
        super().__init__(DualView(self.inner, dual))

    def pair(self) -> Pair:
        pair = super().pair()
        self.inner_certificate = evaluate(self.inner, pair)
        return pair

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        return super().scores(pair, self.inner_certificate)

    def adapt(self, certificate: Certificate) -> None:
        """Move the centre once the outer step is solved well enough."""
        pair = super().pair()
        away = pair.w - self.centre
        proximal = 0.5 * self.problem.lam * self.inner.penalty.rho * float(away @ away)
        if self.inner_certificate.gap <= _INEXACT * proximal:
            self.centre[:] = pair.w
