"""Sweeps over unresolved samples in random order, and steps on the face that they leave.

Each sweep makes a coordinate step for each of some samples, in random order. For a loss with kinks
these are all that the last look found unresolved, then those that still moved, and so on (Hsieh et
al. 2008); what is looked at is the mean of the later sweeps: there the objective grows with the
size of a residue, not with its square, and the residues of sweeps cancel out. For other losses they
are the samples with the largest parts of the gap, then also those with a tenth of it, and so on,
until as many updates are made as there are samples: what ``GapPerEpoch(m=10)`` draws, without
drawing (Perekrestenko et al. 2017; Csiba et al. 2015). If there are few samples, or steps soon
become short, a round sweeps over all unresolved ones until these are as short as the target takes.

Where the dual objective is quadratic on a face (``face.py``), a round begins with conjugate
gradients on it, unless they lately gained less for their cost than sweeps did. Ridge regression on
few samples is one system (``kernel_matrix.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from dualgap.steps.sweeps.face import ascend, has_faces
from dualgap.steps.sweeps.kernel_matrix import KernelRun, has_few_samples
from dualgap.steps.sweeps.shuffle import shuffle

_UPDATES = 2.25  # of a round, for each sample, unless one sweep takes more
_SMOOTH_UPDATES = 1.0  # the same for a loss without kinks
_SWEEPS = 20  # of a round, at most
_FEW = 2000  # samples up to which a look costs more than the sweeps that it saves
_MOST_SWEEPS, _SLOW_SWEEPS = 12, 6  # over all; if steps do not become shorter ...
_FAST = 0.5  # ... by this factor, squared ...
_QUICK = 0.3  # ... or, if there are many samples, by this one, they are told apart
_MOVING = 0.6  # of all samples: if more of them move, sweeps leave out none
_TRUST = 1e-3, 1e3  # how wrong the gap may be that sweeps expect
_FEWEST, _USUAL, _MOST, _ALL = 5, 30, 200, 1000  # iterations on a face; where there is one only
_FIRST = 2  # rounds before the first step on the face
_STRETCH = 4_000_000  # entries of rows on disk that are visited one after the other
_LONGEST_WAIT = 8  # rounds without steps on the face after some that did not pay


@dataclass(frozen=True)
class Sweeps(FullPass):
    """Sweeps and steps on faces; the dual view."""

    usual = "sweeps"

    def refusal(self, problem: Problem) -> str | None:
        return multiclass_refusal(problem) or dual_refusal(problem)

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
        self.view = DualView(problem, warm.dual)
        self.rng = setting.rng or np.random.default_rng(0)
        self.starts_at_zero = warm.dual is None
        self.kinked = problem.loss.gamma == 0.0
        self.needs_sample_gaps = not self.kinked
        self.few, self.quick = problem.n <= _FEW, True
        self.target, self.expected, self.trust = setting.target, 0.0, 1.0
        self.movable = self._movable()
        self.weights: Any = self.movable.copy()  # False or 0 for what is resolved
        self.faces = Faces(self.view, setting.target) if has_faces(problem) else None
        self.mean: tuple[Floats, Floats] | None = None  # of a and u over the later sweeps
        self.swept, self.movers, self.dual = 0.0, 0, np.inf
        on_disk = storage.is_on_disk(problem.X)
        self.stretch = int(_STRETCH / max(self.entries, 1.0)) + 1 if on_disk else None

    def pair(self) -> Pair:
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
        if not (self.faces and self.faces.suffice):
            moved = self._sweep() or moved
        updates += self.swept + 0.5 * self.size  # a look is one product
        return int(moved), int(2 * updates), updates

    def _sweep(self) -> bool:
        """Sweeps over what is unresolved; whether anything moved."""
        view, moved, sums = self.view, False, Means()
        for order in self._rounds():
            self.movers, _ = epoch(*view.fixed, order, view.x, view.v, order)  # they come first now
            self.swept += len(order)
            moved = moved or self.movers > 0
            del order  # before the next one is made: it is long
            if self.kinked and 2.0 * self.swept >= _UPDATES * self.size:
                sums.add(self.view.x, self.view.v)
        self.mean = sums.mean
        if not self.kinked:
            self.weights = self.movable.copy()  # until the next look
        return moved

    def _movable(self) -> Any:
        """Which samples steps can move at all."""
        view, found = self.view, np.empty(self.size, np.bool_)
        for some in terms.few_at_once(self.size):
            np.greater(view.scale[some] * view.squares[some], 0.0, out=found[some])
        return found

    def _rounds(self) -> Iterator[Any]:
        """The samples of each sweep of a round, in random order."""
        if self.kinked:
            return self._of_kinks()
        return self._of_all() if self.few or self.quick else self._of_levels()

    def _of_kinks(self) -> Iterator[Any]:
        """All that is unresolved, then what still moves."""
        left = np.flatnonzero(self.weights)
        for _ in range(_SWEEPS):
            left = self._shuffled(left)
            yield left
            left = left[: self.movers]
            if not len(left) or self.swept + len(left) > _UPDATES * self.size:
                break

    def _of_all(self) -> Iterator[Any]:
        """All that is unresolved, until the steps are so short that the gap should be small.

        A sample that would move by δ in the next sweep adds about c (q + γ)² δ²/2γ to it. Where
        many stay at a bound, later sweeps leave these to the next look.
        """
        self.weights, last = self.weights > 0.0, 0.0  # parts of the gap are long
        left, before = None, np.empty(self.size)
        for turn in range(_MOST_SWEEPS):
            before[:] = self.view.x
            left = self._shuffled(np.flatnonzero(self.weights) if left is None else left)
            yield left
            settled = turn > 0 and self.movers <= _MOVING * self.size
            left = left[: self.movers] if settled else None
            size = self._moved_by(before)
            rate = size / last if 0.0 < size < last else float(size > 0.0)
            self.expected, last = size * rate, size
            self.quick = turn == 0 or rate <= _QUICK
            near = turn > 0 and self.trust * self.expected <= self.target
            slow = rate > _FAST and turn + 1 >= _SLOW_SWEEPS
            if near or slow or not (self.few or self.quick):
                break

    def _moved_by(self, before: Floats) -> float:
        """Σ c (q + γ)² δ²/2γ over the changes δ of a sweep."""
        view, gamma, total = self.view, float(self.problem.loss.gamma), 0.0
        for some in terms.few_at_once(self.size):
            about = (view.scale[some] * view.squares[some] + gamma) * (view.x[some] - before[some])
            total += float(np.sum(self.problem.c[some] * about**2))
        return total / (2.0 * gamma)

    def _of_levels(self) -> Iterator[Any]:
        """What has the largest parts of the gap, then also what has a tenth of it, and so on."""
        largest = self.weights.max()
        for level in range(_SWEEPS):
            room = int(_SMOOTH_UPDATES * self.size - self.swept)
            chosen = self.weights > largest * 0.1 ** (level + 1)
            if room <= 0 or not chosen.any():
                break
            yield self._shuffled(np.flatnonzero(chosen))[:room]

    def _shuffled(self, order: Any) -> Any:
        """In random order; rows on disk by stretches that lie together, so that a sweep reads
        most of the file in pieces and not row by row."""
        if self.stretch is None:
            shuffle(order, self.rng)
            return order
        parts = np.array_split(np.sort(order), len(order) // self.stretch + 1)
        for part in parts:
            shuffle(part, self.rng)
        return np.concatenate([parts[k] for k in self.rng.permutation(len(parts))])

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Which samples are unresolved, and whether steps on the face pay."""
        if self.kinked:
            self.weights = self.movable.copy()
            keep_unresolved(self.view.look, pair.z, self.view.x, self.weights)
        else:
            self.weights = certificate.sample_parts
            if not self.movable.all():
                self.weights = np.where(self.movable, self.weights, 0.0)
        if self.faces:
            self.faces.judge(certificate.dual - self.dual, self.swept)
        self.dual = certificate.dual
        if self.expected > 0.0:
            self.trust = float(np.clip(certificate.gap / self.expected, *_TRUST))
        return False

    def release_memory(self) -> None:
        self.weights, self.mean = self.movable.copy(), None

    def refresh(self) -> None:
        self.view.refresh()
        self.mean = None

    def state(self) -> dict[str, Any]:
        names = ("weights", "quick", "expected", "trust", "dual")
        own = {name: getattr(self, name) for name in names}
        own["faces"] = self.faces.state() if self.faces else None
        return {"x": self.view.x, "v": self.view.v, **own}

    def restore(self, state: dict[str, Any]) -> None:
        self.view.x[:], self.view.v[:] = state["x"], state["v"]
        self.weights = np.array(np.broadcast_to(state["weights"], self.size))
        for name in ("quick", "expected", "trust", "dual"):
            setattr(self, name, state[name])
        if self.faces:
            self.faces.restore(state["faces"])


class Means:
    """The mean of the dual points that were added, and of their images."""

    def __init__(self) -> None:
        self.a, self.u, self.count = np.zeros(0), np.zeros(0), 0

    def add(self, a: Floats, u: Floats) -> None:
        if self.count:
            self.a += a
            self.u += u
        else:
            self.a, self.u = a.copy(), u.copy()
        self.count += 1

    @property
    def mean(self) -> tuple[Floats, Floats] | None:
        """None before the second: what a run has then is its state. Ends the sums."""
        if self.count < 2:
            return None
        self.a /= self.count
        self.u /= self.count
        return self.a, self.u


class Faces:
    """When to make steps on the face, and how long they may be."""

    def __init__(self, view: DualView, target: float) -> None:
        self.view, self.target = view, target
        self.suffice = bool(view.problem.loss.quadratic)  # there is one face only
        self.most = _ALL if self.suffice else _USUAL
        self.left, self.wait = 0 if self.suffice else _FIRST, 1  # rounds until the next step
        self.gain = self.cost = 0.0

    def step(self) -> tuple[bool, float]:
        """Whether anything moved, and the updates that it was worth."""
        self.gain = self.cost = 0.0
        if self.left > 0:
            self.left -= 1
            return False, 0.0
        done = ascend(self.view, self.most, self.target)
        if not self.suffice:
            change = 1.5 if done.length > 0.5 else 0.7
            self.most = int(min(max(self.most * change, _FEWEST), _MOST))
        self.gain, self.cost = done.gain, float(done.size * (done.iterations + 1))
        return done.length > 0.0, self.cost

    def judge(self, gain: float, swept: float) -> None:
        """Compare what the round has gained by its sweeps with what its step on the face has."""
        if self.cost == 0.0 or swept == 0.0:
            return
        if self.gain / self.cost < (gain - self.gain) / swept:
            self.left, self.wait = self.wait, min(2 * self.wait, _LONGEST_WAIT)
        else:
            self.wait = 1

    def state(self) -> dict[str, Any]:
        return {"most": self.most, "left": self.left, "wait": self.wait}

    def restore(self, state: dict[str, Any]) -> None:
        self.most, self.left, self.wait = (state[name] for name in ("most", "left", "wait"))
