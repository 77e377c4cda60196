"""The driver: rounds until the gap is proven, whatever happens to those who work on them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap._validate import Floats
from dualgap.certificate import Certificate
from dualgap.distributed.block import Block
from dualgap.distributed.checkpoint import Folder, Saved
from dualgap.distributed.crew import Crew, LostError, insisting
from dualgap.distributed.held import (
    Held,
    Outer,
    falling_root,
    firmness,
    imbalances,
    shift,
    under,
)
from dualgap.distributed.local import Answer, Judging, Round, advance, average, judge
from dualgap.distributed.pace import Pace, busiest
from dualgap.distributed.packed import summed
from dualgap.distributed.schemes import Scheme, coefficients
from dualgap.distributed.whole import Point, Whole, bounds, certificate, point_of
from dualgap.intercept import split
from dualgap.loop import Snapshot
from dualgap.solution import History, Status

# Proofs in a row that fall short of what the updated vectors promised, without getting better.
_DOUBTS = 5
# Looks in a row at which no sample had moved since the last one.
_IDLE = 3


class RoundHistory(History):
    """A row for each round, and one for the start; to the columns of ``History`` come

    ``work``           local epochs, or τ
    ``round_seconds``  of the round, from the driver's point of view
    ``local_seconds``  of the busiest process in it
    ``sent``           bytes of u and of coefficients to be judged, for all partitions
    ``received``       bytes of what u changes by, from all partitions
    ``workers``        how many there were
    ``lost``           partitions that were set back before the round
    """

    columns = (
        *History.columns,
        "work", "round_seconds", "local_seconds", "sent", "received", "workers", "lost",
    )  # fmt: skip

    work: Floats
    round_seconds: Floats
    local_seconds: Floats
    sent: Floats
    received: Floats
    workers: Floats
    lost: Floats


class Limits(NamedTuple):
    """When to stop, and how often to copy the dual variables."""

    target: float
    max_epochs: float
    max_seconds: float
    copy_every: int


class Loop:
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
        saved: Saved | None,
    ) -> None:
        self.crew, self.whole, self.scheme, self.pace = crew, whole, scheme, pace
        self.frame = whole.frame
        self.limits, self.seed, self.callback, self.folder = limits, seed, callback, folder
        self.history = RoundHistory()
        self.progress: Any = None
        self.number, self.visits, self.operations, self.looks = 0, 0.0, 0.0, 0
        self.unseen, self.moved, self.idle = np.inf, 0, 0  # samples since the last look
        self.doubts, self.doubtful = 0, np.inf
        self.primal, self.dual = np.inf, whole.least
        self.best: Floats = self.frame.features.origin.copy()
        self.proof: tuple[Certificate, Floats] | None = None
        self.looked = False
        self.lost = 0
        self.outer: Outer | None = None
        if len(self.frame.free_places):
            self.outer = Outer(firmness(whole.squares, self.frame.features.strength))
        self.solved = False  # whether an outer step is
        self.shift: float | None = None  # that of the dual variables that the proof rests on
        self.started = time.perf_counter()
        self.u: Floats = np.empty(0)
        if saved is not None:
            self.number, self.best, self.u = saved.number, saved.best, saved.u
            self.visits, self.unseen, self.primal, self.dual = map(float, saved.counts[:4])
            if self.outer is not None:
                self.outer.held = Held(*map(float, saved.counts[4:]))
        if not self.u.size:
            self.u = self._from_data().u
        insisting(lambda: scheme.start(crew, self.inner, coefficients(self.inner, self.u)))
        if saved is not None and saved.memory.size:
            scheme.remember(saved.memory)
        self._copy()
        self._record(0, 0.0, 0.0, 0, 0)

    @property
    def held(self) -> Held | None:
        return None if self.outer is None else self.outer.held

    @property
    def inner(self) -> Block:
        """The frame of what partitions work on."""
        return under(self.frame, self.held)

    @property
    def gap(self) -> float:
        return max(self.primal - self.dual, 0.0)

    @property
    def epochs(self) -> float:
        """Samples visited / samples."""
        return self.visits / self.frame.shape.n

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    # --- deciding -----------------------------------------------------------------------------

    def run_to_the_end(self) -> Status:
        try:
            while True:
                status = self._verdict()
                if status is not None:
                    return status
                self._round()
        except KeyboardInterrupt:
            return Status.INTERRUPTED

    def _verdict(self) -> Status | None:
        """Whether to stop, and why."""
        self.progress.show(self.epochs, self.gap)
        if self.looked:
            self.looked = False
            if self.solved or self.gap <= self.limits.target:
                verdict = self._doubt()
                if verdict is not None:
                    return verdict
            if self.callback is not None and self.callback(self._snapshot()):
                return Status.CALLBACK
            if self.idle >= _IDLE:
                return Status.STALLED
        if self.epochs >= self.limits.max_epochs:
            return Status.MAX_EPOCHS
        return Status.MAX_SECONDS if self.seconds >= self.limits.max_seconds else None

    def _doubt(self) -> Status | None:
        """Prove what was seen on the way, which rests on updated vectors; else go on from u as the
        data has it."""
        proof, _ = self.prove()
        if proof.gap <= self.limits.target:
            return Status.CONVERGED
        if self.outer is not None:
            self.primal, self.dual = min(self.primal, proof.primal), max(self.dual, proof.dual)
            self.outer.move(float(coefficients(self.inner, self.u)[-1]))
            self.solved = False
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
            seconds=self.seconds,
            primal=self.primal,
            dual=self.dual,
            gap=self.gap,
            target=self.limits.target,
            coef=coef,
            intercept=intercept,
        )

    # --- proving ------------------------------------------------------------------------------

    def _from_data(self) -> Point:
        """u, computed from the data and the dual variables as they are now."""
        while True:
            try:
                return point_of(self.whole, self.crew.ask(average, None))
            except LostError as lost:
                self.lost += len(lost.partitions)

    def prove(self) -> tuple[Certificate, Floats]:
        """The best certificate for the dual variables of now, and its coefficients."""
        while True:
            try:
                point = point_of(self.whole, self.crew.ask(average, None))
                self.u = point.u
                points = (self.best, *self.scheme.points(self.inner, point.u))
                if self.outer is not None:
                    self.shift = self._balance(point)
                    point = point_of(self.whole, self.crew.ask(average, self.shift))
                judged = self.crew.ask(judge, Judging(points, True, self.shift))
            except LostError as lost:
                self.lost += len(lost.partitions)
                continue
            self.looks += len(points)
            found = [
                (certificate(self.whole, w, point, list(own)), w)
                for w, own in zip(points, zip(*judged))
            ]
            self.proof = min(found, key=lambda one: one[0].gap)
            self.best = self.proof[1]
            return self.proof

    def _balance(self, point: Point) -> float:
        """The shift with which dual variables add up to 0."""

        def sums(ts: Floats) -> Floats:
            return np.asarray(sum(self.crew.ask(imbalances, ts)))

        typical = abs(float(point.u[-1])) * self.frame.lam / self.frame.constant
        close = 1e-3 * float(point.error[-1]) * self.frame.lam / self.frame.constant
        return falling_root(sums, max(typical, close), close)

    def proven(self) -> tuple[Certificate, Floats, list[Floats]]:
        """A certificate, its coefficients, and the dual variables that it rests on."""
        while True:
            proof, w = self.prove()
            try:
                if self.shift is not None:
                    self.crew.run(shift, self.shift)
                return proof, w, self.crew.copy()
            except LostError as lost:
                self.lost += len(lost.partitions)

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
            self.u = self._from_data().u
            self.unseen = np.inf
            return
        seconds = time.perf_counter() - began
        if points:
            self._look(points, answers)
        self.u = self.u + summed([answer.change for answer in answers])
        self._count(answers)
        self.number += 1
        busy = busiest(answers)
        sent = self.crew.size * (self.u.nbytes + sum(w.nbytes for w in points))
        received = sum(answer.change.nbytes for answer in answers)
        self._record(work, seconds, busy, sent, received)
        self.pace.learn(seconds, busy)
        if self.number % self.limits.copy_every == 0:
            self._copy()

    def _look(self, points: tuple[Floats, ...], answers: list[Answer]) -> None:
        """Keep the best of both sides, as they were before the round."""
        self.looked, self.unseen = True, 0.0
        self.looks += len(points)
        self.idle = 0 if self.moved or not self.number else self.idle + 1
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
            at, inner_gap = float(points[-1][-1]), inner_primal - inner_dual
            self.solved = self.outer.is_solved(
                self.frame.lam, self.gap, self.limits.target, inner_gap, at
            )

    def _count(self, answers: list[Answer]) -> None:
        visits = sum(answer.visits for answer in answers)
        moved = sum(answer.moved for answer in answers)
        self.visits += visits
        self.unseen += visits
        self.moved += moved
        self.operations += visits + moved

    def _copy(self) -> None:
        """From now on, whoever is lost comes back as it is now."""
        try:
            duals = self.crew.copy()
        except LostError as lost:
            self.lost += len(lost.partitions)
            self.u = self._from_data().u
            return
        if self.folder is not None:
            memory = self.scheme.memory
            memory = np.empty(0) if memory is None else memory
            counts = np.array(
                [self.visits, self.unseen, self.primal, self.dual, *(self.held or ())]
            )
            self.folder.save(Saved(self.number, duals, self.u, memory, self.best, counts))

    def _record(self, work: int, seconds: float, busy: float, sent: float, received: float) -> None:
        self.history.append(
            self.epochs,
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
