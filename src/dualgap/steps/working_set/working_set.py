"""Working sets: Newton models of the losses, minimised over a few features at a time.

After each gap check the features that could gain most by a step join the set. On the set, the
losses are replaced by their second-order model around z = Xw (a squared loss by itself), and a line
search on the objective leads towards the minimum of model plus penalty. The model is minimised by
coordinate steps over columns (``column_kernels.py``) or, for small sets, by their Gram matrix
(``gram_model.py``), which serves several models while curvatures change little.

Cost of a round: a pass over X for the gap check, and passes over the columns of the set. Rate: that
of Newton's method once the set is the right one, and linear before (Friedman, Hastie, Tibshirani
2010; Yuan, Ho, Lin 2012; Massias, Gramfort, Salmon 2018).
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
from dualgap.proof.dual_point import balanced, feasible_length
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start, vector
from dualgap.steps.working_set import column_kernels, line_search
from dualgap.steps.working_set.centring import curvature_bounds
from dualgap.steps.working_set.columns import columns_of, is_one_set
from dualgap.steps.working_set.gram_matrix import places
from dualgap.steps.working_set.gram_model import GramModel
from dualgap.steps.working_set.tuning import TUNING


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

    matrix: Any  # which has the columns of the set

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        super().__init__(problem)
        self.columns = columns_of(problem)
        self.w = (origin(problem) if warm.coef is None else warm.coef).copy()
        empty = np.repeat(problem.column_squares == 0.0, problem.width)  # only the penalty matters
        self.w[empty] = problem.features.origin[empty]
        self.counts = problem.column_counts
        self.z = problem.decision(self.w)
        self.r = self.h = np.empty(0)  # slopes and curvatures of the losses, while a set is fitted
        self.a: Floats | None = None  # the dual point of z, if it was computed, and its u
        self.u: Floats | None = None
        self.setting = setting
        self.bound = curvature_bounds(problem)
        self.stored = max(problem.entries, 1.0)
        scale = problem.scale or 1.0
        self.tolerance = TUNING.negligible * problem.lam * setting.target / scale
        self.quadratic = bool(problem.loss.quadratic)  # the model is the problem
        self.set: Any = np.empty(0, np.int64)
        self.final = False  # whether the set may be the right one
        self.model = GramModel(problem, self.columns)
        self.sweeps = TUNING.first_sweeps
        # Whether curvatures change and have a bound.
        self.has_floor = problem.loss.gamma > 0.0 and not self.quadratic
        self.floor = TUNING.first_floor if self.has_floor else 0.0

    def pair(self) -> Pair:
        a, u = self._dual()
        self.a = None  # the caller may keep the array
        return Pair(self.w.copy(), a, self.z, u, u_anew=True)

    def _dual(self) -> tuple[Floats, Floats]:
        """The dual point of z, with free features balanced so that a proof need not move it, and
        its u."""
        problem = self.problem
        if self.a is None or self.u is None:
            a = np.empty(problem.dual_size)
            terms.slopes(problem.loss, problem.y, self.z, a)
            if len(problem.free_places):
                a = balanced(problem, Pair(self.w, a, self.z, np.empty(0)))
            self.a, self.u = a, problem.average(a)
        return self.a, self.u

    def release_memory(self) -> None:
        self.z, self.a = np.empty(0), None

    def refresh(self) -> None:
        """Recompute z, which removes the rounding errors of updates."""
        self.z, self.a = self.problem.decision(self.w), None

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Choose a set and minimise over it; repeat while the gap is known to be too large."""
        products, any_moved = 0.0, False
        for _ in range(TUNING.sets_between_checks):
            if self.u is None:
                self._dual()
            self._choose_set()
            self.a = None  # it is long, and z will move
            before = self.w[self.set]
            with single_threaded_blas():
                products += 1.0 + self._minimise() / self.stored
            moved = bool((self.w[self.set] != before).any())
            any_moved |= moved
            if not moved:
                self.tolerance *= 0.1
            free = len(self.problem.free_places)
            if not moved or free or self._feature_gap() <= self.setting.target:
                break
        return int(any_moved), int(self.size * products), self.size * products / 2

    def _feature_gap(self) -> float:
        """What features contribute to the gap: samples add to it if the dual point is scaled."""
        problem, (_, u) = self.problem, self._dual()
        low, high = problem.features.low, problem.features.high
        scale = feasible_length(u, np.empty(0), low, high) if problem.has_bounded_conj else 1.0
        return float(column_kernels.feature_gap(problem.penalty, problem.lam, self.w, u, scale))

    def _choose_set(self) -> None:
        """Add the features that could gain most by a step, in the place of idle ones if need be."""
        problem = self.problem
        if is_one_set(problem):
            self._choose_all()
            return
        if not len(self.set):
            self.set = self._support()
        gain = np.empty(problem.d)
        column_kernels.gains(problem.penalty, problem.lam, self.bound, self.w, self.u, gain)
        gain[self.set] = 0.0
        new = np.flatnonzero(gain > 0.0)
        stay = self._in_support(self.set)
        count = int(np.count_nonzero(stay))
        share = count / max(len(self.set), 1)
        # More features than samples are not needed, however many a rough model may use.
        size = min(int((1.0 + TUNING.growth * share) * min(count, problem.n)), self.model.most)
        size = max(size, count + TUNING.spare_features)
        if len(new) > size - len(self.set) or share < TUNING.least_support:
            self.model.keep(self.set, stay)
            self.set = self.set[stay]
        room = size - len(self.set)
        complete = len(new) <= room
        if not complete:
            new = new[np.argpartition(gain[new], -room)[-room:]]
        self.set = np.concatenate([self.set, self._by_length(new)])
        size = len(self.set)
        cheap = size <= TUNING.small_set or len(new) <= TUNING.new_features * size
        self.final = complete and cheap

    def _choose_all(self) -> None:
        """All features except empty ones."""
        if not self.final:
            self.set, self.final = self._by_length(np.flatnonzero(self.counts)), True

    def _by_length(self, features: Any) -> Any:
        # Gram matrices are read more locally if long columns are adjacent.
        return features[np.argsort(-self.counts[features], kind="stable")]

    def _support(self) -> Any:
        """The features that differ from the penalty's minimum or have no penalty."""
        origin, free = self.problem.features.origin, self.problem.free_places
        used = self.w != origin
        used[free[self.counts[free] > 0.0]] = True
        return np.flatnonzero(used)

    def _in_support(self, features: Any) -> Any:
        """Which of these features are in the support, in this sense."""
        used = self.w[features] != self.problem.features.origin[features]
        if len(self.problem.free_places):
            used |= np.isin(features, self.problem.free_places)
        return used

    def _minimise(self) -> float:
        """Minimise over the set, to a fraction of the first violation; returns the entries read."""
        problem, set_ = self.problem, self.set
        self.matrix = self.columns.holding(set_)
        entries = float(self.counts[set_].sum())
        least = TUNING.least_curvature * self.bound[set_]
        by_gram = self.model.pays(set_, entries)
        self.r, self.h = np.empty((2, problem.n))
        value = line_search.expand(problem.loss, problem.y, problem.c, self.z, self.r, self.h)
        work, tolerance, last = 0.0, self.tolerance, np.inf
        for turn in range(1 if self.quadratic else TUNING.models_per_set):
            x = self.w[set_]
            h = self._curvatures()
            if by_gram:
                g = np.empty(len(set_))
                column_kernels.dots(self.matrix, self.r, set_, g)
                if turn > 0 and self.model.violation(set_, g, x) <= tolerance:
                    break
                first = self.model.minimise(set_, h, g, least, x, tolerance, self._model_left())
                work += 4.0 * entries
            else:
                first, spent = self._descend(least, x, tolerance, h)
                work += spent + 2.0 * entries
            if not (x != self.w[set_]).any():
                break
            value, length = self._search(x, value)
            moved = length > 0.0
            self._adapt_models(length, by_gram)
            if not self.model.fresh and (first > TUNING.stale_model * last or not moved):
                self.model.forget()
            if turn == 0:
                tolerance = max(tolerance, TUNING.violation_left * first)
            if first <= tolerance or not (moved or by_gram):
                break
            last = first
        self.r = self.h = np.empty(0)
        return work

    def _model_left(self) -> float:
        """The fraction of the first violation that a Gram model may leave."""
        if not self.final:
            return TUNING.rough_model
        return 0.0 if self.quadratic else TUNING.fine_model

    def _curvatures(self) -> Floats:
        """The curvatures of the model. Far from the minimum, where losses are flat, Newton steps go
        too far; with the largest possible curvatures they would always decrease the objective."""
        if self.floor == 0.0:
            return self.h
        least = self.floor / self.problem.loss.gamma * self.problem.c
        return np.asarray(np.maximum(self.h, least))

    def _adapt_models(self, length: float, by_gram: bool) -> None:
        """After a short step models become steeper and rougher, after a full step the opposite."""
        if not by_gram:
            longer = min(2 * self.sweeps, TUNING.most_sweeps)
            self.sweeps = longer if length == 1.0 else max(self.sweeps // 2, TUNING.least_sweeps)
        factor = TUNING.floor_factor
        if length == 1.0:
            self.floor = self.floor / factor if self.floor > TUNING.no_floor else 0.0
        elif length < TUNING.short_step and self.has_floor:
            self.floor = min(max(factor * self.floor, TUNING.raised_floor), 1.0)

    def _descend(
        self, least: Floats, x: Floats, tolerance: float, h: Floats
    ) -> tuple[float, float]:
        """Minimise the model by coordinate steps over columns."""
        problem, (q, cross) = self.problem, np.empty((2, len(x)))
        found = np.flatnonzero(self.set == self.model.centring.intercept)
        constant = problem.constant if len(found) and h.any() else 0.0
        column_kernels.curvatures(self.matrix, h, self.set, constant, q, cross)
        return column_kernels.descend(
            self.matrix,
            problem.penalty,
            problem.lam,
            self.set,
            np.maximum(q, least),
            h,
            self.r.copy(),
            x,
            cross,
            int(found[0]) if constant else -1,
            constant,
            tolerance,
            0.0 if self.quadratic and self.final else TUNING.columns_left,
            TUNING.quadratic_sweeps if self.quadratic else self.sweeps,
        )

    def _search(self, x: Floats, value: float) -> tuple[float, float]:
        """Move towards x; returns the sum of losses there, and the length of the step."""
        problem = self.problem
        penalty, lam, state = problem.penalty, problem.lam, (self.set, x, self.w, self.z)
        if self.quadratic:
            return value, float(line_search.move_to(self.matrix, *state))
        losses = problem.loss, problem.y, problem.c
        slopes = self.r, self.h, value
        found = line_search.search(self.matrix, *losses, penalty, lam, *state, *slopes)
        return float(found[0]), float(found[1])

    def state(self) -> dict[str, Any]:
        return {
            "w": self.w,
            "z": self.z,
            "set": self.set,
            "settled": self.final,
            "negligible": self.tolerance,
            "sweeps": self.sweeps,
            "floor": self.floor,
            "model": self.model.state(self.set),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.w, self.z = vector(state, "w", len(self.w)), vector(state, "z", len(self.z))
        self.set = places(state["set"], self.problem.d)
        self.final, self.sweeps, self.floor = state["settled"], state["sweeps"], state["floor"]
        self.tolerance = min(self.tolerance, state["negligible"])
        self.model.restore(state["model"], self.set)
