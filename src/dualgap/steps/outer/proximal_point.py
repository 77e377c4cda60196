"""Proximal point: coordinate steps over samples where the penalty is not strongly convex.

Neither view fits a loss with kinks then (an SVM or a quantile regression with L1, or with an
intercept). Each outer step solves
    min P(w) + (λ/2) Σ_j ρ_j (w_j − centre_j)²
in the dual view, starting from the last dual variables, until its gap is a fraction of the proximal
term (Rockafellar's relative criterion), then moves the centre to its solution. Where all but a few
coefficients have a strongly convex penalty (L2 and an intercept), only those few are held. The
certificate is that of the problem itself. For piecewise linear problems the number of outer steps
is finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, positive
from dualgap.penalties.proximal import Proximal
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair, evaluate
from dualgap.samplings.scores import Scores
from dualgap.steps.base import Setting, Start, Step, vector
from dualgap.steps.coordinate.coordinate import CoordinateRun
from dualgap.steps.coordinate.views import DualView

_INEXACT = 0.1  # gap of an outer step, relative to its proximal term ...
_NEGLIGIBLE = 1e-3  # ... or to the gap of the problem itself, which matters near the end
_FEW, _MANY = 2, 20  # epochs of an outer step below which ρ is halved, above which it is doubled


@dataclass(frozen=True)
class ProximalPoint(Step):
    """Proximal-point steps over dual coordinate steps.

    ``rho``: that of each coefficient that is held; None: chosen from the data.
    """

    rho: float | None = None

    def __post_init__(self) -> None:
        if self.rho is not None:
            positive(self.rho, "rho")

    def refusal(self, problem: Problem) -> str | None:
        return None

    def describe(self, problem: Problem) -> str:
        return "proximal-point outer steps over coordinate steps on samples"

    def start(
        self, problem: Problem, warm: Start, setting: Setting = Setting()
    ) -> ProximalPointRun:
        centre = problem.features.origin if warm.coef is None else warm.coef
        rho = _default_rho(problem)
        if self.rho is not None:
            rho = np.where(rho > 0.0, self.rho, 0.0)
        return ProximalPointRun(problem, rho, centre, warm.dual)


def _default_rho(problem: Problem) -> Floats:
    """λρ such that what is held adds to the curvature q of an average sample as much as the rest.

    Without a rest, or with nothing else, everything is held, such that q fits the scale of y.
    """
    strength = problem.features.strength.reshape(problem.d, -1).min(axis=1)
    held = strength == 0.0
    rest = float(np.sum(problem.column_squares[~held] / strength[~held]))
    if rest > 0.0 and held.any():
        rho = np.where(held, held.sum() * problem.column_squares / rest, 0.0)
        rho = np.where(held & (rho == 0.0), 1.0, rho)  # a feature without entries
    else:
        mean_square = float(np.sum(problem.c * problem.row_squares))
        q = problem.unit_curvature
        rho = np.full(problem.d, max(mean_square / (problem.n * problem.lam * q), 1e-12))
    return np.repeat(rho, problem.width)


class ProximalPointRun(CoordinateRun):
    """A run whose view is that of the current outer step."""

    view: DualView

    def __init__(self, problem: Problem, rho: Floats, centre: Floats, dual: Floats | None) -> None:
        self.problem = problem
        # Where a part is held only, more than its share does not make outer steps any shorter.
        self.most = rho if (rho == 0.0).any() else np.full(len(rho), np.inf)
        self._centre_at(rho, centre)
        super().__init__(DualView(self.inner, dual))

    def _centre_at(self, rho: Floats, centre: Floats) -> None:
        """The problem of an outer step."""
        held, centre = storage.read_only(rho), storage.read_only(centre)
        penalty = Proximal(self.problem.penalty, held, centre)
        self.inner = self.problem.with_penalty(penalty)
        self.epochs = 0

    def move(self, rho: Floats, centre: Floats) -> None:
        """Go on to another outer step, from the dual variables of this one."""
        before = self.inner.penalty.rho
        self._centre_at(rho, centre)
        same = np.array_equal(rho, before)  # then all but the centre is as it was
        self.view = self.view.under(self.inner) if same else DualView(self.inner, self.view.x)

    def pair(self) -> Pair:
        pair = super().pair()
        self.inner_certificate = evaluate(self.inner, pair)
        return pair

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        return super().scores(pair, self.inner_certificate)

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Once the outer step is solved well enough, move the centre; keep outer steps short."""
        self.epochs += 1
        rho, centre = self.inner.penalty.rho, self.inner.penalty.centre
        away = pair.w - centre
        proximal = 0.5 * self.problem.lam * float(np.sum(rho * away * away))
        if self.inner_certificate.gap > max(_INEXACT * proximal, _NEGLIGIBLE * certificate.gap):
            return False
        if self.epochs <= _FEW:
            rho = 0.5 * rho
        elif self.epochs > _MANY:
            rho = np.minimum(2.0 * rho, self.most)
        self.move(rho, pair.w)
        return True

    def state(self) -> dict[str, Any]:
        penalty = self.inner.penalty
        own = {"rho": penalty.rho, "centre": penalty.centre, "epochs": self.epochs}
        return {**super().state(), **own}

    def restore(self, state: dict[str, Any]) -> None:
        size = self.problem.coef_size
        self._centre_at(vector(state, "rho", size), vector(state, "centre", size))
        self.view = DualView(self.inner, vector(state, "x", self.problem.dual_size))
        self.epochs = state["epochs"]
        super().restore(state)
