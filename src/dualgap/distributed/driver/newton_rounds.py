"""The rounds of Newton steps: each is a step of one machine's method, on sums over partitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.distributed.driver.class_moves import ClassMoves
from dualgap.distributed.driver.moves import Moves
from dualgap.distributed.driver.newton_moves import NewtonMoves
from dualgap.distributed.driver.rounds import Driver
from dualgap.distributed.driver.sample_start import sample_start
from dualgap.distributed.driver.work import busiest
from dualgap.distributed.engines.protocol import PartitionsLostError, retry_until_stable
from dualgap.distributed.schemes.exchanges import Exchanges
from dualgap.distributed.schemes.newton import cheapest_systems, description
from dualgap.distributed.schemes.newton_sums import first_width_of
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Certificate
from dualgap.run.solution import Status
from dualgap.steps.base import Setting, vector
from dualgap.steps.newton.newton import run_on_sample
from dualgap.steps.newton_cg.newton_cg import minimum_of_sample


class NewtonDriver(Driver):
    """A run of Newton steps."""

    def __init__(self, *arguments: Any) -> None:
        self.moves: Moves | None = None
        self.adopted: Floats | None = None  # the coefficients whose slopes are the dual variables
        self.expected = np.inf  # gap of the present coefficients, as the steps see it
        self.due = np.inf  # a proof is worth its exchanges once the expected gap is below
        super().__init__(*arguments)
        self.exchanges = Exchanges(self.engine)
        known = self.scheme.state()
        self.steps = self.moves = self._made(known, Setting(goal=self.goal))
        self.counted_exchanges = 0  # those of the start count for the first round
        if known:
            self._undisturbed(lambda: self._resume(known))
        else:
            self._again()

    def _made(self, known: dict[str, Any], setting: Setting) -> Moves:
        """The method, at the coefficients of a checkpoint, of a sample, or the best constant."""
        facts, skeleton = self.facts, self.skeleton
        systems = cheapest_systems(skeleton, facts.entries)
        self.scheme.how = description(systems, skeleton, facts.entries)
        width = retry_until_stable(lambda: first_width_of(self.engine, facts))
        if known:
            w = vector(known, "w", skeleton.coef_size)
        else:
            w = skeleton.features.origin.copy()
            w[skeleton.free_places] = facts.intercept
        sample = None
        if not known or systems == "classes":
            sample = retry_until_stable(lambda: sample_start(self.engine, facts, self.seed))
        if sample is not None and not known:
            w, width = self._minimum_of(sample, setting)
        if systems == "classes":
            return ClassMoves(facts, self.exchanges, w, setting, sample)
        by_products = systems != "hessians"
        return NewtonMoves(facts, self.exchanges, width, w, setting, by_products=by_products)

    def _minimum_of(self, sample: Problem, setting: Setting) -> tuple[Floats, float]:
        """The minimum for a sample, and the width of kinks there."""
        if sample.width > 1:
            with single_threaded_blas():
                own = setting._replace(goal=None)
                w, width = minimum_of_sample(sample, None, own).ravel(), 0.0
        else:
            run = run_on_sample(sample, self.facts.scale, setting)
            w, width = run.descent.w, run.losses.q
        return joined(self.skeleton, *sample.split(w)), width

    def _undisturbed(self, action: Callable[[], None]) -> None:
        """Repeat what asks for sums until no partition is lost meanwhile."""
        while True:
            try:
                return action()
            except PartitionsLostError as error:
                self.lost += len(error.partitions)

    def _resume(self, known: dict[str, Any]) -> None:
        """Continue from what ``_copy`` has kept."""
        self.steps.resume(known["moves"])
        self.due, self.expected = known["due"], known["expected"]
        self._take_in()
        self.adopted = self.best if known["settled"] else None
        self.counted_exchanges = self.exchanges.count

    def _again(self) -> None:
        """Ask again for the sums at the present coefficients, after partitions were lost."""

        def ask() -> None:
            self.steps.refresh()
            self._take_in()

        self._undisturbed(ask)

    def _take_in(self) -> None:
        """Take over coefficients, u and the objective from the method."""
        at = self.steps
        self.best, self.u = at.w, at.u
        self.primal = at.losses + self.skeleton.penalty_value(at.w)

    # --- moving -------------------------------------------------------------------------------

    def _round(self) -> None:
        began, made = time.perf_counter(), self.exchanges
        sent, received = made.sent, made.received
        self.goal.expected = self._expected_target()
        try:
            moved = self.steps.advance()
            self.expected = self.steps.expected_gap()
            ended = self.steps.end_stage() or self._may_end()
        except PartitionsLostError as error:
            self.lost += len(error.partitions)
            self._again()
            return
        self._take_in()
        if ended:
            self.adopted = self.best
        self.checked = True
        idle = not (moved or ended)
        self.idle_checks = self.idle_checks + 1 if idle else 0
        count = made.count - self.counted_exchanges
        self.counted_exchanges = made.count
        self.visits += count * self.skeleton.totals.n
        self.counted_visits += count * self.skeleton.totals.n
        self.operations += 3 * count * self.skeleton.totals.n
        self.rounds += count
        seconds, busy = time.perf_counter() - began, busiest(made.times)
        made.times.clear()
        self._record(1, seconds, busy, made.sent - sent, made.received - received)
        if len(self.history) % self.limits.copy_every == 0:
            self._copy()

    # --- deciding -----------------------------------------------------------------------------

    def _expected_target(self) -> float:
        """The gap that will suffice if the present coefficients are nearly optimal."""
        return self.goal.gap(max(self.primal - self.expected, self.dual))

    def _seems_enough(self) -> bool:
        return bool(self.expected <= min(self.due, self._expected_target()))

    def _may_end(self) -> bool:
        """If the gap seems to be enough within a stage, make its slopes the dual variables."""
        if not self.steps.staged or not self._seems_enough():
            return False
        self.steps.adopt()
        return True

    def _proof_is_due(self) -> bool:
        """Whether a proof is worth its exchanges; in stages only between two of them."""
        return (not self.steps.staged or self.adopted is self.best) and self._seems_enough()

    def _prove_gap(self) -> Status | None:
        status = super()._prove_gap()
        if status is None:
            self.due = self.expected * TUNING.proof_fraction
        return status

    def prove(self, *, parts: bool = False) -> tuple[Certificate, Floats]:
        """The certificate of the present coefficients, for the slopes there as dual variables."""
        while True:
            lost = self.lost
            if self.adopted is not self.best:
                self._undisturbed(self.steps.adopt)
            proof = super().prove(parts=parts)
            if self.lost == lost:
                self.adopted = self.best
                return proof
            self.adopted = None  # some partitions are back at older dual variables

    @property
    def duals_matter(self) -> bool:
        """Without kinks they follow from the coefficients."""
        return self.moves is not None and self.moves.staged

    # --- keeping ------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Compute u again: from the coefficients, which the dual variables follow from."""
        if self.moves is None:
            self.u = np.zeros(self.skeleton.coef_size)
        else:
            self._again()

    def _copy(self) -> None:
        if self.moves is not None:
            self.scheme.restore(
                {
                    "w": self.steps.w,
                    "moves": self.steps.state(),
                    "due": self.due,
                    "expected": self.expected,
                    "settled": self.duals_matter and self.adopted is self.best,
                }
            )
            super()._copy()
