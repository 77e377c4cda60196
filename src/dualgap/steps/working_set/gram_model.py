"""A quadratic model over few features, by its Gram matrix: coordinate steps and direct solves."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import parallel
from dualgap.linalg.matrices import Dense
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import shape_of
from dualgap.problem import Problem
from dualgap.steps.working_set import gram_kernels

_MOST = 2000  # features of a Gram matrix
_ROW, _ROW_ONCE = 100, 300  # entries of a mean row beyond which steps on columns cost less
_LARGER = 2.0  # ... as they do if the matrix has so many times the entries of the columns
_WORTH, _PER_ENTRY = 1_000_000, 4  # products that are worth a second thread
_BLOCK, _LEAST_ROWS = 20_000, 64  # entries and rows whose products are added up at a time


class GramModel:
    """The Gram matrix of a set that may grow, for the curvatures that it was made with.

    As long as these are close to the present ones, the model serves: its gradient is always exact.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.matrix: Any = problem.columns
        self.dense = isinstance(self.matrix, Dense)
        self.shape = shape_of(problem.penalty, problem.coef_size)
        self.known: Any = np.empty(0, np.int64)
        self.gram = np.empty((0, 0))
        self.q = self.h = np.empty(0)
        self.parts: list[Floats] = []  # of the shape, those of a set
        self.parts_of: Any = None
        self.stale = True
        self.fresh = False  # whether the last model was made with the curvatures at hand

    def pays(self, set_: Any, entries: float) -> bool:
        """Whether a Gram matrix of these features should cost less than steps on their columns."""
        if self.dense:
            return len(set_) <= _MOST
        most = _ROW_ONCE if self.problem.loss.quadratic else _ROW
        short = entries <= most * self.problem.n and len(set_) ** 2 <= _LARGER * entries
        return len(set_) <= _MOST and short

    def keep(self, set_: Any, stay: Any) -> None:
        """Features leave the set; their rows are the only ones to go."""
        if self.known is set_:
            stays = np.flatnonzero(stay)
            self.gram[: len(stays), : len(stays)] = self.gram[np.ix_(stays, stays)]
            self.known = set_[stay]

    def forget(self) -> None:
        """Make the next matrix from the curvatures at hand."""
        self.stale = True

    def off(self, set_: Any, g: Floats, x: Floats) -> float:
        """How far the gradient is off at most, by the curvatures of the last model."""
        problem = self.problem
        return float(gram_kernels.off(problem.penalty, problem.lam, set_, self.q, g, x))

    def minimise(
        self,
        set_: Any,
        h: Floats,
        g: Floats,
        flattest: Floats,
        x: Floats,
        close: float,
        part: float,
    ) -> float:
        """Change x, the coefficients of the set, to the minimum of the model with this gradient.

        It ends when no gradient is off by more than ``close``, or by more than a ``part`` of what
        it was off first, which is returned.
        """
        problem = self.problem
        shaped = self.shape is not None
        if self.parts_of is not set_:
            self.parts = [of_all[set_] for of_all in self.shape or ()] or [np.empty(0)] * 4
            self.parts_of = set_
        self._extend(set_, h)
        self.q = np.maximum(np.diagonal(self.gram)[: len(set_)], flattest)
        model = self.gram, problem.penalty, problem.lam
        state = *self.parts, set_, self.q, g, x, close, part
        try:
            first, _ = gram_kernels.minimise(*model, shaped, *state)
        except np.linalg.LinAlgError:  # some features can all but replace others
            first, _ = gram_kernels.minimise(*model, False, *state)
        return float(first)

    def _extend(self, set_: Any, h: Floats) -> None:
        """The Gram matrix of the set, of which a part may be known."""
        size, known = len(set_), len(self.known)
        grown = self.known is set_ or (known <= size and bool((set_[:known] == self.known).all()))
        self.fresh = self.stale or not grown
        if self.fresh:
            self.stale, known = False, 0
            if not self.problem.loss.quadratic:
                self.h = h.copy()
        h = h if self.problem.loss.quadratic else self.h  # the former are always the same
        if size > len(self.gram):
            larger = np.empty((size + size // 4, size + size // 4))
            larger[:known, :known] = self.gram[:known, :known]
            self.gram = larger
        self.known = set_
        if known == size:
            return
        if self.dense:
            columns = np.asarray(self.matrix.data[set_], dtype=np.float64)
            new = (columns[known:] * h) @ columns.T
            self.gram[known:size, :size] = new
            self.gram[:known, known:size] = new[:, :known].T
        else:
            self._add_sparse(set_, h, known)

    def _add_sparse(self, set_: Any, h: Floats, known: int) -> None:
        n, size = self.problem.n, len(set_)
        entries = max(float(self.problem.column_counts[set_].sum()), 1.0)
        # A block of rows whose entries fit into a cache.
        rows = min(max(int(_BLOCK * n / entries), _LEAST_ROWS), n)
        # Threads share the rows, if each adds more than it costs to add up what they have found.
        worth = max(_WORTH, _PER_ENTRY * (size - known) * size)
        ends = [0, n // 2, n] if entries * entries / n >= worth else [0, n]
        parts = np.zeros((len(ends) - 1, size - known, size))
        model = self.matrix, set_, h, known, rows
        calls = [(*model, *ends[k : k + 2], part) for k, part in enumerate(parts)]
        parallel.together(gram_kernels.add_products, calls)
        gram_kernels.mirror(parts, known, self.gram)

    def state(self, set_: Any) -> dict[str, Any]:
        """What a checkpoint has to keep; None stands for the set itself."""
        known = len(self.known)
        return {
            "known": None if self.known is set_ else self.known,
            "gram": self.gram[:known, :known],
            "h": self.h,
            "stale": self.stale,
            "fresh": self.fresh,
        }

    def restore(self, state: dict[str, Any], set_: Any) -> None:
        known = set_ if state["known"] is None else places(state["known"], self.problem.d)
        gram, h = np.array(state["gram"]), np.array(state["h"])
        if gram.shape != (len(known), len(known)) or h.shape not in ((0,), (self.problem.n,)):
            raise ValueError("a Gram matrix does not fit the features that it is of")
        self.known, self.gram, self.h = known, gram, h
        self.stale, self.fresh = state["stale"], state["fresh"]


def places(value: Any, size: int) -> Any:
    """Indices of a stored state, refused where a kernel would follow them out of bounds."""
    found = np.array(value, dtype=np.int64)
    if found.ndim != 1 or (len(found) and not 0 <= found.min() <= found.max() < size):
        raise ValueError(f"a set of features has indices that are not below {size}")
    return found
