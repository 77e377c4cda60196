"""Working sets of groups: Newton models of the losses, minimised over a few groups at a time.

The same method as ``working_set.py``, with groups in place of features: after each gap check the
groups that could gain most by a step join the set. The model on the set is minimised by proximal
steps on whole groups and by Newton steps on the coefficients that are not 0 (``gram_minimum.py``),
or by steps over columns where a Gram matrix does not pay (``column_blocks.py``).

Massias, Gramfort, Salmon 2018; Bertrand et al. 2022, for the working sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import group_terms, terms
from dualgap.proof.dual_point import feasible_length_of
from dualgap.steps.base import FullPass, Setting, Start
from dualgap.steps.groups import column_blocks, gram_blocks, line_search, support
from dualgap.steps.groups.block_model import BlockModel
from dualgap.steps.groups.tuning import TUNING as GROUPS
from dualgap.steps.working_set.columns import is_one_set
from dualgap.steps.working_set.tuning import TUNING
from dualgap.steps.working_set.working_set import WorkingSetRun


@dataclass(frozen=True)
class Groups(FullPass):
    """Newton models on working sets of groups."""

    usual = "groups"
    takes_groups = True

    def refusal(self, problem: Problem) -> str | None:
        if not problem.on_groups:
            return f"the penalty {type(problem.feature_penalty).__name__} is not on groups"
        if problem.n_targets > 1:
            name = type(problem.loss).__name__
            known = problem.loss.quadratic
            return None if known else f"several targets need the squared loss here, not {name}"
        return super().refusal(problem)

    def describe(self, problem: Problem) -> str:
        return "Newton models on working sets of groups"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> GroupsRun:
        return GroupsRun(problem, warm, setting)


class GroupsRun(WorkingSetRun):
    """A run whose set has whole groups, one after the other."""

    model: Any  # a BlockModel

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        super().__init__(problem, warm, setting)
        self.blocks = blocks = problem.penalty
        self.model = BlockModel(problem, self.columns)
        self.sizes = np.diff(blocks.starts)
        self.labels = np.empty(problem.d, np.int64)
        self.labels[blocks.order] = np.repeat(np.arange(blocks.n_blocks), self.sizes)
        # A bound on the curvature of a block: the sum of those of its features.
        self.block_bound = np.bincount(self.labels, self.bound, blocks.n_blocks)
        self.share = GROUPS.first_share  # of the curvature of norms, in Newton steps over columns
        self.by_eigenvalues = self.model.dense and self.sizes.max() <= GROUPS.dense_block
        self.curvature = np.full(blocks.n_blocks, np.nan)
        self.free = np.zeros(blocks.n_blocks, bool)
        self.free[self.labels[problem.free_places // blocks.width]] = True

    # --- the set ----------------------------------------------------------------------------------

    def _feature_gap(self) -> float:
        problem, (_, u) = self.problem, self._dual()
        at = u * feasible_length_of(problem, u)
        parts, none = np.empty(len(u)), np.empty(0)
        return float(
            group_terms.sums_over_groups(self.blocks, problem.lam, self.w, at, none, parts)[2]
        )

    def _choose_set(self) -> None:
        """Add the groups that could gain most by a step, in the place of idle ones if need be."""
        problem, blocks = self.problem, self.blocks
        used = self._used()
        if is_one_set(problem):
            if not self.final:
                self._take(np.flatnonzero(self.block_bound > 0.0))
                self.final = True
            return
        if not len(self.set):
            self._take(np.flatnonzero(used & (self.block_bound > 0.0)))
        gain = np.empty(blocks.n_blocks)
        w, u = blocks.sorted(self.w), blocks.sorted(self.u)
        gram_blocks.gains(blocks, problem.lam, self.block_bound, w, u, gain)
        ids = self.model.ids
        gain[ids] = 0.0
        new = np.flatnonzero(gain > 0.0)
        stay = used[ids]
        count = int(self.sizes[ids[stay]].sum())
        share = count / max(len(self.set), 1)
        # A support may have more features than there are samples, unlike that of a Lasso.
        size = int((1.0 + TUNING.growth * share) * count)
        size = min(size, self.model.most) if count < self.model.most // 2 else size
        size = max(size, count + TUNING.spare_features)
        wanted = int(self.sizes[new].sum())
        if wanted > size - len(self.set) or share < TUNING.least_support:
            self.model.keep(self.set, used[self.labels[self.set]])
            self._take(ids[stay])
        new = new[np.argsort(-gain[new], kind="stable")]
        ends = np.cumsum(self.sizes[new])
        complete = bool(wanted <= size - len(self.set))
        if not complete:  # at least one, however large
            new = new[: max(int(np.searchsorted(ends, size - len(self.set), "right")), 1)]
        added = int(self.sizes[new].sum())
        self._take(np.concatenate([self.model.ids, new]))
        cheap = len(self.set) <= TUNING.small_set or added <= TUNING.new_features * len(self.set)
        self.final = complete and cheap

    def _take(self, ids: Any) -> None:
        """Make the set that of these groups; a set that stays the same stays the same object, by
        which the model knows it."""
        starts, known = self.blocks.starts, self.model.known
        pieces = [self.blocks.order[starts[k] : starts[k + 1]] for k in ids]
        set_ = np.concatenate(pieces) if pieces else np.empty(0, np.int64)
        for same in (self.set, known):
            if np.array_equal(same, set_):
                set_ = same
        self.set, self.model.ids = set_, ids
        self.model.places = np.concatenate([[0], np.cumsum(self.sizes[ids])])

    def _used(self) -> Any:
        """The groups with coefficients other than 0, and those without a penalty."""
        used = self.free.copy()
        used[self.labels[np.flatnonzero(self.w) // self.blocks.width]] = True
        return used

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        if self.blocks.width == 1:
            return super().advance(order, offsets)
        if self.u is None:
            self._dual()
        self._choose_set()
        with single_threaded_blas():
            moved = self._minimise_targets()
        self.a = None
        if not moved:
            self.tolerance *= 0.1
        return int(moved), 3 * self.size, 1.5 * self.size

    # --- models -----------------------------------------------------------------------------------

    def _descend(
        self, least: Floats, x: Floats, tolerance: float, h: Floats
    ) -> tuple[float, float]:
        """Sweeps over the blocks of the set and, where it is dense, Newton steps in between."""
        problem, model = self.problem, self.model
        q = self._block_curvatures(least, h)
        intercept = problem.p if problem.intercept is True else -1
        found = np.flatnonzero(self.set == intercept)
        place, r = int(found[0]) if len(found) else -1, self.r.copy()
        of_set = self.set, model.ids, model.places, q, h, r, x, place, problem.constant
        exact = self.quadratic and self.final
        fraction = GROUPS.left_at_end if exact else TUNING.columns_left
        most = TUNING.quadratic_sweeps if self.quadratic else self.sweeps
        first, work, made, by_newton = -1.0, 0.0, 0, self.model.dense
        few = max(support.sweeps_instead(problem.n, x), GROUPS.least_sweeps)
        while made < most:
            count = min(few, most - made) if by_newton else most - made
            largest, done, read = column_blocks.descend(
                self.matrix, self.blocks, problem.lam, *of_set, tolerance, fraction, count
            )
            work, made = work + read, made + count
            if first < 0.0:
                first, fraction, tolerance = largest, 0.0, max(tolerance, fraction * largest)
            if done or made >= most:
                break
            length = support.step(self, self.share, q, h, r, x)
            by_newton, few = length is not None, GROUPS.least_sweeps
            if length is not None and length < 1.0:
                few = max(support.sweeps_instead(problem.n, x), few)
            self._adapt_share(length)
        return float(first), float(work)

    def _adapt_share(self, length: float | None) -> None:
        if length is not None:
            full = length == 1.0
            self.share *= GROUPS.share_after_full if full else GROUPS.share_after_short
            self.share = min(max(self.share, GROUPS.least_share), 1.0)

    def _block_curvatures(self, least: Floats, h: Floats) -> Floats:
        """Those of the blocks of the set; of a quadratic loss, which never change, once."""
        ids, places = self.model.ids, self.model.places
        new = np.isnan(self.curvature[ids]) if self.quadratic else np.ones(len(ids), bool)
        if new.any():
            some = np.repeat(new, np.diff(places))
            parts = np.concatenate([[0], np.cumsum(self.sizes[ids[new]])])
            own, of_new = np.empty(int(new.sum())), (self.set[some], parts)
            if self.by_eigenvalues:
                support.curvatures(self.columns, *of_new, h, least[some], own)
            else:
                zeros = np.zeros(self.problem.n)
                column_blocks.curvatures(self.matrix, h, *of_new, least[some], zeros, own)
            self.curvature[ids[new]] = own
        return np.asarray(self.curvature[ids])

    def _model_left(self) -> float:
        return GROUPS.left_at_end if self.final else TUNING.rough_model

    def _minimise_targets(self) -> bool:
        """The minimum over the set for several targets: products with its columns are those of
        matrices. The model is the problem, since the loss is squared."""
        problem, set_, width = self.problem, self.set, self.blocks.width
        a = np.empty(problem.dual_size)
        terms.slopes(problem.loss, problem.y, self.z, a)
        r = -problem.weighted(a).reshape(-1, width)
        rows = max(TUNING.dense_entries // max(len(set_), 1), TUNING.block_rows)
        parts = [slice(first, first + rows) for first in range(0, problem.n, rows)]
        g = np.zeros((len(set_), width))
        for some in parts:
            g += self._columns_of(some) @ r[some]
        w = self.w.reshape(-1, width)
        x, h = w[set_].ravel(), problem.c / float(problem.loss.gamma)
        least = TUNING.least_curvature * self.bound[set_]
        self.model.minimise(set_, h, g.ravel(), least, x, self.tolerance, self._model_left())
        move = x.reshape(-1, width) - w[set_]
        z = self.z.reshape(-1, width)
        for some in parts:
            z[some] += self._columns_of(some).T @ move
        w[set_] = x.reshape(-1, width)
        return bool(move.any())

    def _columns_of(self, samples: slice) -> Any:
        """The columns of the set, of some samples."""
        problem, set_ = self.problem, self.set
        if not storage.is_sparse(problem.X):
            return self.columns.of(set_, samples)
        found = np.full((len(set_), len(range(problem.n)[samples])), problem.constant)
        own = set_ < problem.p
        found[own] = problem.X[samples][:, set_[own]].toarray().T
        return found

    def _search(self, x: Floats, value: float) -> tuple[float, float]:
        if self.quadratic:
            return super()._search(x, value)
        return line_search.search(self, x, value)

    def state(self) -> dict[str, Any]:
        return super().state() | {"share": self.share}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.share = float(state.get("share", self.share))  # older versions made no such steps
        labels = self.labels[self.set]
        ids = labels[np.flatnonzero(np.diff(labels, prepend=-1))]
        known = self.model.known
        self._take(ids)
        if known is not self.set and np.array_equal(known, self.set):
            self.model.known = self.set
