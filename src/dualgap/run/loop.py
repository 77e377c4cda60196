"""The one loop: draw, update, certify, adapt, stop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import split
from dualgap.proof.certificate import Certificate, Pair, evaluate, prove
from dualgap.run.loop_state import taken
from dualgap.run.solution import History, Status
from dualgap.samplings.base import Sampling, Sets, checked_draw, checked_weights, step_rule
from dualgap.steps.base import Run

# Entries that a kernel reads before Python may look at the clock and at Ctrl-C.
_BLOCK = 20_000_000
# Epochs, and updates, without any movement after which rounding, not chance, is to blame.
_IDLE_EPOCHS, _IDLE_UPDATES = 3, 1000
# Weights below this part of the largest one are rounding errors of what is settled.
_NEVER = 1e-9
# Proofs in a row that fall short of what the updated vectors promised, without getting better.
_DOUBTS = 5


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a callback sees at each certificate.

    ``certificate``    of where the run stands, with the part of each sample and feature
    ``probabilities``  with which coordinates were drawn since the last one; None if none were

    Both have an entry for each sample or feature: take what you need, and let go of them. Fits in
    parts leave them out.
    """

    epoch: float
    passes: float
    seconds: float
    primal: float
    dual: float
    gap: float
    target: float
    coef: Floats
    intercept: Any
    certificate: Certificate | None = None
    probabilities: Floats | None = None


class Loop:
    """State of one run."""

    def __init__(
        self,
        problem: Problem,
        run: Run,
        sampling: Sampling,
        tol: float,
        max_epochs: int,
        max_seconds: float,
        callback: Callable[[Snapshot], Any] | None,
        rng: np.random.Generator,
    ) -> None:
        self.problem, self.run, self.sampling = problem, run, sampling
        self.target = tol * problem.scale
        self.max_epochs = max_epochs
        self.max_seconds = max_seconds
        self.callback = callback
        self.rng = rng
        self.history = History()
        self.progress: Any = None
        self.updates = self.iterations = self.operations = self.rounds = self.looks = 0
        self.idle = self.idle_rounds = 0  # updates, and rounds of the loop, without any movement
        drawn = 0 if run.full_pass else run.size
        self.visited = np.zeros(drawn, dtype=bool)  # coordinates since the last movement
        self.doubts, self.doubtful = 0, np.inf  # proofs that fell short, and the best of them
        self.recording = 0.0  # seconds spent on certificates that only the record needs
        self.earlier = 0.0  # seconds of the run that a checkpoint has kept
        self.checkpoint: Any = None
        self.stored = 0  # rows of the history at the last checkpoint
        self.interrupted: Callable[[], bool] = bool  # whether Ctrl-C asks for an end
        self.primal, self.dual = np.inf, problem.least
        self.best: tuple[Floats, Floats] = (
            problem.features.origin.copy(),
            np.zeros(problem.dual_size),
        )
        self.proof: tuple[Certificate, Floats] | None = None
        self.weights: Floats | None = None
        self.started = time.perf_counter()
        self.pair: Any  # at the last look, and None once nobody needs it: it takes memory
        self.certificate: Any
        self.pair = self.certificate = None

    def begin(self) -> None:
        """The look at the start; where the dual point is 0 the problem knows what it would say."""
        problem = self.problem
        at_zero = self.run.starts_at_zero
        # Where P(0) is the least that there can be, 0 is optimal and nobody need look for more:
        # methods measure by P(0) and would divide by it.
        optimal = problem.scale == 0.0
        if not (optimal or (at_zero and self.callback is None)):
            self.pair, self.certificate = self._look()
        if optimal or at_zero:
            z = problem.decision(problem.features.origin)
            self.primal, self.dual = problem.loss_value(z) + problem.origin_value, problem.least
        self._record()

    # --- looking ------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        spent = time.perf_counter() - self.started
        spent -= self.recording + self.run.repeated_seconds
        return float(self.earlier + spent)

    @property
    def epochs(self) -> float:
        return float(self.updates / self.run.size)

    @property
    def passes(self) -> float:
        """How often the data was read, by updates and by looks of the sampling."""
        return self.epochs + self.looks

    def _look(self) -> tuple[Pair, Certificate]:
        """Evaluate the state and keep the best of both sides."""
        began = time.perf_counter()
        pair = self.run.pair()
        certificate = self._evaluated(pair)
        self._keep(pair, certificate)
        if self.sampling.refresh == "never":
            self.recording += time.perf_counter() - began
        return pair, certificate

    def _evaluated(self, pair: Pair) -> Certificate:
        asked = self.callback is not None or self.run.needs_sample_gaps
        return evaluate(self.problem, pair, parts=asked)

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

    def _keep(self, pair: Pair, certificate: Certificate) -> None:
        coef, dual = self.best
        if certificate.primal < self.primal:
            self.primal, coef = certificate.primal, pair.w
        if certificate.dual > self.dual:
            self.dual = certificate.dual
            if pair.lent:
                dual[:] = pair.a
            else:
                dual = pair.a
        self.best = coef, dual

    def offer(self, coef: Floats) -> None:
        """Keep a user's coefficients if they are better than what the run starts from."""
        primal = self.problem.primal(coef)
        if primal < self.primal:
            self.primal, self.best = primal, (coef, self.best[1])

    @property
    def gap(self) -> float:
        return max(self.primal - self.dual, 0.0)

    # --- deciding -----------------------------------------------------------------------------

    def run_to_the_end(self) -> Status:
        try:
            while True:
                # Before a proof, for which runs let go of memory.
                if self.checkpoint and (self.checkpoint.is_due or self.gap <= self.target):
                    self._store()
                status = self._verdict()
                if status is not None:
                    self._store()
                    return status
                self._epoch()
                self.pair, self.certificate = self._look()
                self._record()
                if self.run.adapt(self.pair, self.certificate):
                    self.pair, self.certificate = self._look()
                    self._moved()
        except KeyboardInterrupt:
            return Status.INTERRUPTED

    def _verdict(self) -> Status | None:
        """Whether to stop, and why."""
        self.progress.show(self.passes, self.gap)
        if self.gap <= self.target:
            # What was seen on the way rests on updated vectors; the proof rests on the data.
            images = self._images()
            self._forget()
            self.run.release_memory()
            proof, dual = prove(self.problem, *self.best, self.target, *images)
            if proof.gap <= self.target:
                self.proof = proof, dual
                return Status.CONVERGED
            self.doubts = 0 if proof.gap < 0.9 * self.doubtful else self.doubts + 1
            if self.doubts >= _DOUBTS:
                return Status.STALLED
            self.doubtful = min(self.doubtful, proof.gap)
            self.primal, self.dual, self.best = proof.primal, proof.dual, (self.best[0], dual)
            self.run.refresh()
            self.pair = self.run.pair()
            self.certificate = self._evaluated(self.pair)
        if self.callback is not None and self.callback(self._snapshot()):
            return Status.CALLBACK
        if self.interrupted():
            return Status.INTERRUPTED
        if self._stands_still():
            return Status.STALLED
        rounds = self.rounds if self.run.rounds is None else self.run.rounds
        if rounds >= self.max_epochs:
            return Status.MAX_EPOCHS
        return Status.MAX_SECONDS if self._out_of_time() else None

    def _store(self) -> None:
        """Write a checkpoint, if there is anything new."""
        if self.checkpoint and self.stored != len(self.history):
            self.checkpoint.write(taken(self))
            self.stored = len(self.history)

    def _images(self) -> tuple[Any, Any]:
        """z and u of the best pair, if they are known and rest on the data."""
        pair, (coef, dual) = self.pair, self.best
        if pair is None:  # after a checkpoint
            return None, None
        return (
            pair.z if pair.z_anew and pair.w is coef else None,
            pair.u if pair.u_anew and pair.a is dual else None,
        )

    def _stands_still(self) -> bool:
        """Whether nothing moves any more: the rarest coordinate must have come up as well."""
        if self.idle_rounds < _IDLE_EPOCHS or self.idle < _IDLE_UPDATES:
            return False
        if self.weights is None:
            return True
        least = 0.0 if self.sampling.refresh == "never" else _NEVER * self.weights.max()
        return bool(self.visited[self.weights > least].all())

    def _out_of_time(self) -> bool:
        return time.perf_counter() - self.started >= self.max_seconds

    def _snapshot(self) -> Snapshot:
        coef, intercept = split(self.problem, self.best[0].copy())
        return Snapshot(
            epoch=self.epochs,
            passes=self.passes,
            seconds=self.seconds,
            primal=self.primal,
            dual=self.dual,
            gap=self.gap,
            target=self.target,
            coef=coef,
            intercept=intercept,
            certificate=self.certificate,
            probabilities=self._probabilities(),
        )

    def _probabilities(self) -> Floats | None:
        if self.weights is None or not self.weights.any():
            return None
        return self.sampling.marginals(self.weights)

    # --- updating -----------------------------------------------------------------------------

    def _epoch(self) -> None:
        self.rounds += 1
        self.idle_rounds += 1
        if self.sampling.refresh == "step":
            self._steps()
        elif self.run.full_pass:
            self._all()
        else:
            self._blocks()

    def _all(self) -> None:
        """An epoch of a run for which nothing has to be drawn."""
        self._forget()
        moved, operations, worth = self.run.advance(None)
        self.updates += worth
        self.iterations += 1
        self.operations += operations
        if moved:
            self._moved()
        else:
            self.idle += self.run.size

    def _forget(self) -> None:
        """Leave the memory of the last look to others."""
        self.pair = self.certificate = None

    def _blocks(self) -> None:
        """An epoch whose updates are drawn beforehand."""
        if self.weights is None or self.sampling.refresh == "epoch":
            self.weights = self._weigh(self.pair, self.certificate)
        if not self.weights.any():
            self._give_up()
            return
        self._forget()
        drawn = checked_draw(self.sampling, self.weights, self.run.size, self.rng)
        block = max(1, int(_BLOCK / max(self.run.entries, 1.0)))
        for sets in drawn.parts(block):
            self._advance(sets)
            if self._out_of_time():
                break

    def _steps(self) -> None:
        """An epoch in which every update looks at all coordinates first."""
        pair, certificate = self.pair, self.certificate
        many = self._many_steps()
        left = self.run.size
        while self._step(pair, certificate):
            left -= 1
            if many is not None:
                left = self._steps_ahead(many, left)
            if left == 0 or self._out_of_time():
                break
            pair = self.run.pair()
            certificate = evaluate(self.problem, pair)

    def _step(self, pair: Pair, certificate: Certificate) -> bool:
        """Look at everything, then update one coordinate, if there is one to update."""
        self.weights = self._weigh(pair, certificate)
        if not self.weights.any():
            self._give_up()
            return False
        self._advance(checked_draw(self.sampling, self.weights, 1, self.rng))
        return True

    def _many_steps(self) -> Any:
        """Such steps without a way back to Python after each, if run and sampling have them."""
        rule = step_rule(self.sampling, self.run.scores(self.pair, self.certificate))
        return None if rule is None else self.run.adaptive_steps(rule)

    def _steps_ahead(self, many: Any, left: int) -> int:
        """Make such steps; returns how many are left when time is out or no rule says how."""
        block = max(1, int(_BLOCK / many.entries))
        while left and not self._out_of_time():
            wanted = min(left, block)
            order, moved, operations = many.advance(self.rng.random(wanted))
            left -= len(order)
            self.looks += len(order)
            self._count(Sets(order), moved, operations + self.run.size * len(order))
            if len(order) < wanted:
                break
        return left

    def _give_up(self) -> None:
        """Every coordinate is optimal as far as the sampling can see."""
        self.idle = self.idle_rounds = sys.maxsize

    def _weigh(self, pair: Pair, certificate: Certificate) -> Floats:
        if self.sampling.refresh != "never":
            self.operations += self.run.size
            self.looks += 1
        return checked_weights(self.sampling, self.run.scores(pair, certificate))

    def _advance(self, sets: Sets) -> None:
        self._count(sets, *self.run.advance(sets.order, sets.offsets))

    def _count(self, sets: Sets, moved: int, operations: int, *worth: Any) -> None:
        self.updates += worth[0] if worth else len(sets.order)
        self.iterations += len(sets.order if sets.offsets is None else sets.offsets[1:])
        self.operations += operations
        if moved:
            self._moved()
        else:
            self.idle += len(sets.order)
            self.visited[sets.order] = True

    def _moved(self) -> None:
        self.idle = self.idle_rounds = 0
        self.visited[:] = False
