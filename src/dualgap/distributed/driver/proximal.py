"""Outer proximal steps, for penalties that are not strongly convex.

Partitions need a strongly convex penalty. Where it is not, each outer step adds
(λρ/2)‖w − centre‖² to the objective: for an unpenalised intercept alone, if all else is strongly
convex, or for all coefficients, under L1. After each gap check the centre moves to the present
coefficients. The certificate is that of the problem itself, without the term.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.distributed.data.block import Block, ProximalTerm
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.steps.base import vector


def count_proximal(skeleton: Block) -> int:
    """How many of the last coefficients need the term: none, the intercepts, or all."""
    if skeleton.least_strength > 0.0:
        return 0
    others = skeleton.features.strength[: -skeleton.width]
    only_intercepts = skeleton.intercept is True and others.min(initial=np.inf) > 0.0
    return skeleton.width if only_intercepts else skeleton.coef_size


class OuterSteps:
    """Each gap check ends an outer step, however well it is solved.

    Exact steps would take many rounds each, also where the problem itself is easy. The gap of an
    outer step is, to first order, that of the problem once its dual variables are feasible. A
    proof takes several exchanges, so it waits until this gap is a fraction of that at the last
    proof, or seems small enough for the target.
    """

    def __init__(self, term: ProximalTerm, max_rho: float, width: int) -> None:
        self.term, self.max_rho, self.width = term, max_rho, width
        self.gap = self.term_value = self.due = np.inf
        self.still = False  # whether the centre is where it was

    def _proximal_part(self, w: Floats) -> Floats:
        return w[-len(self.term.centre) :]

    def saw(self, lam: float, gap: float, w: Floats) -> None:
        """The gap and the coefficients of this step at a gap check."""
        away = self._proximal_part(w) - self.term.centre
        self.gap = gap
        rho = self.term.rho_of_each(self.width)
        self.term_value = 0.5 * lam * float(np.sum(rho * away * away))

    @property
    def _expected_gap(self) -> float:
        return self.gap + 2.0 * self.term_value

    @property
    def proof_is_due(self) -> bool:
        """Whether a proof is worth its exchanges."""
        return self._expected_gap <= self.due

    def proven(self, gap: float, target: float) -> None:
        """Take in the gap of a proof."""
        margin = TUNING.target_margin
        enough = margin * target / gap if gap > target else margin
        self.due = self._expected_gap * max(TUNING.proof_fraction, enough)

    def move(self, w: Floats) -> None:
        """Start the next step at these coefficients."""
        rho, centre, _ = self.term
        if self.gap < TUNING.small_gap * self.term_value:
            rho = rho / TUNING.rho_step
        elif self.gap > TUNING.large_gap * self.term_value:
            rho = min(TUNING.rho_step * rho, self.max_rho)
        own = self._proximal_part(w).copy()
        self.still = np.array_equal(own, centre)
        self.term = self.term._replace(rho=rho, centre=own)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {
            "rho": self.term.rho,
            "centre": self.term.centre,
            "gap": self.gap,
            "proximal": self.term_value,
            "due": self.due,
            "still": self.still,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what a checkpoint has kept."""
        centre = vector(state, "centre", len(self.term.centre))
        self.term = self.term._replace(rho=state["rho"], centre=centre)
        self.gap, self.term_value = state["gap"], state["proximal"]
        self.due, self.still = state["due"], state["still"]


def first_outer_step(
    skeleton: Block, squares: Floats, scale: float, w: Floats
) -> OuterSteps | None:
    """The first outer step, with its centre at w; None if the penalty needs none.

    ``squares``: Σ x² of each feature; ``scale``: P(0). ρ as in ``steps/outer/proximal_point.py``.
    """
    count = count_proximal(skeleton)
    if count == 0:
        return None
    n, width = skeleton.totals.n, skeleton.width
    if count < skeleton.coef_size:
        strength = skeleton.features.strength.reshape(skeleton.d, -1).min(axis=1)
        rho = _intercept_rho(squares, strength[:-1])
        return OuterSteps(ProximalTerm(rho, w[-count:].copy()), rho, width)
    q = scale / float(skeleton.loss.lipschitz) ** 2
    q = q if 0.0 < q < np.inf else 1.0
    rho = max(float(np.sum(squares)) / (n * n * skeleton.lam * q), 1e-12)
    factor = _intercept_rho(squares, 1.0) if skeleton.intercept is True else 1.0
    return OuterSteps(ProximalTerm(rho, w.copy(), factor), np.inf, width)


def _intercept_rho(squares: Floats, strength: Any) -> float:
    """ρ of an intercept, where the other features have this strength."""
    rest = float(np.sum(squares[:-1] / strength))
    return TUNING.intercept_rho * (float(squares[-1]) / rest if rest > 0.0 else 1.0)
