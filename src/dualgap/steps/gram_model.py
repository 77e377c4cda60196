"""A quadratic model over few features, by its Gram matrix: coordinate steps and direct solves."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap._validate import Floats
from dualgap.linalg.blas import one_thread
from dualgap.linalg.dense import Dense
from dualgap.linalg.sparse import Sparse
from dualgap.linalg import products
from dualgap.penalties.shape import shape_of
from dualgap.problem import Problem
from dualgap.steps import gram_kernels
from dualgap.steps.working_set_kernels import dots

_MOST = 1500  # features of a Gram matrix
_PASSES = 100.0  # over the columns that a Gram matrix may cost ...
_DENSE = 1000.0  # ... and for dense ones, by BLAS


class GramModel:
    """Gram matrices of sets that only grow, while their weights stay the same."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.matrix: Any = problem.columns
        self.dense = isinstance(self.matrix, Dense)
        self.shape = shape_of(problem.penalty, problem.coef_size)
        self.known: Any = np.empty(0, np.int64)
        self.set = self.known
        self.gram = np.empty((0, 0))

    def pays(self, set_: Any) -> bool:
        """Whether a Gram matrix of these features should cost less than steps on their columns."""
        if len(set_) > _MOST:
            return False
        if len(set_) == len(self.set) and bool((set_ == self.set).all()):
            return self.paid
        self.set = set_
        if self.shape is not None:
            self.parts = tuple(part[set_] for part in self.shape)
        else:
            self.parts = (np.empty(0),) * 4
        if self.dense:
            self.part = np.asarray(self.matrix.data[set_], dtype=np.float64)
            self.paid = len(set_) <= _DENSE
        else:
            entries = int(self.problem.column_counts[set_].sum())
            self.rows = Sparse(
                np.empty(self.problem.n + 1, np.int64), np.empty(entries, np.int32), np.empty(entries), len(set_)
            )
            squares = gram_kernels.transpose(self.matrix, set_, *self.rows[:3])
            self.paid = bool(squares <= _PASSES * entries)
        return self.paid

    def minimise(
        self, h: Floats, r: Floats, flattest: Floats, x: Floats, close: float, part: float, keep: bool
    ) -> float:
        """Change x, the coefficients of the set, to the minimum of the model.

        It ends when no gradient is off by more than ``close``, or by more than a ``part`` of what
        it was off first, which is returned.
        """
        problem, set_ = self.problem, self.set
        g = np.empty(len(set_))
        dots(self.matrix, r, set_, g)
        with one_thread():
            self._extend(h, keep)
            q = np.maximum(np.diagonal(self.gram)[: len(set_)], flattest)
            model = self.gram, problem.penalty, problem.lam
            state = *self.parts, set_, q, g, x, close, part
            try:
                first, _ = gram_kernels.minimise(*model, self.shape is not None, *state)
            except np.linalg.LinAlgError:  # features that others can replace
                first, _ = gram_kernels.minimise(*model, False, *state)
        return float(first)

    def _extend(self, h: Floats, keep: bool) -> None:
        """The Gram matrix of the set, for which a part may be known."""
        size, known = len(self.set), len(self.known)
        same = keep and known <= size and bool((self.set[:known] == self.known).all())
        known = known if same else 0
        if size > len(self.gram):
            larger = np.empty((size + size // 2, size + size // 2))
            larger[:known, :known] = self.gram[:known, :known]
            self.gram = larger
        if self.dense:
            new = (self.part[known:] * h) @ self.part.T
            self.gram[known:size, :size] = new
            self.gram[:known, known:size] = new[:, :known].T
        else:
            gram_kernels.weighted_gram(*self.rows[:3], h, known, size, self.gram)
        self.known = self.set
