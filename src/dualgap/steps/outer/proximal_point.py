"""Proximal point: coordinate steps over samples if the penalty is not strongly convex.

Losses with kinks then fit neither view (an SVM or a quantile regression with L1, or with an
intercept). Each outer step solves
    min P(w) + (λ/2) Σ_j ρ_j (w_j − centre_j)²
in the dual view, starting from the last dual variables, until its gap is a fraction of the proximal
term (Rockafellar's relative criterion). Then the centre moves to the solution. If all but a few
coefficients have a strongly convex penalty (L2 and an intercept), only these few get a proximal
term. The certificate is that of the problem itself. For piecewise linear problems the number of
outer steps is finite.
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


@dataclass(frozen=True)
class Tuning:
    """Constants that change the path of a run, and not its optimum. None of them was measured
    against other values."""

    # An outer step ends when its gap is this fraction of the proximal term: accurate outer steps
    # against more of them ...
    relative_gap: float = 0.1
    # ... or this fraction of the gap of the problem itself, which decides near the end.
    negligible_gap: float = 1e-3
    # ρ is halved after outer steps of at most so many epochs, and doubled after longer ones than
    # the latter: a smaller ρ needs fewer outer steps, and makes each of them harder.
    few_epochs: int = 2
    many_epochs: int = 20
    # The least ρ chosen from the data, so that it is never 0.
    least_rho: float = 1e-12


TUNING = Tuning()


@dataclass(frozen=True)
class ProximalPoint(Step):
    """Proximal-point steps over dual coordinate steps.

    ``rho``: that of each coefficient with a proximal term; None: chosen from the data.
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
    """ρ for the features whose penalty is not strongly convex, such that they contribute as much to
    the curvature q of an average sample as the other features do.

    If there are no others, or no such features, all features get a ρ such that q fits the scale of
    y.
    """
    strength = problem.features.strength.reshape(problem.d, -1).min(axis=1)
    weak = strength == 0.0
    others = float(np.sum(problem.column_squares[~weak] / strength[~weak]))
    if others > 0.0 and weak.any():
        rho = np.where(weak, weak.sum() * problem.column_squares / others, 0.0)
        rho = np.where(weak & (rho == 0.0), 1.0, rho)  # a feature without entries
    else:
        mean_square = float(np.sum(problem.c * problem.row_squares))
        q = problem.unit_curvature
        least = TUNING.least_rho
        rho = np.full(problem.d, max(mean_square / (problem.n * problem.lam * q), least))
    return np.repeat(rho, problem.width)


class ProximalPointRun(CoordinateRun):
    """A run whose view is that of the current outer step."""

    view: DualView

    def __init__(self, problem: Problem, rho: Floats, centre: Floats, dual: Floats | None) -> None:
        self.problem = problem
        # If only some features have a ρ, a larger one does not make outer steps any shorter.
        self.largest_rho = rho if (rho == 0.0).any() else np.full(len(rho), np.inf)
        self._centre_at(rho, centre)
        super().__init__(DualView(self.inner, dual))

    def _centre_at(self, rho: Floats, centre: Floats) -> None:
        """Set up the problem of an outer step."""
        rho, centre = storage.read_only(rho), storage.read_only(centre)
        penalty = Proximal(self.problem.penalty, rho, centre)
        self.inner = self.problem.with_penalty(penalty)
        self.epochs = 0

    def move(self, rho: Floats, centre: Floats) -> None:
        """Begin another outer step, from the dual variables of this one."""
        before = self.inner.penalty.rho
        self._centre_at(rho, centre)
        same = np.array_equal(rho, before)  # then only the centre has changed
        self.view = self.view.under(self.inner) if same else DualView(self.inner, self.view.x)

    def pair(self) -> Pair:
        pair = super().pair()
        self.inner_certificate = evaluate(self.inner, pair)
        return pair

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        return super().scores(pair, self.inner_certificate)

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """If the outer step is solved well enough, move the centre and adapt ρ."""
        self.epochs += 1
        rho, centre = self.inner.penalty.rho, self.inner.penalty.centre
        away = pair.w - centre
        proximal = 0.5 * self.problem.lam * float(np.sum(rho * away * away))
        negligible = TUNING.negligible_gap * certificate.gap
        if self.inner_certificate.gap > max(TUNING.relative_gap * proximal, negligible):
            return False
        if self.epochs <= TUNING.few_epochs:
            rho = 0.5 * rho
        elif self.epochs > TUNING.many_epochs:
            rho = np.minimum(2.0 * rho, self.largest_rho)
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
