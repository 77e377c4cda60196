"""The Gram matrix of a working set, for Newton models."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import parallel, storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.working_set import gram_kernels
from dualgap.steps.working_set.centring import Centring
from dualgap.steps.working_set.columns import ChosenColumns
from dualgap.steps.working_set.tuning import TUNING


class GramMatrix:
    """The Gram matrix of a set that may grow, with the curvatures that it was computed with.

    It serves later models while curvatures change little: their gradients are always exact.

    With a free intercept, columns are centred by the curvatures. Then the intercept of the centred
    data is a block of its own, and columns far from 0 are no more coupled than others.
    """

    def __init__(self, problem: Problem, columns: ChosenColumns) -> None:
        self.problem, self.columns = problem, columns
        self.dense = not storage.is_sparse(problem.X)
        # Features beyond the support should not make a set too large for a Gram matrix that pays.
        self.most = TUNING.most_features if self.dense else problem.d
        self.known: Any = np.empty(0, np.int64)  # the features of the matrix
        self.gram = np.empty((0, 0))
        self.h = np.empty(0)
        self.centring = Centring(problem.constant, problem.p if problem.intercept is True else -1)
        self.stale = True  # whether the next model needs a new matrix
        self.fresh = False  # whether the last model had the current curvatures

    def pays(self, set_: Any, entries: float) -> bool:
        """Whether a Gram matrix of these features should cost less than steps on their columns."""
        if len(set_) > TUNING.most_features:
            return False
        if self.dense:
            return True
        quadratic = self.problem.loss.quadratic
        most = TUNING.most_row_entries_quadratic if quadratic else TUNING.most_row_entries
        is_smaller = len(set_) ** 2 <= TUNING.gram_to_columns * entries
        return entries <= most * self.problem.n and is_smaller

    def keep(self, set_: Any, stay: Any) -> None:
        """Drop the rows of the features that leave the set."""
        if self.known is set_:
            stays = np.flatnonzero(stay)
            self.gram[: len(stays), : len(stays)] = self.gram[np.ix_(stays, stays)]
            self.centring.keep(stays)
            self.known = set_[stay]

    def forget(self) -> None:
        """Compute the next matrix from the current curvatures."""
        self.stale = True

    def extend(self, set_: Any, h: Floats) -> None:
        """Compute the rows of the Gram matrix that are not known, or all of them if it is stale."""
        size, known = len(set_), len(self.known)
        grown = self.known is set_ or (known <= size and bool((set_[:known] == self.known).all()))
        self.fresh = self.stale or not grown
        if self.fresh:
            self.stale, known = False, 0
            if not self.problem.loss.quadratic:
                self.h = h.copy()
        h = h if self.problem.loss.quadratic else self.h  # curvatures of the former never change
        if size > len(self.gram):
            larger = np.empty((size + size // 4, size + size // 4))
            larger[:known, :known] = self.gram[:known, :known]
            self.gram = larger
        self.known = set_
        if known == size:
            return
        shifts = np.zeros(size)
        if self.dense:
            shifts = self._add_dense(set_, h, known)
        else:
            self._add_sparse(set_, h, known)
        self.centring.centre(self.gram, set_, known, shifts)

    def _add_dense(self, set_: Any, h: Floats, known: int) -> Floats:
        """Returns what was subtracted from the columns."""
        size, n = len(set_), self.problem.n
        new = np.zeros((size - known, size))
        rows = max(TUNING.dense_entries // size, TUNING.block_rows)
        shifts = np.empty(0)
        for first in range(0, n, rows):
            samples = slice(first, first + rows)
            columns = self.columns.of(set_, samples)
            if first == 0:
                shifts = self.centring.shift(set_, known, columns)
            if shifts.any():
                columns -= shifts[:, None]
            new += (columns[known:] * h[samples]) @ columns.T
        self.gram[known:size, :size] = new
        self.gram[:known, known:size] = new[:, :known].T
        return shifts

    def _add_sparse(self, set_: Any, h: Floats, known: int) -> None:
        n, size = self.problem.n, len(set_)
        entries = max(float(self.problem.column_counts[set_].sum()), 1.0)
        rows = min(max(int(TUNING.block_entries * n / entries), TUNING.block_rows), n)
        # Two threads share the rows, if that saves more than adding up their sums costs.
        per_entry = TUNING.threaded_products_per_entry * (size - known) * size
        enough = max(TUNING.threaded_products, per_entry)
        ends = [0, n // 2, n] if entries * entries / n >= enough else [0, n]
        sums = np.zeros((len(ends) - 1, size - known, size))
        model = self.columns.holding(set_), set_, h, known, rows
        calls = [(*model, *ends[k : k + 2], out) for k, out in enumerate(sums)]
        parallel.together(gram_kernels.add_products, calls)
        gram_kernels.mirror(sums, known, self.gram)

    def state(self, set_: Any) -> dict[str, Any]:
        """What a checkpoint has to store; ``known`` is None if it is the set itself."""
        known = len(self.known)
        return {
            "known": None if self.known is set_ else self.known,
            "gram": self.gram[:known, :known],
            "centring": self.centring.state(),
            "h": self.h,
            "stale": self.stale,
            "fresh": self.fresh,
        }

    def restore(self, state: dict[str, Any], set_: Any) -> None:
        known = set_ if state["known"] is None else places(state["known"], self.problem.d)
        gram, h = np.array(state["gram"]), np.array(state["h"])
        if gram.shape != (len(known), len(known)) or h.shape not in ((0,), (self.problem.n,)):
            raise ValueError("the stored Gram matrix does not fit its features")
        self.known, self.gram, self.h = known, gram, h
        self.stale, self.fresh = state["stale"], state["fresh"]
        # Older versions did not centre: then the next model has a new matrix.
        self.stale |= not self.centring.restore(state.get("centring"), known)


def places(value: Any, size: int) -> Any:
    """Indices of a stored state, refused if a kernel would follow them out of bounds."""
    found = np.array(value, dtype=np.int64)
    if found.ndim != 1 or (len(found) and not 0 <= found.min() <= found.max() < size):
        raise ValueError(f"the stored working set has indices outside of 0 to {size - 1}")
    return found
