"""The columns of a working set, as kernels read them.

Most columns never join a set. So where X is a dense matrix stored by rows, only those that do are
copied, instead of all of X.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.matrices import Chosen
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.working_set.tuning import TUNING


def is_one_set(problem: Problem) -> bool:
    """Whether the first working set has all features: a second gap check would cost as much as the
    rest of their Gram matrix."""
    return bool(problem.loss.quadratic) and problem.d <= TUNING.all_features


class ChosenColumns:
    """All columns, where reading one costs no more than its entries."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def holding(self, features: Any) -> Any:
        """A matrix by features that has at least these."""
        return self.problem.columns

    def of(self, features: Any, samples: slice) -> Floats:
        """Some entries of these columns of a dense matrix, in float64."""
        problem = self.problem
        columns: Any = problem.columns
        if not problem.has_intercept:
            return np.asarray(columns.data[features, samples], dtype=np.float64)
        stored = columns.base.data[np.minimum(features, problem.p - 1), samples]
        found = stored.astype(np.float64)
        found[features == problem.p] = problem.constant
        return np.asarray(found)


class CopiedColumns(ChosenColumns):
    """Copies of the columns that were asked for so far."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.where = np.full(problem.d, -1, np.int64)
        self.count = 0
        self.data = np.empty((0, problem.n), problem.X.dtype)

    def holding(self, features: Any) -> Any:
        new = features[self.where[features] < 0]
        if len(new):
            self._copy(new)
        return Chosen(storage.read_only(self.data), storage.read_only(self.where))

    def of(self, features: Any, samples: slice) -> Floats:
        self.holding(features)
        return np.asarray(self.data[self.where[features], samples], dtype=np.float64)

    def _copy(self, new: Any) -> None:
        problem, count = self.problem, self.count + len(new)
        if count > len(self.data):
            larger = np.empty((min(2 * count, problem.d), problem.n), self.data.dtype)
            larger[: self.count] = self.data[: self.count]
            self.data = larger
        own = self.data[self.count : count]
        stored = new < problem.p
        own[stored] = problem.X[:, new[stored]].T
        own[~stored] = problem.constant
        self.where[new] = np.arange(self.count, count)
        self.count = count


def columns_of(problem: Problem) -> ChosenColumns:
    """How a run should read the columns of X."""
    by_rows = not storage.is_sparse(problem.X) and problem.by_rows
    return (
        CopiedColumns(problem)
        if by_rows and problem.d >= TUNING.copied_from
        else ChosenColumns(problem)
    )
