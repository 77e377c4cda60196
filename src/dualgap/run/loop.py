"""The one loop: make a round of updates, check the gap, adapt, prove, stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof.certificate import (
    Attempt,
    Certificate,
    Pair,
    Proof,
    as_proof,
    attempt,
    evaluate,
)
from dualgap.proof.dual_point import FLOAT64
from dualgap.proof.free_features import near_columns
from dualgap.proof.goal import Goal
from dualgap.proof.prove import find_proof
from dualgap.run.epochs import TUNING, Epochs
from dualgap.run.giving_up import FailedProofs, RoundingFloor
from dualgap.run.loop_state import state_of
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import History, Status
from dualgap.samplings.base import Sampling
from dualgap.steps.base import Run


class Loop(Epochs, FailedProofs):
    """A run with its best pair, its history and the rules that end it."""

    def __init__(
        self,
        problem: Problem,
        run: Run,
        sampling: Sampling,
        goal: Goal,
        max_epochs: int,
        max_seconds: float,
        callback: Callable[[Snapshot], Any] | None,
        rng: np.random.Generator | None,
    ) -> None:
        super().__init__(problem, run, sampling, max_seconds, rng)
        self.goal = goal
        self.max_epochs = max_epochs
        self.callback = callback
        self.history = History()
        self.progress: Any = None
        self.record_seconds = 0.0  # spent on gap checks that only the history needs
        self.earlier_seconds = 0.0  # of the run before it was resumed from a checkpoint
        self.checkpoint: Any = None
        self.stored_rows = 0  # rows of the history at the last checkpoint
        self.interrupted: Callable[[], bool] = bool  # whether Ctrl-C asks for an end
        self.primal, self.dual = np.inf, problem.least
        self.best: tuple[Floats, Floats] = (
            problem.features.origin.copy(),
            np.zeros(problem.dual_size),
        )
        self.proof: Proof | None = None
        self.checked: Attempt | None = None  # the last gap check, if it was a proof
        self.published: Any = None  # see ``solve``
        self.is_published = False  # whether ``proof`` is that of what will be published
        self.has_warm_start = False
        self.floor = RoundingFloor()

    def begin(self) -> None:
        """Check the gap at the start, unless the problem knows the result."""
        problem = self.problem
        at_zero = self.run.starts_at_zero
        # If P(0) is the smallest possible objective, 0 is optimal. Methods would divide by P(0).
        optimal = problem.scale == 0.0
        if not (optimal or (at_zero and self.callback is None)):
            self.pair, self.certificate = self._check_gap()
        if optimal or at_zero:
            self.primal, self.dual = problem.value_at_origin, problem.least
        self._record()

    def offer(self, coef: Floats) -> None:
        """Keep a user's coefficients if they are better than what the run starts from."""
        primal = self.problem.primal(coef)
        if primal < self.primal:
            self.primal, self.best = primal, (coef, self.best[1])

    def run_to_the_end(self) -> Status:
        try:
            while True:
                # Before a proof, for which runs release memory.
                if self.checkpoint and (self.checkpoint.is_due or self.gap <= self.target):
                    self._store()
                status = self._decide()
                if status is not None:
                    self._store()
                    return status
                self.make_round()
                self.pair, self.certificate = self._check_gap()
                self._record()
                if self.run.adapt(self.pair, self.certificate):
                    self.pair, self.certificate = self._check_gap()
                    self.note_movement()
        except KeyboardInterrupt:
            return Status.INTERRUPTED

    # --- gap checks ---------------------------------------------------------------------------

    @property
    def gap(self) -> float:
        return max(self.primal - self.dual, 0.0)

    @property
    def target(self) -> float:
        """The gap at which the run may stop, given what it has proven."""
        return self.goal.gap(self.dual)

    @property
    def seconds(self) -> float:
        spent = time.perf_counter() - self.started
        spent -= self.record_seconds + self.run.repeated_seconds
        return float(self.earlier_seconds + spent)

    def _check_gap(self) -> tuple[Pair, Certificate]:
        """Evaluate the current pair and keep the best primal and the best dual point."""
        began = time.perf_counter()
        pair = self.run.pair()
        self.checked = attempt(self.problem, pair, FLOAT64) if self.run.checks_are_proofs else None
        if self.checked and not self.checked.is_sharp:
            bound = max(self.dual, self.checked.certificate.dual)
            if self.checked.larger_gap > self.goal.gap(bound):
                self.checked = None  # rounding hides the gap: this calls for more digits
        if self.checked:
            pair, certificate = self.checked.pair, self.checked.certificate
        else:
            certificate = self._evaluated(pair)
        self._keep(pair, certificate)
        if self.checked and self.run.may_end and self.checked.larger_gap <= self.target:
            # Proven: an earlier model may be better by a rounding error, which only watchers saw.
            self.primal, self.dual = certificate.primal, certificate.dual
            self.best, self.is_published = (pair.w, pair.a), False
        if self.sampling.refresh == "never":
            self.record_seconds += time.perf_counter() - began
        return pair, certificate

    def _evaluated(self, pair: Pair) -> Certificate:
        needed = self.callback is not None or self.run.needs_sample_gaps
        return evaluate(self.problem, pair, parts=needed)

    def _keep(self, pair: Pair, certificate: Certificate) -> None:
        coef, dual = self.best
        if certificate.primal < self.primal:
            self.primal, coef = certificate.primal, pair.w
            self.is_published = False
        if certificate.dual > self.dual:
            self.dual = certificate.dual
            if pair.lent:
                dual[:] = pair.a
            else:
                dual = pair.a
        self.best = coef, dual
        self.goal.note(self.primal)

    def _record(self) -> None:
        self.history.append(
            self.epochs,
            self.passes,
            self.updates,
            self.iterations,
            self.operations,
            self.seconds,
            self.primal,
            self.dual,
            self.gap,
        )

    # --- decisions ----------------------------------------------------------------------------

    def _decide(self) -> Status | None:
        """Whether to stop, and why."""
        if self.progress is not None:
            self.progress.show(self.passes, self.gap, self.target)
        if self.gap <= self.target and self._may_end():
            status = self._prove()
            if status is not None:
                return status
        # A small gap that may not end the run yet is nothing that a callback could decide.
        callback = self.callback if self.gap > self.target or self.rounds == 0 else None
        if callback is not None and callback(self._snapshot()):
            return Status.CALLBACK
        if self.interrupted():
            return Status.INTERRUPTED
        if self.is_stalled() or self.floor.is_reached(self.gap, self.primal) or self._crawls():
            return Status.STALLED
        rounds = self.rounds if self.run.rounds is None else self.run.rounds
        if rounds >= self.max_epochs:
            return Status.MAX_EPOCHS
        return Status.MAX_SECONDS if self.is_out_of_time() else None

    def _crawls(self) -> bool:
        """Whether columns without a penalty that nearly depend on each other make all this useless:
        coefficients then grow for ever, and the objective hardly falls."""
        rounds = TUNING.crawling_rounds
        if self.rounds % rounds or len(self.history) <= rounds or not near_columns(self.problem):
            return False
        return bool(self.gap > TUNING.improvement * self.history.gap[-1 - rounds])

    def _may_end(self) -> bool:
        """Whether the run has done anything: under a strong penalty even zero coefficients can be
        within the target, and nobody fits a model to get these."""
        started = self.rounds > 0 or self.has_warm_start or self.max_epochs == 0
        if self.rounds > 0 and not self.run.may_end:
            return False
        return started or self.gap <= EPS * self.problem.scale

    def _prove(self) -> Status | None:
        """Gap checks rest on updated vectors; the proof rests on the data. None: keep running."""
        products = self._known_products()
        self.release_pair()
        self.run.release_memory()
        if self._prove_published(*products):
            return Status.CONVERGED
        found = self._checked_proof()
        if found is None:
            found = find_proof(self.problem, *self.best, self.target, *products)
        proof = found.certificate
        if proof.gap <= self.goal.gap(proof.dual):
            self.proof = found
            return Status.CONVERGED
        if self.give_up_after(proof.gap):
            return Status.STALLED
        self.primal, self.dual, self.best = proof.primal, proof.dual, (self.best[0], found.dual)
        self.run.refresh()
        self.pair = self.run.pair()
        self.certificate = self._evaluated(self.pair)
        return None

    def _checked_proof(self) -> Proof | None:
        """The last gap check, if it was a proof of the best pair that reaches the target."""
        found, (coef, dual) = self.checked, self.best
        if found is None or found.pair.w is not coef or found.pair.a is not dual:
            return None
        if found.larger_gap > self.target:
            return None
        return as_proof(self.problem, found)

    def _prove_published(self, z: Floats | None, u: Floats | None) -> bool:
        """Whether the coefficients that will be published reach the target, if these are others
        than the best ones. ``z`` and ``u``: the products of the best pair, if they are known."""
        coef, dual = self.best
        shown = None if self.published is None else self.published(self.problem, coef, z)
        self.is_published = shown is None
        if shown is None:
            return False
        found = find_proof(self.problem, shown, dual, self.target, u=u)
        reached = found.certificate.gap <= self.goal.gap(found.certificate.dual)
        if reached:
            self.proof, self.best, self.is_published = found, (shown, found.dual), True
        return reached

    def _known_products(self) -> tuple[Any, Any]:
        """z and u of the best pair, each None unless it was just computed from the data."""
        pair, (coef, dual) = self.pair, self.best
        if pair is None:  # after a checkpoint
            return None, None
        return (
            pair.z if pair.z_anew and pair.w is coef else None,
            pair.u if pair.u_anew and pair.a is dual else None,
        )

    def _store(self) -> None:
        """Write a checkpoint, if there is anything new."""
        if self.checkpoint and self.stored_rows != len(self.history):
            self.checkpoint.write(state_of(self))
            self.stored_rows = len(self.history)

    def _snapshot(self) -> Snapshot:
        probabilities = None
        if self.weights is not None and self.weights.any():
            probabilities = self.sampling.marginals(self.weights)
        return Snapshot.of(self, self.problem, self.best[0], self.certificate, probabilities)
