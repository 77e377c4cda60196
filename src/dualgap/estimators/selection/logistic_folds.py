"""What ``LogisticRegressionCV`` finds for all folds in one run, and the refit that follows.

Only for the squared penalty on data that are small enough for ``NewtonPaths``, and for folds that
have each class. Points that miss ``tol`` are left to the general method.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.steps.path.fold_paths import FoldPaths, NewtonPaths

# Numbers of the decision values that one run keeps: 32 MB. More folds are several runs.
_MOST_VALUES = 1 << 22
# The refit aims at this share of ``tol``, since its proof rests on other sums.
_REFIT_SHARE = 0.1


class KnownPoint(NamedTuple):
    """The model of a fold at one C."""

    rows: Floats  # coefficients of each class, with the intercept, if there is one, as the last
    values: Floats  # decision values of the test samples
    steps: int


class LogisticFolds:
    """All folds of one data set, at all values of C."""

    def __init__(
        self,
        X: Any,
        codes: Any,
        classes: int,
        weights: Floats | None,
        intercept: bool,
        tol: float,
        most_steps: int,
    ) -> None:
        self.given = X, codes, classes
        self.weights = np.ones(len(codes)) if weights is None else weights
        self.intercept, self.tol, self.most_steps = intercept, tol, most_steps
        self.last: NewtonPaths | None = None
        self.means: dict[float, Floats] = {}  # at each C, over the folds of the last run

    def points(self, folds: list[Any], Cs: Floats) -> list[dict[int, KnownPoint]]:
        """For each fold the points that were found, by the position of C."""
        X, codes, classes = self.given
        found: list[dict[int, KnownPoint]] = [{} for _ in folds]
        if not NewtonPaths.pays(X, classes - 1):
            return found
        shares = np.stack([self._of_fold(train) for train, _ in folds], axis=1)
        complete = [len(np.unique(codes[own > 0.0])) == classes for own in shares.T]
        places, order = np.flatnonzero(complete), np.argsort(Cs, kind="stable")
        order = order[np.isfinite(Cs[order])]
        rows = classes if classes > 2 else 1
        size = max(_MOST_VALUES // (len(codes) * rows * len(Cs)), 1)
        with single_threaded_blas(), np.errstate(all="ignore"):
            for first in range(0, len(places) if len(order) else 0, size):
                some = places[first : first + size]
                try:
                    run = NewtonPaths(X, codes, classes, shares[:, some], self.intercept, self.tol)
                except np.linalg.LinAlgError:  # squares that overflow
                    return found
                paths, means = run.follow(Cs[order], self.most_steps)
                self.last, self.means = run, dict(zip(Cs[order], means.swapaxes(0, 1)))
                self._sort(paths, some, order, folds, found)
        return found

    def _of_fold(self, train: Any) -> Floats:
        """The weight of each sample in a fold, which may repeat samples."""
        n = len(self.weights)
        return np.asarray(np.bincount(np.arange(n)[train], minlength=n) * self.weights)

    def _sort(self, paths: FoldPaths, some: Any, order: Any, folds: Any, found: Any) -> None:
        for k, place in enumerate(some):
            values = paths.values[folds[place][1], :, k]
            rows = paths.coefs[:, :, k].transpose(1, 2, 0)
            rows = rows if self.intercept else rows[:, :, :-1]
            for c, at in enumerate(order):
                if paths.solved[c, k]:
                    found[place][at] = KnownPoint(rows[c], values[:, c], int(paths.steps[c, k]))

    def refit(self, C: float) -> tuple[Any, Any] | None:
        """Coefficients and intercepts of the model of all samples; None if they are not found.

        On sparse data one model alone needs so many more steps than the folds together, where these
        are not from Hessians, that the general method takes less time.
        """
        if self.last is None or C not in self.means:
            return None
        if storage.is_sparse(self.given[0]) and not self.last.direct:
            return None
        with single_threaded_blas(), np.errstate(all="ignore"):
            run = self.last.with_weights(self.weights, self.means[C])
            run.tol *= _REFIT_SHARE
            paths, _ = run.follow(np.array([C]), self.most_steps)
        rows = paths.coefs[:, 0, 0].T
        return (rows[:, :-1], rows[:, -1]) if paths.solved.all() else None


def rows_of_one_class(code: int, classes: int, p: int) -> Floats:
    """The limit of the models of a fold that has one class only, which is all they predict."""
    if classes == 2:
        return np.append(np.zeros(p), np.inf if code else -np.inf)[None]
    rows = np.zeros((classes, p + 1))
    rows[:, -1] = np.where(np.arange(classes) == code, 0.0, -np.inf)
    return rows
