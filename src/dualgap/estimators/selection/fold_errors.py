"""Mean squared errors of many models on the test samples of a fold, at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.path.gram_path import PathPoint
from dualgap.steps.path.moments import DataMoments, FoldMoments

_BLOCK_ROWS = 4096  # of predictions of all models: bounds their memory


def mean_squared_errors(X: Any, y: Any, weights: Any, coefs: Floats, intercepts: Floats) -> Floats:
    """The error of each row of coefficients."""
    sums, total = np.zeros(len(coefs)), 0.0
    for first in range(0, len(y), _BLOCK_ROWS):
        rows = slice(first, first + _BLOCK_ROWS)
        squares = (X[rows] @ coefs.T + intercepts - y[rows, None]) ** 2
        own = np.ones(len(squares)) if weights is None else weights[rows]
        sums += own @ squares
        total += own.sum()
    return np.asarray(sums / total)


def moment_errors(
    moments: DataMoments, fold: FoldMoments, coefs: Floats, X: Any, y: Any, weights: Any
) -> Floats:
    """The same from the moments of the test samples X and y, if these are accurate enough."""
    found = moments.squared_errors(fold, coefs)
    if found is None:
        found = mean_squared_errors(X, y, weights, coefs, moments.intercepts(fold, coefs))
    return found


def wide_errors(problem: Problem, points: list[PathPoint], X: Any, y: Any, weights: Any) -> Floats:
    """The same for points of a path of ``problem``, of which few features are used."""
    used = np.unique(np.concatenate([np.empty(0, np.int64), *(point.features for point in points)]))
    coefs, intercepts = np.zeros((len(points), len(used))), np.zeros(len(points))
    for row, point in enumerate(points):
        coefs[row, np.searchsorted(used, point.features)] = point.coef
        intercepts[row] = problem.split(point.coefficients(problem))[1]
    return mean_squared_errors(X[:, used], y, weights, coefs, intercepts)


class AsGiven(RegressorMixin, BaseEstimator):
    """For scorers: a model whose X are its predictions."""

    def predict(self, X: Any) -> Any:
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return True
