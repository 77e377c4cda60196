"""Working sets: Newton models of the losses, minimised over a few features at a time.

At each look the features that could gain most by a step join the set. On the set, the losses are
replaced by their second-order model around z = Xw (a squared loss by itself), and the minimum of
model plus penalty is where a line search on the objective leads to. The model is minimised by
coordinate steps over columns or, for small sets, by their Gram matrix (``gram_model.py``), which
serves several models while curvatures change little.

Cost of a round: a pass over X for the look, and passes over the columns of the set. Rate: that of
Newton's method once the set is the right one, and linear before (Friedman, Hastie, Tibshirani 2010;
Yuan, Ho, Lin 2012; Massias, Gramfort, Salmon 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.baseline import origin
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start, vector
from dualgap.steps.working_set import kernels
from dualgap.steps.working_set.gram_model import GramModel, places

_FEW = 100  # features beyond the support that a set may always have
_ALL = 200  # features of which one set, and one Gram matrix, is made if models stay as they are
_GROWTH = 2.0  # ... in units of the support, if the last set has become all support
_IDLE = 0.2  # part of a set that is support, below which the rest leaves
_EASY = 400  # features over which the minimum is found in no time
_SETTLED = 0.05  # part of a larger set that may be new if it is to be the last
_MODELS = 10  # between two looks
_LEFT = 0.1  # what these may leave of the violations that a set begins with
_STALE = 0.2  # what a model may leave before its Gram matrix is made anew
_ROUGH, _FINE = 0.1, 1e-3  # what minimising a model may leave, if the set will grow, or z move
_BEGIN, _LEAST, _SWEEPS = 4, 2, 50  # over columns, for a model of several: as steps are long ...
_MANY_SWEEPS = 100  # ... and for the only one
_COLUMNS = 0.1  # what these may leave
# The curvature that samples have at least, relative to the largest possible: at first, after a
# short step, and so little that it might as well be none; and how fast it changes.
_FLOOR, _RAISED, _NO_FLOOR, _FASTER = 0.1, 0.02, 1e-3, 4.0
_SHORT = 0.5  # length of a step
_FLATTEST = 1e-3  # curvature of a step, relative to its bound
_TARGET = 0.1  # violations, relative to the target, that no longer matter
_UNSEEN = 4  # sets between two looks, if the gap is known to be too large


@dataclass(frozen=True)
class WorkingSet(FullPass):
    """Newton models on working sets of features."""

    usual = "working-set"

    def describe(self, problem: Problem) -> str:
        return "Newton models on working sets of features"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> WorkingSetRun:
        return WorkingSetRun(problem, warm, setting)


class WorkingSetRun(FullPassRun):
    """A run; its state is w with z = Xw, and the set."""

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        super().__init__(problem)
        self.matrix = problem.columns
        self.w = (origin(problem) if warm.coef is None else warm.coef).copy()
        empty = np.flatnonzero(problem.column_squares == 0.0)
        self.w[empty] = problem.features.origin[empty]  # there the penalty decides
        self.counts = problem.column_counts
        self.z = problem.decision(self.w)
        self.r = self.h = np.empty(0)  # slopes and curvatures of the losses, while a set is fitted
        self.a: Floats | None = None  # the dual point of z, once somebody has asked, and its image
        self.u: Floats | None = None
        self.target = setting.target
        # Bounds on curvatures; with sample weights and for Poisson a guess, to order features by.
        self.bound = problem.column_squares * float(problem.c.mean()) / (problem.loss.gamma or 1.0)
        self.stored = max(problem.entries, 1.0)
        self.negligible = _TARGET * problem.lam * setting.target / (problem.scale or 1.0)
        self.fixed = bool(problem.loss.quadratic)  # the model is the problem
        self.set: Any = np.empty(0, np.int64)
        self.settled = False  # whether the set may be the right one
        self.model = GramModel(problem)
        self.sweeps = _BEGIN
        self.bounded = problem.loss.gamma > 0.0 and not self.fixed  # curvatures, and they change
        self.floor = _FLOOR if self.bounded else 0.0

    def pair(self) -> Pair:
        a, u = self._dual()
        self.a = None  # whoever has it may keep it
        return Pair(self.w.copy(), a, self.z, u, u_anew=True)

    def _dual(self) -> tuple[Floats, Floats]:
        """The dual point that z stands for, and its image."""
        problem = self.problem
        if self.a is None or self.u is None:
            self.a = np.empty(problem.n)
            terms.slopes(problem.loss, problem.y, self.z, self.a)
            self.u = problem.average(self.a)
        return self.a, self.u

    def release_memory(self) -> None:
        self.z, self.a = np.empty(0), None

    def refresh(self) -> None:
        """Wipe out the rounding errors that updates of z have added up."""
        self.z, self.a = self.problem.decision(self.w), None

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Choose a set, and minimise over it; again, while it is plain that the gap is large."""
        products, any_moved = 0.0, False
        for _ in range(_UNSEEN):
            if self.u is None:
                self._dual()
            self._choose()
            self.a = None  # it is long, and z will move
            before = self.w[self.set]
            with single_threaded_blas():
                products += 1.0 + self._fit() / self.stored
            moved = bool((self.w[self.set] != before).any())
            any_moved |= moved
            if not moved:
                self.negligible *= 0.1
            if not moved or len(self.problem.free_places) or self._owed() <= self.target:
                break
        return int(any_moved), int(self.size * products), self.size * products / 2

    def _owed(self) -> float:
        """What features add to the gap: samples add more, if the dual point has to be shrunk."""
        problem, (_, u) = self.problem, self._dual()
        low, high = problem.features.low, problem.features.high
        length = terms.room(u, np.empty(0), low, high) if problem.has_bounded_conj else 1.0
        return float(kernels.owed(problem.penalty, problem.lam, self.w, u, length))

    def _choose(self) -> None:
        """Let those features join that could gain most by a step, if need be for idle ones."""
        problem = self.problem
        if self.fixed and problem.d <= _ALL:
            self._take_all()
            return
        if not len(self.set):
            self.set = self._used()
        gain = np.empty(problem.d)
        kernels.gains(problem.penalty, problem.lam, self.bound, self.w, self.u, gain)
        gain[self.set] = 0.0
        new = np.flatnonzero(gain > 0.0)
        stay = self._in_use(self.set)
        count = int(np.count_nonzero(stay))
        full = count / max(len(self.set), 1)
        # More features than samples are not needed, however many a rough model may use.
        size = max(int((1.0 + _GROWTH * full) * min(count, problem.n)), count + _FEW)
        if len(new) > size - len(self.set) or full < _IDLE:
            self.model.keep(self.set, stay)
            self.set = self.set[stay]
        room = size - len(self.set)
        complete = len(new) <= room
        if not complete:
            new = new[np.argpartition(gain[new], -room)[-room:]]
        self.set = np.concatenate([self.set, self._sorted(new)])
        easy = len(self.set) <= _EASY or len(new) <= _SETTLED * len(self.set)
        self.settled = complete and easy

    def _take_all(self) -> None:
        """All features but empty ones: a look costs about as much as their Gram matrix."""
        if not self.settled:
            self.set, self.settled = self._sorted(np.flatnonzero(self.counts)), True

    def _sorted(self, some: Any) -> Any:
        # Gram matrices are read less widely if long columns are side by side.
        return some[np.argsort(-self.counts[some], kind="stable")]

    def _used(self) -> Any:
        """The features that are not where the penalty would have them, or have no penalty."""
        origin, free = self.problem.features.origin, self.problem.free_places
        used = self.w != origin
        used[free[self.counts[free] > 0.0]] = True
        return np.flatnonzero(used)

    def _in_use(self, some: Any) -> Any:
        """Which of these are."""
        used = self.w[some] != self.problem.features.origin[some]
        if len(self.problem.free_places):
            used |= np.isin(some, self.problem.free_places)
        return used

    def _fit(self) -> float:
        """Minimise over the set, to a part of what it was off before; returns the entries read."""
        problem, set_ = self.problem, self.set
        entries = float(self.counts[set_].sum())
        flattest = _FLATTEST * self.bound[set_]
        small = self.model.pays(set_, entries)
        self.r, self.h = np.empty((2, problem.n))
        value = kernels.expand(problem.loss, problem.y, problem.c, self.z, self.r, self.h)
        work, close, last = 0.0, self.negligible, np.inf
        for turn in range(1 if self.fixed else _MODELS):
            x = self.w[set_]
            h = self._curvatures()
            if small:
                g = np.empty(len(set_))
                kernels.dots(self.matrix, self.r, set_, g)
                if turn > 0 and self.model.off(set_, g, x) <= close:
                    break
                part = (0.0 if self.fixed else _FINE) if self.settled else _ROUGH
                first = self.model.minimise(set_, h, g, flattest, x, close, part)
                work += 4.0 * entries
            else:
                first, spent = self._descend(flattest, x, close, h)
                work += spent + 2.0 * entries
            if not (x != self.w[set_]).any():
                break
            value, length = self._search(x, value)
            moved = length > 0.0
            self._learn(length, small)
            if not self.model.fresh and (first > _STALE * last or not moved):
                self.model.forget()
            if turn == 0:
                close = max(close, _LEFT * first)
            if first <= close or not (moved or small):
                break
            last = first
        self.r = self.h = np.empty(0)
        return work

    def _curvatures(self) -> Floats:
        """Those of the model: far from the minimum, where losses are flat, Newton steps are wild,
        and with the largest possible curvatures they would always lead down."""
        if self.floor == 0.0:
            return self.h
        least = self.floor / self.problem.loss.gamma * self.problem.c
        return np.asarray(np.maximum(self.h, least))

    def _learn(self, length: float, small: bool) -> None:
        """A model that has promised too much was too flat, and solved too well."""
        if not small:
            longer = min(2 * self.sweeps, _SWEEPS)
            self.sweeps = longer if length == 1.0 else max(self.sweeps // 2, _LEAST)
        if length == 1.0:
            self.floor = self.floor / _FASTER if self.floor > _NO_FLOOR else 0.0
        elif length < _SHORT and self.bounded:
            self.floor = min(max(_FASTER * self.floor, _RAISED), 1.0)

    def _descend(self, flattest: Floats, x: Floats, close: float, h: Floats) -> tuple[float, float]:
        """Minimise the model by coordinate steps over columns."""
        problem, q = self.problem, np.empty(len(x))
        kernels.squares(self.matrix, h, self.set, q)
        return kernels.descend(
            self.matrix,
            problem.penalty,
            problem.lam,
            self.set,
            np.maximum(q, flattest),
            h,
            self.r.copy(),
            x,
            close,
            0.0 if self.fixed and self.settled else _COLUMNS,
            _MANY_SWEEPS if self.fixed else self.sweeps,
        )

    def _search(self, x: Floats, value: float) -> tuple[float, float]:
        """Go to x, or as far that the objective falls by a part of what the model promises."""
        problem = self.problem
        penalty, lam, state = problem.penalty, problem.lam, (self.set, x, self.w, self.z)
        if self.fixed:
            return value, float(kernels.go(self.matrix, *state))
        losses = problem.loss, problem.y, problem.c
        found = kernels.search(self.matrix, *losses, penalty, lam, *state, self.r, self.h, value)
        return float(found[0]), float(found[1])

    def state(self) -> dict[str, Any]:
        names = ("w", "z", "set", "settled", "negligible", "sweeps", "floor")
        return {
            **{name: getattr(self, name) for name in names},
            "model": self.model.state(self.set),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.w, self.z = vector(state, "w", self.problem.d), vector(state, "z", self.size)
        self.set = places(state["set"], self.problem.d)
        self.settled, self.sweeps, self.floor = (
            state[name] for name in ("settled", "sweeps", "floor")
        )
        self.negligible = min(self.negligible, state["negligible"])
        self.model.restore(state["model"], self.set)
