"""A quadratic model over few features, by its Gram matrix: coordinate steps and direct solves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from dualgap._validate import Floats
from dualgap.linalg.blas import one_thread
from dualgap.linalg.dense import Dense
from dualgap.penalties.shape import shape_of
from dualgap.problem import Problem
from dualgap.steps import working_set_kernels as kernels

_MOST = 1500  # features of a Gram matrix
_PASSES = 100.0  # over the columns that a Gram matrix may cost ...
_DENSE = 1000.0  # ... and for dense ones, by BLAS
_SWEEPS = 10  # between two direct solves
_ROUNDS = 30


class GramModel:
    """Gram matrices of sets that only grow, while their weights stay the same."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.matrix: Any = problem.columns
        self.dense = isinstance(self.matrix, Dense)
        self.shape = shape_of(problem.penalty, problem.coef_size)
        self.known: Any = np.empty(0, np.int64)
        self.gram = np.empty((0, 0))

    def pays(self, set_: Any, patience: float) -> bool:
        """Whether a Gram matrix of these features should cost less than steps on their columns."""
        self.set = set_
        if len(set_) > _MOST:
            return False
        if self.dense:
            self.part = np.asarray(self.matrix.data[set_], dtype=np.float64)
            return len(set_) <= _DENSE * patience
        entries = int(self.problem.column_counts[set_].sum())
        self.indptr = np.empty(self.problem.n + 1, np.int64)
        self.positions, self.values = np.empty(entries, np.int32), np.empty(entries)
        squares = kernels.transpose(self.matrix, set_, self.indptr, self.positions, self.values)
        return bool(squares <= _PASSES * patience * entries)

    def minimise(
        self, h: Floats, r: Floats, q: Floats, w: Floats, wanted: float, part: float, keep: bool
    ) -> tuple[float, float]:
        """Minimise over the set, until no gradient is off by more than ``wanted``, or by a part of
        what it was off first; returns that."""
        problem, set_ = self.problem, self.set
        first, left = 0.0, np.inf
        with one_thread():
            self._extend(h, keep)
            g = np.empty(len(set_))
            kernels.dots(self.matrix, r, set_, g)
            for turn in range(_ROUNDS):
                sweeps = _SWEEPS + np.count_nonzero(w[set_]) // 8
                begin, left = kernels.descend_gram(
                    self.gram, problem.penalty, problem.lam, set_, q, g, w, wanted, sweeps
                )
                if turn == 0:
                    first = begin
                    wanted = max(wanted, part * first)
                if left <= wanted:
                    break
                self._solve_support(g, w)
        return first, left

    def _extend(self, h: Floats, keep: bool) -> None:
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
            kernels.weighted_gram(
                self.indptr, self.positions, self.values, h, known, size, self.gram
            )
        self.known = self.set

    def _solve_support(self, g: Floats, w: Floats) -> None:
        """To the minimum for these signs, or as far as they hold."""
        if self.shape is None:
            return
        set_, lam = self.set, self.problem.lam
        l1, l2, low, high = (part[set_] for part in self.shape)
        x = w[set_]
        S = np.flatnonzero(((x != 0.0) | (l1 == 0.0)) & (x > low) & (x < high))
        if not S.size:
            return
        l1, l2, low, high, x = l1[S], l2[S], low[S], high[S], x[S]
        part = self.gram[S, : len(set_)]
        system = part[:, S].T  # in the order that LAPACK wants; it is symmetric
        system[np.diag_indices_from(system)] += lam * l2
        slope = g[S] + lam * (l1 * np.sign(x) + l2 * x)
        _, move, info = lapack.dposv(system, -slope, lower=1, overwrite_a=1)
        if info != 0:
            return
        new = x + move
        crossed = (l1 > 0.0) & (new * x < 0.0)
        new[crossed] = 0.0
        delta = np.clip(new, low, high) - x
        change = part.T @ delta
        gain = g[S] @ delta + 0.5 * change[S] @ delta
        gain += lam * float(l1 @ (np.abs(x + delta) - np.abs(x)) + l2 @ (delta * (x + 0.5 * delta)))
        if gain > 0.0:
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(crossed, -x / move, 1.0)
            length = room.min()
            new = np.where(crossed & (room <= length), 0.0, x + length * move)
            delta = np.clip(new, low, high) - x
            change = part.T @ delta
        w[set_[S]] = x + delta
        g += change
