"""The loop of the driver: rounds until the gap is proven, even while workers fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.driver.checkpoint import CheckpointFolder, restore
from dualgap.distributed.driver.facts import DriverFacts, objectives
from dualgap.distributed.driver.projection import Projection
from dualgap.distributed.driver.state import RunState
from dualgap.distributed.driver.work import WorkSchedule, busiest
from dualgap.distributed.engines.protocol import Engine, PartitionsLostError, retry_until_stable
from dualgap.distributed.history import RoundHistory
from dualgap.distributed.messages import RoundAnswer, RoundMessage, sum_of
from dualgap.distributed.schemes.base import Scheme, coefficients
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.proof.goal import Goal
from dualgap.run.giving_up import FailedProofs
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import Status


class StoppingLimits(NamedTuple):
    """When to stop, and how many rounds to make between two copies of the dual variables."""

    tol: float
    max_epochs: float
    max_seconds: float
    copy_every: int
    relative_to: str

    def goal_of(self, scale: float, least: float) -> Goal:
        return Goal(self.tol, scale, least, self.relative_to)


class Driver(RunState, FailedProofs):
    """One run: its state, its limits and its record."""

    def __init__(
        self,
        engine: Engine,
        facts: DriverFacts,
        scheme: Scheme,
        schedule: WorkSchedule,
        limits: StoppingLimits,
        seed: int,
        callback: Callable[[Snapshot], Any] | None,
        folder: CheckpointFolder | None,
        saved: dict[str, Any] | None,
    ) -> None:
        super().__init__(engine, facts, scheme)
        self.schedule = schedule
        self.limits, self.goal = limits, limits.goal_of(facts.scale, facts.least)
        self.seed, self.callback, self.folder = seed, callback, folder
        self.history = RoundHistory()
        self.progress: Any = None
        self.projection = Projection()
        self.rounds, self.visits, self.operations = 0, 0.0, 0.0
        self.counted_visits = 0.0  # for max_epochs: those of one round count as one epoch at most
        self.visits_since_check, self.moved_since_check = np.inf, 0
        self.idle_checks = 0  # gap checks in a row between which nothing moved
        self.primal, self.dual = np.inf, facts.least
        self.checked = False  # whether the last round was a gap check
        self.interrupted: Callable[[], bool] = bool  # whether Ctrl-C asks for an end
        self.earlier_seconds = 0.0  # of the run before it was resumed from a checkpoint
        self.started = time.perf_counter()
        retry_until_stable(lambda: scheme.start(engine))
        if saved is None:
            self.refresh()
            self._record(0, 0.0, 0.0, 0, 0)
            self._copy()
        else:
            restore(self, saved)

    @property
    def duals_matter(self) -> bool:
        """Whether the next rounds depend on the dual variables, so that copies are worth while."""
        return True

    @property
    def gap(self) -> float:
        return max(self.primal - self.dual, 0.0)

    @property
    def target(self) -> float:
        """The gap at which the run may stop, given what it has proven."""
        return self.goal.gap(self.dual)

    @property
    def epochs(self) -> float:
        """Samples visited / samples."""
        return self.visits / self.skeleton.totals.n

    @property
    def passes(self) -> float:
        """Epochs, and passes over the data that only evaluated the gap."""
        return self.epochs + self.gap_passes

    @property
    def seconds(self) -> float:
        return self.earlier_seconds + time.perf_counter() - self.started

    # --- deciding -----------------------------------------------------------------------------

    def run_to_the_end(self) -> Status:
        try:
            while True:
                status = self._decide()
                if status is not None:
                    self._store_end(status)
                    return status
                self._round()
        except KeyboardInterrupt:
            return Status.INTERRUPTED

    def _decide(self) -> Status | None:
        """Whether to stop, and why."""
        if self.progress is not None:
            self.progress.show(self.passes, self.gap, self.target)
        if self.checked:
            self.checked = False
            status = self._prove_gap() if self._proof_is_due() else None
            if status is not None:
                return status
            if self.outer is not None:
                self.outer.move(coefficients(self.inner, self.u))
            if self.callback is not None and self.callback(self._snapshot()):
                return Status.CALLBACK
            if self.idle_checks >= TUNING.idle_checks:
                return Status.STALLED
        if self.interrupted():
            return Status.INTERRUPTED
        if self.counted_visits >= self.limits.max_epochs * self.skeleton.totals.n:
            return Status.MAX_EPOCHS
        return Status.MAX_SECONDS if self._out_of_time() else None

    def _out_of_time(self) -> bool:
        return self.seconds - self.earlier_seconds >= self.limits.max_seconds

    def _proof_is_due(self) -> bool:
        if self.outer is not None:
            return self.outer.proof_is_due
        return self.gap <= self.target

    def _prove_gap(self) -> Status | None:
        """Prove the gap. Gap checks rest on updated vectors; the proof rests on the data.

        If it misses the target, the run continues from u as the proof has computed it.
        """
        proof, _ = self.prove()
        target = self.goal.gap(proof.dual)
        if proof.gap <= target:
            return Status.CONVERGED
        if self.outer is not None:
            self.primal, self.dual = min(self.primal, proof.primal), max(self.dual, proof.dual)
            self.outer.proven(proof.gap, target)
            return None
        if self.give_up_after(proof.gap):
            return Status.STALLED
        self.primal, self.dual = proof.primal, proof.dual
        return None

    def _snapshot(self) -> Snapshot:
        return Snapshot.of(self, self.skeleton, self.best)

    # --- moving -------------------------------------------------------------------------------

    def _round(self) -> None:
        work = self.schedule.of_round(self.rounds)
        began = time.perf_counter()
        points: tuple[Floats, ...] = ()
        try:
            inner, proximal = self.inner, self.proximal
            self.scheme.before_round(self.engine, inner, self.u, work, proximal)
            if self.visits_since_check >= self.skeleton.totals.n:
                points = self.scheme.points(inner, self.u)
            message = RoundMessage(
                self.scheme.steps, self.u, work, self.rounds, self.seed, points, proximal
            )
            answers = self.scheme.run_round(self.engine, message)
        except PartitionsLostError as error:
            self.lost += len(error.partitions)
            self.refresh()
            self.visits_since_check = np.inf
            return
        seconds = time.perf_counter() - began
        if points:
            self._check_gap(points, answers)
        self.u = self.u + sum_of([answer.change for answer in answers])
        self._count(answers)
        self.rounds += 1
        busy = busiest(answers)
        sent = self.u.nbytes + sum(w.nbytes for w in points)
        sent += 0 if proximal is None else proximal.centre.nbytes
        received = sum(answer.change.nbytes for answer in answers)
        self._record(work, seconds, busy, self.engine.size * sent, received)
        self.schedule.learn(seconds, busy, self.gap)
        if self.rounds % self.limits.copy_every == 0:
            self._copy()

    def _check_gap(self, points: tuple[Floats, ...], answers: list[RoundAnswer]) -> None:
        """Keep the best primal and dual objective, as they were before the round."""
        self.checked, self.visits_since_check = True, 0.0
        self.gap_passes += len(points)
        still = self.outer is None or self.outer.still
        idle = still and self.rounds and not self.moved_since_check
        self.idle_checks = self.idle_checks + 1 if idle else 0
        self.moved_since_check = 0
        inner_primal, inner_dual = np.inf, -np.inf
        for w, found in zip(points, zip(*(answer.gap_terms for answer in answers))):
            primal, dual = objectives(self.facts, w, self.u, list(found))
            if primal < self.primal:
                self.primal, self.best = primal, w
            self.dual = max(self.dual, dual)
            if self.outer is not None:
                inner = self.facts._replace(skeleton=self.inner)
                primal, dual = objectives(inner, w, self.u, list(found))
                inner_primal, inner_dual = min(inner_primal, primal), max(inner_dual, dual)
        if self.outer is None:
            self.projection.watch(self.rounds, self.seconds, self.gap, self.target)
        else:
            self.outer.saw(self.skeleton.lam, inner_primal - inner_dual, points[-1])

    def _count(self, answers: list[RoundAnswer]) -> None:
        visits = sum(answer.visits for answer in answers)
        moved = sum(answer.moved for answer in answers)
        self.visits += visits
        self.counted_visits += min(visits, self.skeleton.totals.n)
        self.visits_since_check += visits
        self.moved_since_check += moved
        self.operations += visits + moved

    # --- keeping ------------------------------------------------------------------------------

    def _copy(self) -> None:
        """Copy the dual variables, from which lost partitions are restored from now on."""
        try:
            if self.duals_matter:
                self.engine.keep()
            if self.folder is not None:
                self.folder.write(self)
        except PartitionsLostError as error:
            self.lost += len(error.partitions)
            self.refresh()

    def _store_end(self, status: Status) -> None:
        """Write the end of a run to the checkpoint; a resumed run proves a converged one again."""
        if self.folder is not None:
            self.checked = status is Status.CONVERGED
            self._copy()

    def _record(self, work: int, seconds: float, busy: float, sent: float, received: float) -> None:
        self.history.append(
            self.epochs,
            self.passes,
            self.visits,
            self.rounds,
            self.operations,
            self.seconds,
            self.primal,
            self.dual,
            self.gap,
            work,
            seconds,
            busy,
            sent,
            received,
            self.engine.workers,
            self.lost,
        )
        self.lost = 0
