"""Steps on sets of samples: all samples of a set see the same point, then all move at once.

One iteration, for a set S:  wake the features of S;  every i in S reads z_i = x_i·(coefficients)
and responds with an amount;  the amounts, times x_i, change the features. What waking, reading,
touching and responding mean makes the method: Quartz, SPDC, ASDCA, APCG and DisDCA are each two
small tuples of rules. Features that an iteration does not touch are not visited: they catch up when
they wake, so an iteration costs O(entries of the rows in S), however many features there are.

Several threads may share an iteration. Samples are split for reading and features for touching, and
each feature adds up its amounts in the order of S: the result does not depend on their number.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper
from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import (
    dual_step,
    dual_step_into,
    project,
    project_into,
    slope,
    slope_into,
)
from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair
from dualgap.samplings.scores import Scores
from dualgap.steps.base import Run
from dualgap.steps.sets import batch_kernels, block_batch

# Entries of a set from which sharing it among threads saves more than it costs; not measured again.
_MIN_ENTRIES_FOR_THREADS = 500_000


@helper
def replace(a: Any, i: int, new: float, scale: float) -> float:
    """Put the new value into its place; returns scale times the change."""
    amount: float = scale * (new - a[i])
    a[i] = new
    return amount


@helper
def replace_block(own: Any, new: Any, scale: float) -> None:
    """Put the new block into its place, and scale times the change into ``new``."""
    largest = 0.0
    change = 0.0
    for k in range(len(own)):
        largest = max(largest, abs(new[k]))
        change = max(change, abs(new[k] - own[k]))
    if change <= EPS * largest:  # less is rounding, which would go on for ever
        new[:] = 0.0
        return
    for k in range(len(own)):
        old = own[k]
        own[k] = new[k]
        new[k] = scale * (new[k] - old)


class DualSteps(NamedTuple):
    """Samples that maximise their term of the dual, with the curvatures q."""

    loss: Any
    y: Any
    q: Any
    scale: Any
    a: Any

    def respond(self, i, z, t):
        new = dual_step(self.loss, self.a[i], z, self.q[i], self.y[i])
        return replace(self.a, i, new, self.scale[i])

    def respond_into(self, i, z, t, out):
        own = self.a[i * len(z) : (i + 1) * len(z)]
        dual_step_into(self.loss, own, z, self.q[i], self.y[i], out)
        replace_block(own, out, self.scale[i])

    def expect(self, i):
        prefetch(self.a, i)
        prefetch(self.y, i)
        prefetch(self.q, i)


class DualAverages(NamedTuple):
    """Samples that move a fraction of the way (``pace``) to the slope that they see."""

    loss: Any
    y: Any
    pace: Any
    scale: Any
    a: Any

    def respond(self, i, z, t):
        goal = -slope(self.loss, z, self.y[i])
        new = self.a[i] + self.pace[i] * (goal - self.a[i])
        return replace(self.a, i, project(self.loss, new, self.y[i]), self.scale[i])

    def respond_into(self, i, z, t, out):
        own = self.a[i * len(z) : (i + 1) * len(z)]
        slope_into(self.loss, z, self.y[i], out)
        for k in range(len(z)):
            z[k] = own[k] + self.pace[i] * (-out[k] - own[k])
        project_into(self.loss, z, self.y[i], out)
        replace_block(own, out, self.scale[i])

    def expect(self, i):
        prefetch(self.a, i)
        prefetch(self.y, i)


class BatchRun(Run):
    """A run over sets of samples; a method says what ``features`` and ``samples`` are."""

    features: Any
    samples: Any

    def __init__(self, problem: Problem, scores: Scores, n_threads: int) -> None:
        self.problem = problem
        self.size = problem.n
        self.entries = problem.entries / problem.n * problem.width
        self._scores = scores
        self.n_threads = n_threads
        self.time = 0  # iterations so far
        self._parts: Any = None

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        """Those that the steps rest on: probabilities do not change during a run."""
        return self._scores

    def resting(self) -> bool:
        """Whether the coefficients would stay where they are if no sample moved."""
        return True

    @property
    def longest(self) -> int:
        """About the most iterations that a feature catches up on; tables are made for so many."""
        return self.problem.n

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int]:
        blocks = self.problem.width > 1
        if offsets is None and not blocks:
            moved = batch_kernels.visit_singles(
                self.problem.rows, self.features, self.samples, order, self.time
            )
            return self._done(len(order), len(order), moved)
        if offsets is None:
            offsets = np.arange(len(order) + 1)
        largest = int(np.diff(offsets).max(initial=0))
        amounts = np.empty((largest, self.problem.width) if blocks else largest)
        if largest * self.entries >= _MIN_ENTRIES_FOR_THREADS:
            # A single thread takes this way too: another kernel could round differently.
            moved = self._visit_in_threads(order, offsets, amounts)
        else:
            moved = (block_batch if blocks else batch_kernels).visit(
                self.problem.rows,
                self.problem.d,
                self.features,
                self.samples,
                order,
                offsets,
                self.time,
                amounts,
            )
        return self._done(len(offsets) - 1, len(order), moved)

    def _done(self, iterations: int, visits: int, moved: int) -> tuple[int, int]:
        self.time += iterations
        return int(moved or not self.resting()), visits + moved

    def _visit_in_threads(self, order: Any, offsets: Any, amounts: Floats) -> int:
        """The same iterations, each by several threads."""
        matrix, features, samples = self.problem.rows, self.features, self.samples
        parts = self._feature_parts()
        kernels = block_batch if self.problem.width > 1 else batch_kernels
        moved: int = 0
        with ThreadPoolExecutor(self.n_threads) as pool:
            for k, (begin, end) in enumerate(pairwise(offsets)):
                rows, t = order[begin:end], self.time + k + 1
                cuts = np.linspace(0, len(rows), self.n_threads + 1).astype(np.int64)
                shares = [slice(*cut) for cut in pairwise(cuts)]
                by_part = [(matrix, features, rows, *part, t, amounts) for part in parts]
                _together(pool, kernels.wake_rows, by_part)
                moved += sum(
                    _together(
                        pool,
                        kernels.respond_rows,
                        [(matrix, features, samples, rows[s], t, amounts[s]) for s in shares],
                    )
                )
                _together(pool, kernels.touch_rows, by_part)
        return moved

    def _feature_parts(self) -> list[tuple[int, int]]:
        """Ranges of features with about equally many entries."""
        if self._parts is None:
            entries = np.cumsum(self.problem.column_counts)
            goals = entries[-1] * np.arange(1, self.n_threads) / self.n_threads
            inner = np.searchsorted(entries, goals, side="right")
            cuts = [0, *(int(cut) for cut in inner), self.problem.d]
            self._parts = list(pairwise(cuts))
        return list(self._parts)


def _together(pool: ThreadPoolExecutor, action: Any, calls: list[tuple[Any, ...]]) -> list[Any]:
    if len(calls) == 1:
        return [action(*calls[0])]
    tasks = [pool.submit(action, *call) for call in calls]
    return [task.result() for task in tasks]
