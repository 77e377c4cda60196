"""A quadratic model over few features, by its Gram matrix: coordinate steps and direct solves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from dualgap._validate import Floats
from dualgap.penalties.shape import shape_of
from dualgap.problem import Problem
from dualgap.steps import working_set_kernels as kernels

_SWEEPS = 10  # between two direct solves
_ROUNDS = 30


class GramModel:
    """Gram matrices of sets that only grow, while their weights stay the same."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.shape = shape_of(problem.penalty, problem.coef_size)
        self.known: Any = np.empty(0, np.int64)
        self.gram = np.empty((0, 0))

    def minimise(
        self, matrix: Any, h: Floats, r: Floats, set_: Any, q: Floats, w: Floats, wanted: float,
        keep: bool,
    ) -> tuple[float, float]:
        """Minimise over the set, to rounding; returns the largest violation, and entries read."""
        problem = self.problem
        self._extend(matrix, h, set_, keep)
        g = np.empty(len(set_))
        kernels.dots(matrix, r, set_, g)
        first = 0.0
        for turn in range(_ROUNDS):
            begin, left = kernels.descend_gram(
                self.gram, problem.penalty, problem.lam, set_, q, g, w, wanted, _SWEEPS
            )
            if turn == 0:
                first = begin
                wanted = max(wanted, 1e-6 * first)
            if left <= wanted:
                break
            self._solve_support(set_, g, w)
        return first, 0.0

    def _extend(self, matrix: Any, h: Floats, set_: Any, keep: bool) -> None:
        known = len(self.known)
        same = keep and known <= len(set_) and (set_[:known] == self.known).all()
        known = known if same else 0
        if len(set_) > len(self.gram):
            larger = np.empty((2 * len(set_), 2 * len(set_)))
            larger[:known, :known] = self.gram[:known, :known]
            self.gram = larger
        kernels.gram_rows(matrix, h, set_, known, self.gram)
        self.known = set_.copy()

    def _solve_support(self, set_: Any, g: Floats, w: Floats) -> None:
        """To the minimum for these signs, or as far as they hold."""
        if self.shape is None:
            return
        lam = self.problem.lam
        l1, l2, low, high = (part[set_] for part in self.shape)
        x = w[set_]
        inside = ((x != 0.0) | (l1 == 0.0)) & (x > low) & (x < high)
        S = np.flatnonzero(inside)
        if not S.size:
            return
        m = len(set_)
        l1, l2, x = l1[S], l2[S], x[S]
        part = self.gram[S, :m]
        system = part[:, S]
        system[np.diag_indices_from(system)] += lam * l2
        slope = g[S] + lam * (l1 * np.sign(x) + l2 * x)
        _, move, info = lapack.dposv(system, -slope, lower=1, overwrite_a=1)
        if info != 0:
            return
        signs = np.sign(x)
        new = x + move
        crossed = (l1 > 0.0) & (new * signs < 0.0)
        new[crossed] = 0.0
        new = np.clip(new, low[S], high[S])
        delta = new - x
        change = part.T @ delta
        gain = g[S] @ delta + 0.5 * change[S] @ delta + lam * float(
            np.sum(l1 * (np.abs(new) - np.abs(x)) + 0.5 * l2 * (new * new - x * x))
        )
        if gain > 0.0:
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(crossed, -x / move, 1.0)
            length = room.min()
            at = crossed & (room <= length)
            new = np.where(at, 0.0, x + length * move)
            new = np.clip(new, low[S], high[S])
            delta = new - x
            change = part.T @ delta
        w[set_[S]] = new
        g += change
