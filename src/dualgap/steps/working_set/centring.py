"""Columns of a Gram model centred by its curvatures, where the intercept has no penalty.

In the variables δ and β + Σ_j m_j δ_j, m_j being the weighted mean of column j, the model has no
term with both: the matrix of the columns is that of the centred ones, the intercept stands alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.working_set.tuning import TUNING


def curvature_bounds(problem: Problem) -> Floats:
    """Bounds on curvatures; with sample weights and for Poisson an estimate, to order features."""
    return _centred_squares(problem) * float(problem.c.mean()) / (problem.loss.gamma or 1.0)


def _centred_squares(problem: Problem) -> Floats:
    """Σ_i x_ij² for each feature; around the means, for columns far from 0 and a free intercept.

    Where at least half of the entries are 0, centring takes away at most half of that.
    """
    squares = problem.column_squares
    if problem.intercept is not True or not _may_be_far_from_0(problem):
        return squares
    sums = problem.summed(np.ones(problem.n), 1)[: problem.p]
    left = squares.copy()
    left[: problem.p] = np.maximum(squares[: problem.p] - sums**2 / problem.n, 0.0)
    return np.asarray(left)


def _may_be_far_from_0(problem: Problem) -> bool:
    if storage.is_sparse(problem.X):
        return bool((problem.column_counts[: problem.p] > 0.5 * problem.n).any())
    some = problem.X[:: -(-problem.n // TUNING.inspected_rows)]
    far = some.mean(axis=0, dtype=np.float64) ** 2 > some.var(axis=0, dtype=np.float64)
    return bool(far.any())


class Centring:
    """The means of the features of a set, in units of the constant feature ``intercept``.

    ``shifts`` are subtracted before products are summed, so that few digits cancel later; ``cross``
    are the products with the constant feature that are left, ``total`` is its square.
    """

    def __init__(self, constant: float, intercept: int) -> None:
        self.constant, self.intercept = constant, intercept
        self.place = -1  # of the intercept in the set
        self.shifts, self.cross = np.empty((2, 0))
        self.total = 0.0

    @property
    def means(self) -> Floats:
        """Of all columns, in units of the constant feature; 0 for that itself."""
        found = self.shifts / self.constant + self.cross / self.total
        found[self.place] = 0.0
        return np.asarray(found)

    def keep(self, stays: Any) -> None:
        """Some features leave; the intercept never does."""
        if self.place >= 0:
            self.shifts, self.cross = self.shifts[stays], self.cross[stays]
            self.place = int(np.searchsorted(stays, self.place))

    def shift(self, set_: Any, known: int, columns: Floats) -> Floats:
        """What to subtract from the columns, the first samples of which are given."""
        if not (set_ == self.intercept).any():
            return np.zeros(len(set_))
        new = columns[known:].mean(axis=1)
        new[set_[known:] == self.intercept] = 0.0
        return np.concatenate([self.shifts[:known], new])

    def centre(self, gram: Floats, set_: Any, known: int, shifts: Floats) -> None:
        """Replace products of shifted columns by those of centred ones, from row ``known`` on."""
        size = len(set_)
        if known == 0:
            places = np.flatnonzero(set_ == self.intercept)
            self.place = int(places[0]) if len(places) else -1
            self.cross = np.empty(0)
            if self.place >= 0:
                self.total = float(gram[self.place, self.place])
        if not self.total > 0.0:
            self.place = -1
        if self.place < 0:
            return
        self.shifts = shifts
        self.cross = np.concatenate([self.cross, gram[known:size, self.place]])
        if self.place >= known:
            self.cross[self.place] = 0.0
        new = gram[known:size, :size]
        new -= np.outer(self.cross[known:], self.cross / self.total)
        new[:, self.place] = 0.0
        if self.place >= known:
            new[self.place - known] = 0.0
            new[self.place - known, self.place] = self.total
        gram[:known, known:size] = new[:, :known].T

    def gradient(self, g: Floats) -> Floats:
        """In the variables in which the intercept stands alone."""
        return g if self.place < 0 else g - g[self.place] * self.means

    def move_intercept(self, before: Floats, x: Floats) -> None:
        """From the intercept of centred columns to that of the columns as they are."""
        if self.place >= 0:
            x[self.place] -= self.means @ (x - before)

    def state(self) -> dict[str, Any]:
        return {
            "place": self.place, "shifts": self.shifts, "cross": self.cross, "total": self.total
        }  # fmt: skip

    def restore(self, state: dict[str, Any] | None, known: Any) -> bool:
        """Whether the state fits a Gram matrix of these features."""
        if state is None:
            return self.intercept < 0
        self.shifts, self.cross = np.array(state["shifts"]), np.array(state["cross"])
        self.place, self.total = int(state["place"]), float(state["total"])
        if self.place < 0:
            return True
        fits = len(self.shifts) == len(self.cross) == len(known) > self.place
        return fits and known[self.place] == self.intercept
