"""Sweeps over unresolved samples in random order, and steps on the face that they leave.

Each sweep makes a coordinate step for each of some samples, in random order. For a loss with kinks
a round begins with all samples that the last gap check found unresolved, and continues with those
that still move (Hsieh et al. 2008). The gap is checked at the mean of the later sweeps: at kinks
the objective grows with the size of a residue, not with its square, and residues of different
sweeps cancel. For other losses a round visits the samples with the largest gaps, then also those
with a tenth of them, and so on, until it has made as many updates as there are samples: what
``GapPerEpoch(m=10)`` draws, without drawing (Perekrestenko et al. 2017; Csiba et al. 2015). If
there are few samples, or if steps shrink fast, a round sweeps over all unresolved samples until
steps are as short as the target gap requires.

If the dual objective is quadratic on a face (``face.py``), a round begins with conjugate gradients
there, unless they recently gained less for their cost than sweeps did. Ridge regression on few
samples is one system (``kernel_matrix.py``), a free intercept a multiplier (``free_intercept.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.linalg import products, storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Certificate, Pair
from dualgap.steps.base import (
    FullPass,
    FullPassRun,
    Setting,
    Start,
    dual_refusal,
    multiclass_refusal,
)
from dualgap.steps.coordinate.coordinate_scores import keep_unresolved
from dualgap.steps.coordinate.epoch import epoch
from dualgap.steps.coordinate.views import DualView
from dualgap.steps.sweeps.face import FaceSteps, has_faces
from dualgap.steps.sweeps.free_intercept import FreeIntercept, has_free_intercept
from dualgap.steps.sweeps.kernel_matrix import KernelRun, has_few_samples
from dualgap.steps.sweeps.tuning import TUNING

# A linear congruential generator modulo 2⁶⁴ (Knuth's constants), of which the upper half is used.
_FACTOR, _INCREMENT, _HALF = 6364136223846793005, 1442695040888963407, 32


@dataclass(frozen=True)
class Sweeps(FullPass):
    """Sweeps and steps on faces; the dual view."""

    usual = "sweeps"

    def refusal(self, problem: Problem) -> str | None:
        dual = None if has_free_intercept(problem) else dual_refusal(problem)
        return multiclass_refusal(problem) or dual

    def describe(self, problem: Problem) -> str:
        if has_few_samples(problem):
            return "the kernel matrix of few samples (dual view)"
        also = " and conjugate gradients on faces" if has_faces(problem) else ""
        return f"sweeps over unresolved samples{also} (dual view)"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> FullPassRun:
        if has_few_samples(problem):
            return KernelRun(problem, warm)
        return SweepsRun(problem, warm, setting)


class SweepsRun(FullPassRun):
    """A run; its state is that of the dual view."""

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        super().__init__(problem)
        self.intercept = FreeIntercept(problem, warm) if has_free_intercept(problem) else None
        self.view = self.intercept.view if self.intercept else DualView(problem, warm.dual)
        self.rng = setting.rng or np.random.default_rng(0)
        self.starts_at_zero = warm.dual is None
        self.kinked = problem.loss.gamma == 0.0
        self.needs_sample_gaps = not self.kinked
        self.few = problem.n <= TUNING.few_samples
        self.fast = True  # whether sweeps over all samples converge fast
        # The gap that sweeps expect, and what gap checks found relative to it.
        self.setting, self.expected, self.trust = setting, 0.0, 1.0
        self.movable = self._movable()
        self.weights: Any = self.movable.copy()  # False or 0 for resolved samples
        self.faces = FaceSteps(self.view, setting) if has_faces(problem) else None
        self.mean: tuple[Floats, Floats] | None = None  # of a and u over the later sweeps
        self.swept, self.movers = 0.0, 0  # updates of the round; samples that the last sweep moved
        self.dual = np.inf  # D(a) at the last gap check
        on_disk = storage.is_on_disk(problem.X)
        self.adjacent_rows = (
            int(TUNING.disk_entries / max(self.entries, 1.0)) + 1 if on_disk else None
        )

    def pair(self) -> Pair:
        if self.intercept:
            return self.intercept.pair(self.mean, self.setting.target)
        if self.mean is None:
            return self.view.pair(lend=True)
        a, u = self.mean
        w, z = np.empty(len(u)), np.empty(self.size)
        terms.conj_slopes(self.problem.penalty, u, w)
        products.gather(self.view.matrix, w, z)
        return Pair(w, a, z, u, z_anew=True)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        self.mean, self.swept = None, 0.0
        moved, updates = self.faces.step() if self.faces else (False, 0.0)
        if not (self.faces and self.faces.single):
            moved = self._sweep() or moved
        elif self.intercept:
            moved = self.intercept.update() or moved
        updates += self.swept + 0.5 * self.size  # the gap check is one product
        return int(moved), int(2 * updates), updates

    def _sweep(self) -> bool:
        """Sweep over unresolved samples; returns whether anything moved."""
        view, moved, sums = self.view, False, DualMean()
        for order in self._sweeps_of_round():
            self.movers, _ = epoch(
                *view.fixed, order, view.x, view.v, order
            )  # now first in ``order``
            self.swept += len(order)
            if self.intercept:
                moved = self.intercept.update() or moved
            moved = moved or self.movers > 0
            del order  # before the next one is made: it is long
            if self.kinked and 2.0 * self.swept >= TUNING.updates * self.size:
                sums.add(self.view.x, self.view.v)
        self.mean = sums.finish()
        if not self.kinked:
            self.weights = self.movable.copy()  # until the next gap check
        return moved

    def _movable(self) -> Any:
        """Which samples have a weight and entries, so that steps can move them."""
        view, found = self.view, np.empty(self.size, np.bool_)
        for some in terms.few_at_once(self.size):
            np.greater(view.scale[some] * view.squares[some], 0.0, out=found[some])
        return found

    def _sweeps_of_round(self) -> Iterator[Any]:
        """The samples of each sweep of a round, in random order."""
        if self.kinked:
            return self._while_moving()
        return self._over_all() if self.few or self.fast else self._by_gaps()

    def _while_moving(self) -> Iterator[Any]:
        """All unresolved samples, then those that still move."""
        left = np.flatnonzero(self.weights)
        for _ in range(TUNING.most_sweeps):
            left = self._shuffled(left)
            yield left
            left = left[: self.movers]
            if not len(left) or self.swept + len(left) > TUNING.updates * self.size:
                break

    def _over_all(self) -> Iterator[Any]:
        """All unresolved samples, until the steps are so short that the gap should be small.

        A sample that would move by δ in the next sweep adds about c (q + γ)² δ²/2γ to it. If many
        samples stay at a bound, later sweeps leave these to the next gap check.
        """
        self.weights, last = self.weights > 0.0, 0.0  # a byte a sample instead of eight
        left, before = None, np.empty(self.size)
        for turn in range(TUNING.most_full_sweeps):
            before[:] = self.view.x
            left = self._shuffled(np.flatnonzero(self.weights) if left is None else left)
            yield left
            some = turn > 0 and self.movers <= TUNING.most_movers * self.size
            left = left[: self.movers] if some else None
            size = self._gap_of_moves(before)
            rate = size / last if 0.0 < size < last else float(size > 0.0)
            self.expected, last = size * rate, size
            self.fast = turn == 0 or rate <= TUNING.fast_rate
            near = turn > 0 and self.trust * self.expected <= self.setting.target
            slow = rate > TUNING.slow_rate and turn + 1 >= TUNING.slow_sweeps
            if near or slow or not (self.few or self.fast):
                break

    def _gap_of_moves(self, before: Floats) -> float:
        """Σ c (q + γ)² δ²/2γ over the changes δ of a sweep."""
        view, gamma, total = self.view, float(self.problem.loss.gamma), 0.0
        for some in terms.few_at_once(self.size):
            about = (view.scale[some] * view.squares[some] + gamma) * (view.x[some] - before[some])
            total += float(np.sum(self.problem.c[some] * about**2))
        return total / (2.0 * gamma)

    def _by_gaps(self) -> Iterator[Any]:
        """The samples with the largest gaps, then also those with a tenth of them, and so on."""
        largest = self.weights.max()
        for level in range(TUNING.most_sweeps):
            room = int(TUNING.smooth_updates * self.size - self.swept)
            chosen = self.weights > largest * 0.1 ** (level + 1)
            if room <= 0 or not chosen.any():
                break
            yield self._shuffled(np.flatnonzero(chosen))[:room]

    def _shuffled(self, order: Any) -> Any:
        """In random order; rows on disk in blocks of adjacent rows, so that a sweep reads the file
        block by block and not row by row."""
        if self.adjacent_rows is None:
            shuffle(order, self.rng)
            return order
        blocks = np.array_split(np.sort(order), len(order) // self.adjacent_rows + 1)
        for block in blocks:
            shuffle(block, self.rng)
        return np.concatenate([blocks[k] for k in self.rng.permutation(len(blocks))])

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Find which samples are unresolved, and whether steps on the face pay."""
        if self.kinked:
            self.weights = self.movable.copy()
            z = self.intercept.seen(pair) if self.intercept else pair.z
            keep_unresolved(self.view.scorer, z, self.view.x, self.weights)
        else:
            self.weights = certificate.sample_parts
            if not self.movable.all():
                self.weights = np.where(self.movable, self.weights, 0.0)
        if self.faces:
            self.faces.compare(certificate.dual - self.dual, self.swept)
        self.dual = certificate.dual
        if self.expected > 0.0:
            trust = certificate.gap / self.expected
            self.trust = float(np.clip(trust, TUNING.least_trust, TUNING.most_trust))
        return False

    def release_memory(self) -> None:
        self.weights, self.mean = self.movable.copy(), None

    def refresh(self) -> None:
        self.view.refresh()
        self.mean = None

    def state(self) -> dict[str, Any]:
        return {
            "x": self.view.x,
            "v": self.view.v,
            "weights": self.weights,
            "quick": self.fast,
            "expected": self.expected,
            "trust": self.trust,
            "dual": self.dual,
            "faces": self.faces.state() if self.faces else None,
            "intercept": self.intercept.state() if self.intercept else None,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.view.x[:], self.view.v[:] = state["x"], state["v"]
        self.weights = np.array(np.broadcast_to(state["weights"], self.size))
        self.fast, self.expected = state["quick"], state["expected"]
        self.trust, self.dual = state["trust"], state["dual"]
        if self.faces:
            self.faces.restore(state["faces"])
        if self.intercept:
            self.intercept.restore(state["intercept"])


class DualMean:
    """The mean of the dual points that were added, with its u."""

    def __init__(self) -> None:
        self.a, self.u, self.count = np.zeros(0), np.zeros(0), 0

    def add(self, a: Floats, u: Floats) -> None:
        if self.count:
            self.a += a
            self.u += u
        else:
            self.a, self.u = a.copy(), u.copy()
        self.count += 1

    def finish(self) -> tuple[Floats, Floats] | None:
        """Divide the sums; None if fewer than two points were added, and the last one will do."""
        if self.count < 2:
            return None
        self.a /= self.count
        self.u /= self.count
        return self.a, self.u


def shuffle(order: Any, rng: Any) -> None:
    """Shuffle ``order``, of fewer than 2³² numbers, in place: 1 ns a number where NumPy takes 7, a
    sixth of a sweep over rows of 12 entries."""
    _shuffle(order, rng.integers(1 << 63, dtype=np.uint64))


@kernel
def _shuffle(order: Any, state: Any) -> None:
    for k in range(len(order) - 1, 0, -1):
        state = state * np.uint64(_FACTOR) + np.uint64(_INCREMENT)
        other = ((state >> np.uint64(_HALF)) * np.uint64(k + 1)) >> np.uint64(_HALF)
        kept = order[np.uint64(k)]
        order[np.uint64(k)] = order[other]
        order[other] = kept
