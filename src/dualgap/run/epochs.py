"""A round of updates: what is drawn, in which blocks, and what is counted."""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair, evaluate
from dualgap.samplings.base import Sampling, Sets, checked_draw, checked_weights, step_rule
from dualgap.steps.base import Run


class Tuning(NamedTuple):
    """What the loop waits for before it decides. None of these was tuned for speed."""

    # Entries that a kernel reads before Python checks the clock and Ctrl-C: about 20 ms.
    entries_per_block: int = 20_000_000
    # Rounds and updates without any movement after which rounding is to blame, not chance. Both
    # are needed: a round may be a single update, and a single round may miss a coordinate.
    idle_rounds: int = 3
    idle_updates: int = 1000
    # Sampling weights below this share of the largest are rounding errors of resolved coordinates.
    negligible_weight: float = 1e-9
    # Proofs in a row that miss the gap promised by the maintained vectors, without improving by
    # the factor, before the run counts as stalled.
    failed_proofs: int = 5
    improvement: float = 0.9
    # Rounds within which the gap has to fall by that factor where free columns nearly depend on
    # each other. Poisson on ten columns of a Hilbert matrix: 0.4 s, before 17 s for half the gap.
    crawling_rounds: int = 100
    # A gap of so many rounding errors of the objective may not become smaller: a run that is there
    # ends after so many gap checks that have not halved it. A tol below rounding took all of
    # max_epochs, 0.8 s for each of the 500 points of a small LassoCV.
    rounding_errors: float = 64.0
    checks_at_rounding: int = 10


TUNING = Tuning()


class Epochs:
    """The rounds of a run, with counters. ``Loop`` decides when to stop."""

    def __init__(
        self,
        problem: Problem,
        run: Run,
        sampling: Sampling,
        max_seconds: float,
        rng: np.random.Generator | None,
    ) -> None:
        self.problem, self.run, self.sampling = problem, run, sampling
        self.max_seconds = max_seconds
        self.rng: Any = rng  # None if nothing is drawn
        self.updates = self.iterations = self.operations = self.rounds = 0
        self.scorings = 0  # passes over the data that the sampling has asked for
        self.idle_updates = self.idle_rounds = 0  # since anything has moved
        drawn = 0 if run.full_pass else run.size
        self.visited = np.zeros(drawn, dtype=bool)  # coordinates since anything has moved
        self.weights: Floats | None = None  # of the sampling, in the last round
        self.started = time.perf_counter()
        self.pair: Any  # at the last gap check; None once it is not needed: it takes memory
        self.certificate: Any
        self.pair = self.certificate = None

    @property
    def epochs(self) -> float:
        return float(self.updates / self.run.size)

    @property
    def passes(self) -> float:
        """How often the data was read, by updates and by the sampling."""
        return self.epochs + self.scorings

    def make_round(self) -> None:
        """One epoch: as many updates as there are coordinates, or a full pass."""
        self.rounds += 1
        self.idle_rounds += 1
        if self.sampling.refresh == "step":
            self._round_of_steps()
        elif self.run.full_pass:
            self._full_pass()
        else:
            self._round_of_blocks()

    def release_pair(self) -> None:
        """Free the memory of the last gap check."""
        self.pair = self.certificate = None

    def is_stalled(self) -> bool:
        """Whether nothing moves any more, although every coordinate was visited."""
        if self.idle_rounds < TUNING.idle_rounds or self.idle_updates < TUNING.idle_updates:
            return False
        if self.weights is None:
            return True
        static = self.sampling.refresh == "never"
        least = 0.0 if static else TUNING.negligible_weight * self.weights.max()
        return bool(self.visited[self.weights > least].all())

    def is_out_of_time(self) -> bool:
        return time.perf_counter() - self.started >= self.max_seconds

    def note_movement(self) -> None:
        self.idle_updates = self.idle_rounds = 0
        self.visited[:] = False

    def _full_pass(self) -> None:
        """A round in which nothing is drawn."""
        self.release_pair()
        moved, operations, updates = self.run.advance(None)
        self.updates += updates
        self.iterations += 1
        self.operations += operations
        if moved:
            self.note_movement()
        else:
            self.idle_updates += self.run.size

    def _round_of_blocks(self) -> None:
        """A round whose updates are drawn beforehand."""
        if self.weights is None or self.sampling.refresh == "epoch":
            self.weights = self._sampling_weights(self.pair, self.certificate)
        if not self.weights.any():
            self._note_that_all_is_optimal()
            return
        self.release_pair()
        drawn = checked_draw(self.sampling, self.weights, self.run.size, self.rng)
        block = max(1, int(TUNING.entries_per_block / max(self.run.entries, 1.0)))
        for sets in drawn.parts(block):
            self._advance(sets)
            if self.is_out_of_time():
                break

    def _round_of_steps(self) -> None:
        """A round in which the sampling scores all coordinates before each update."""
        pair, certificate = self.pair, self.certificate
        compiled = self._compiled_steps()
        left = self.run.size
        while self._step(pair, certificate):
            left -= 1
            if compiled is not None:
                left = self._make_compiled_steps(compiled, left)
            if left == 0 or self.is_out_of_time():
                break
            pair = self.run.pair()
            certificate = evaluate(self.problem, pair)

    def _step(self, pair: Pair, certificate: Certificate) -> bool:
        """Score all coordinates, then update one, unless all are optimal."""
        self.weights = self._sampling_weights(pair, certificate)
        if not self.weights.any():
            self._note_that_all_is_optimal()
            return False
        self._advance(checked_draw(self.sampling, self.weights, 1, self.rng))
        return True

    def _compiled_steps(self) -> Any:
        """Many such steps in one kernel call; None if the run or the sampling has no such rule."""
        rule = step_rule(self.sampling, self.run.scores(self.pair, self.certificate))
        return None if rule is None else self.run.adaptive_steps(rule)

    def _make_compiled_steps(self, compiled: Any, left: int) -> int:
        """Returns how many steps are left when time is up or the rule finds nothing to update."""
        block = max(1, int(TUNING.entries_per_block / compiled.entries))
        while left and not self.is_out_of_time():
            wanted = min(left, block)
            order, moved, operations = compiled.advance(self.rng.random(wanted))
            left -= len(order)
            self.scorings += len(order)
            self._count(Sets(order), moved, operations + self.run.size * len(order))
            if len(order) < wanted:
                break
        return left

    def _note_that_all_is_optimal(self) -> None:
        """As far as the sampling can see: nothing will move any more."""
        self.idle_updates = self.idle_rounds = sys.maxsize

    def _sampling_weights(self, pair: Pair, certificate: Certificate) -> Floats:
        if self.sampling.refresh != "never":
            self.operations += self.run.size
            self.scorings += 1
        return checked_weights(self.sampling, self.run.scores(pair, certificate))

    def _advance(self, sets: Sets) -> None:
        self._count(sets, *self.run.advance(sets.order, sets.offsets))

    def _count(self, sets: Sets, moved: int, operations: int, *updates: Any) -> None:
        self.updates += updates[0] if updates else len(sets.order)
        self.iterations += len(sets.order if sets.offsets is None else sets.offsets[1:])
        self.operations += operations
        if moved:
            self.note_movement()
        else:
            self.idle_updates += len(sets.order)
            self.visited[sets.order] = True
