"""The rounds of Newton steps: each is a step of one machine's method, on sums over partitions."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dualgap.distributed.driver.rounds import Driver
from dualgap.distributed.driver.sample_start import sample_start
from dualgap.distributed.driver.work import busiest
from dualgap.distributed.engines.protocol import PartitionsLostError, retry_until_stable
from dualgap.distributed.schemes.newton import solved_by_products
from dualgap.distributed.schemes.newton_sums import (
    PartitionedLosses,
    SampleSumsProblem,
    Slopes,
    first_width_of,
)
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Certificate
from dualgap.run.solution import Status
from dualgap.steps.base import Setting, Start, vector
from dualgap.steps.newton.newton import NewtonRun, run_on_sample


class NewtonDriver(Driver):
    """A run of Newton steps."""

    def __init__(self, *arguments: Any) -> None:
        self.newton: Any = None  # the run, a NewtonRun
        self.adopted: Floats | None = None  # the coefficients whose slopes are the dual variables
        self.expected = np.inf  # gap of the present coefficients, as the steps see it
        self.due = np.inf  # a proof is worth its exchanges once the expected gap is below
        super().__init__(*arguments)
        problem: Any = SampleSumsProblem(self.facts)
        width = retry_until_stable(lambda: first_width_of(self.engine, self.facts))
        many = solved_by_products(self.skeleton)
        self.losses = PartitionedLosses(problem, self.engine, width, by_products=many)
        known = self.scheme.state()
        setting = Setting(goal=self.goal)
        w = self._first(known, setting)
        self.newton = NewtonRun(problem, Start(coef=w), setting, self.losses)
        self.newton.steps_at_once = 1
        self.counted_exchanges = 0  # those of the start count for the first round
        if known:
            retry_until_stable(lambda: self._resume(known))
        else:
            self._again()

    def _first(self, known: dict[str, Any], setting: Setting) -> Floats:
        """The coefficients to start from: of a checkpoint, of a sample, or the best constant."""
        if known:
            self.losses.restore(known["losses"])
            return vector(known, "w", self.skeleton.coef_size)
        sample = retry_until_stable(lambda: sample_start(self.engine, self.facts, self.seed))
        if sample is not None:
            run = run_on_sample(sample, self.facts.scale, setting)
            self.losses.q = run.losses.q
            return joined(self.skeleton, *sample.split(run.descent.w))
        w = self.skeleton.features.origin.copy()
        w[self.skeleton.free_places] = self.facts.intercept
        return w

    def _resume(self, known: dict[str, Any]) -> None:
        """Continue from what ``_copy`` has kept."""
        self.newton.refresh()
        at = self.newton.descent
        base, move = (vector(known, name, self.skeleton.coef_size) for name in ("base", "move"))
        at.accept(self.losses.response(Slopes(base, move, known["length"])))
        at.damping, at.decrement = known["damping"], known["decrement"]
        self.newton.steps, self.due, self.expected = known["steps"], known["due"], known["expected"]
        self._take_in()
        self.adopted = self.best if known["settled"] else None
        self.counted_exchanges = self.losses.exchanges

    def _again(self) -> None:
        """Ask again for the sums at the present coefficients, after partitions were lost."""
        while True:
            try:
                self.losses.forget()
                self.newton.refresh()
                self._take_in()
                return
            except PartitionsLostError as error:
                self.lost += len(error.partitions)

    def _take_in(self) -> None:
        """Take over coefficients, u and the objective from the method."""
        at = self.newton.descent
        self.best, self.u = at.w, at.u
        penalty = self.skeleton.penalty_value(at.w)
        self.primal = self.losses.sums(at.response.b).value + penalty

    # --- moving -------------------------------------------------------------------------------

    def _round(self) -> None:
        began, losses, run = time.perf_counter(), self.losses, self.newton
        sent, received = losses.sent, losses.received
        self.goal.expected = self._expected_target()
        try:
            moved = run.advance(None)[0]
            self.expected = self._expected_gap()
            ended = run.end_stage() or self._may_end()
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
        made = losses.exchanges - self.counted_exchanges
        self.counted_exchanges = losses.exchanges
        self.visits += made * self.skeleton.totals.n
        self.counted_visits += made * self.skeleton.totals.n
        self.operations += 3 * made * self.skeleton.totals.n
        self.rounds += made
        seconds, busy = time.perf_counter() - began, busiest(losses.answers)
        losses.answers.clear()
        self._record(1, seconds, busy, losses.sent - sent, losses.received - received)
        if self.folder is not None and len(self.history) % self.limits.copy_every == 0:
            self._copy()

    # --- deciding -----------------------------------------------------------------------------

    def _expected_gap(self) -> float:
        """About the gap of the present coefficients, once the dual variables are feasible."""
        at = self.newton.descent
        moved = self.losses.multiplier_move(at.response.b)
        return float(at.decrement + at.coefficient_gap() + moved)

    def _expected_target(self) -> float:
        """The gap that will suffice if the present coefficients are nearly optimal."""
        return self.goal.gap(max(self.primal - self.expected, self.dual))

    def _seems_enough(self) -> bool:
        return bool(self.expected <= min(self.due, self._expected_target()))

    def _may_end(self) -> bool:
        """If the gap seems to be enough within a stage, make its slopes the dual variables."""
        if self.losses.q == 0.0 or not self._seems_enough():
            return False
        at = self.newton.descent
        self.losses.adopt(at.response.b, self.losses.q)
        at.accept(self.losses.respond(at.response.z))
        return True

    def _proof_is_due(self) -> bool:
        """Whether a proof is worth its exchanges; in stages only between two of them."""
        return (self.losses.q == 0.0 or self.adopted is self.best) and self._seems_enough()

    def _prove_gap(self) -> Status | None:
        status = super()._prove_gap()
        if status is None:
            self.due = self.expected * TUNING.proof_fraction
        return status

    def prove(self) -> tuple[Certificate, Floats]:
        """The certificate of the present coefficients, for the slopes there as dual variables."""
        while True:
            lost = self.lost
            if self.adopted is not self.best:
                try:
                    self.losses.adopt(self.newton.descent.response.b, self.losses.q)
                except PartitionsLostError as error:
                    self.lost += len(error.partitions)
                    continue
            proof = super().prove()
            if self.lost == lost:
                self.adopted = self.best
                return proof
            self.adopted = None  # some partitions are back at older dual variables

    # --- keeping ------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Compute u again: from the coefficients, which the dual variables follow from."""
        if self.newton is None:
            self.u = np.zeros(self.skeleton.coef_size)
        else:
            self._again()

    def _copy(self) -> None:
        if self.newton is not None:
            at = self.newton.descent
            self.scheme.restore(
                {
                    "w": at.w,
                    "base": at.response.b.base,
                    "move": at.response.b.move,
                    "length": at.response.b.length,
                    "due": self.due,
                    "expected": self.expected,
                    "settled": self.adopted is self.best,
                    "losses": self.losses.state(),
                    "damping": at.damping,
                    "decrement": at.decrement,
                    "steps": self.newton.steps,
                }
            )
        super()._copy()
