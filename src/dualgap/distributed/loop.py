"""The driver: rounds until the gap is proven, whatever happens to those who work on them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.checkpoint import Folder, put_back
from dualgap.distributed.driver_facts import Whole, bounds
from dualgap.distributed.engine import Crew, LostError, insisting
from dualgap.distributed.history import RoundHistory
from dualgap.distributed.local import Answer, Round, advance
from dualgap.distributed.pace import Pace, busiest
from dualgap.distributed.packed import summed
from dualgap.distributed.proving import Standing
from dualgap.distributed.schemes import Scheme, coefficients
from dualgap.linalg.validate import Floats
from dualgap.problem.intercept import split
from dualgap.run.loop import Snapshot
from dualgap.run.solution import Status

# Proofs in a row that fall short of what the updated vectors promised, without getting better.
_DOUBTS = 5
# Looks in a row at which no sample had moved since the last one.
_IDLE = 3


class Limits(NamedTuple):
    """When to stop, and how often to copy the dual variables."""

    target: float
    max_epochs: float
    max_seconds: float
    copy_every: int


class Loop(Standing):
    """State of one run."""

    def __init__(
        self,
        crew: Crew,
        whole: Whole,
        scheme: Scheme,
        pace: Pace,
        limits: Limits,
        seed: int,
        callback: Callable[[Snapshot], Any] | None,
        folder: Folder | None,
        saved: dict[str, Any] | None,
    ) -> None:
        super().__init__(crew, whole, scheme)
        self.pace = pace
        self.limits, self.seed, self.callback, self.folder = limits, seed, callback, folder
        self.history = RoundHistory()
        self.progress: Any = None
        self.number, self.visits, self.operations = 0, 0.0, 0.0
        self.spent = 0.0  # visits, of which those of one round count as one epoch at most
        self.unseen, self.moved, self.idle = np.inf, 0, 0  # samples since the last look
        self.doubts, self.doubtful = 0, np.inf
        self.primal, self.dual = np.inf, whole.least
        self.looked = False
        self.interrupted: Callable[[], bool] = bool  # whether Ctrl-C asks for an end
        self.earlier = 0.0  # seconds of the run that a checkpoint has kept
        self.started = time.perf_counter()
        insisting(lambda: scheme.start(crew))
        if saved is None:
            self.refresh()
            self._record(0, 0.0, 0.0, 0, 0)
            self._copy()
        else:
            put_back(self, saved)

    @property
    def gap(self) -> float:
        return max(self.primal - self.dual, 0.0)

    @property
    def epochs(self) -> float:
        """Samples visited / samples."""
        return self.visits / self.frame.shape.n

    @property
    def passes(self) -> float:
        """The same, with passes that only judged."""
        return self.epochs + self.looks

    @property
    def seconds(self) -> float:
        return self.earlier + time.perf_counter() - self.started

    # --- deciding -----------------------------------------------------------------------------

    def run_to_the_end(self) -> Status:
        try:
            while True:
                status = self._verdict()
                if status is not None:
                    self._keep(status)
                    return status
                self._round()
        except KeyboardInterrupt:
            return Status.INTERRUPTED

    def _verdict(self) -> Status | None:
        """Whether to stop, and why."""
        self.progress.show(self.passes, self.gap)
        if self.looked:
            self.looked = False
            verdict = self._doubt() if self._is_promising() else None
            if verdict is not None:
                return verdict
            if self.outer is not None:
                self.outer.move(coefficients(self.inner, self.u))
            if self.callback is not None and self.callback(self._snapshot()):
                return Status.CALLBACK
            if self.idle >= _IDLE:
                return Status.STALLED
        if self.interrupted():
            return Status.INTERRUPTED
        if self.spent >= self.limits.max_epochs * self.frame.shape.n:
            return Status.MAX_EPOCHS
        return Status.MAX_SECONDS if self._out_of_time() else None

    def _out_of_time(self) -> bool:
        return self.seconds - self.earlier >= self.limits.max_seconds

    def _is_promising(self) -> bool:
        """Whether the gap, as far as it is known, is worth a proof."""
        if self.outer is not None:
            return self.outer.is_due
        return self.gap <= self.limits.target

    def _doubt(self) -> Status | None:
        """Prove what was seen on the way, which rests on updated vectors; else go on from u as the
        data has it."""
        proof, _ = self.prove()
        if proof.gap <= self.limits.target:
            return Status.CONVERGED
        if self.outer is not None:
            self.primal, self.dual = min(self.primal, proof.primal), max(self.dual, proof.dual)
            self.outer.proven(proof.gap, self.limits.target)
            return None
        self.doubts = 0 if proof.gap < 0.9 * self.doubtful else self.doubts + 1
        if self.doubts >= _DOUBTS:
            return Status.STALLED
        self.doubtful = min(self.doubtful, proof.gap)
        self.primal, self.dual = proof.primal, proof.dual
        return None

    def _snapshot(self) -> Snapshot:
        coef, intercept = split(self.frame, self.best.copy())
        return Snapshot(
            epoch=self.epochs,
            passes=self.passes,
            seconds=self.seconds,
            primal=self.primal,
            dual=self.dual,
            gap=self.gap,
            target=self.limits.target,
            coef=coef,
            intercept=intercept,
        )

    # --- moving -------------------------------------------------------------------------------

    def _round(self) -> None:
        work = self.pace.of_round(self.number)
        began = time.perf_counter()
        points: tuple[Floats, ...] = ()
        try:
            inner, held = self.inner, self.held
            self.scheme.before_round(self.crew, inner, self.u, work, held)
            if self.unseen >= self.frame.shape.n:
                points = self.scheme.points(inner, self.u)
            told = Round(self.scheme.steps, self.u, work, self.number, self.seed, points, held)
            answers: list[Answer] = self.crew.run(advance, told)
        except LostError as lost:
            self.lost += len(lost.partitions)
            self.refresh()
            self.unseen = np.inf
            return
        seconds = time.perf_counter() - began
        if points:
            self._look(points, answers)
        self.u = self.u + summed([answer.change for answer in answers])
        self._count(answers)
        self.number += 1
        busy = busiest(answers)
        sent = self.u.nbytes + sum(w.nbytes for w in points)
        sent += 0 if held is None else held.centre.nbytes
        received = sum(answer.change.nbytes for answer in answers)
        self._record(work, seconds, busy, self.crew.size * sent, received)
        self.pace.learn(seconds, busy)
        if self.number % self.limits.copy_every == 0:
            self._copy()

    def _look(self, points: tuple[Floats, ...], answers: list[Answer]) -> None:
        """Keep the best of both sides, as they were before the round."""
        self.looked, self.unseen = True, 0.0
        self.looks += len(points)
        still = self.outer is None or self.outer.still
        self.idle = self.idle + 1 if still and self.number and not self.moved else 0
        self.moved = 0
        inner_primal, inner_dual = np.inf, -np.inf
        for w, own in zip(points, zip(*(answer.judgements for answer in answers))):
            primal, dual = bounds(self.whole, w, self.u, list(own))
            if primal < self.primal:
                self.primal, self.best = primal, w
            self.dual = max(self.dual, dual)
            if self.outer is not None:
                primal, dual = bounds(self.whole._replace(frame=self.inner), w, self.u, list(own))
                inner_primal, inner_dual = min(inner_primal, primal), max(inner_dual, dual)
        if self.outer is not None:
            self.outer.saw(self.frame.lam, inner_primal - inner_dual, points[-1])

    def _count(self, answers: list[Answer]) -> None:
        visits = sum(answer.visits for answer in answers)
        moved = sum(answer.moved for answer in answers)
        self.visits += visits
        self.spent += min(visits, self.frame.shape.n)
        self.unseen += visits
        self.moved += moved
        self.operations += visits + moved

    def _copy(self) -> None:
        """From now on, whoever is lost comes back as it is now."""
        try:
            duals = self.crew.copy()
        except LostError as lost:
            self.lost += len(lost.partitions)
            self.refresh()
            return
        if self.folder is not None:
            self.folder.write(self, duals)

    def _keep(self, status: Status) -> None:
        """The end of a run, from which another one may go on; what was proven is to be seen."""
        if self.folder is not None:
            self.looked = status is Status.CONVERGED
            self._copy()

    def _record(self, work: int, seconds: float, busy: float, sent: float, received: float) -> None:
        self.history.append(
            self.epochs,
            self.passes,
            self.visits,
            self.number,
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
            self.crew.workers,
            self.lost,
        )
        self.lost = 0
