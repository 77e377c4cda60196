"""A fold of cross-validation: the problems of an estimator, and the errors of their optima."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from dualgap.choices.between import Interval, Point, Validation
from dualgap.compile.scalar import EPS
from dualgap.estimators.classifier import refuse_one_class
from dualgap.estimators.fits import max_epochs
from dualgap.estimators.validated import finite_data
from dualgap.linalg.validate import Floats


class Bounds(NamedTuple):
    """Bounds on an error of exact optima."""

    low: float
    high: float


class FoldProblems(NamedTuple):
    """The problems of an estimator on the training part of a fold, and the test part.

    ``classes``  labels; None for regression
    ``scales``   λ of each problem at strength 1
    """

    problems: list[Validation]
    scales: list[float]
    inverse: bool
    classes: Any
    y: Any
    method: Any
    max_epochs: int

    @classmethod
    def of(cls, model: Any, name: str, X: Any, y: Any, X_test: Any, y_test: Any) -> FoldProblems:
        model.set_params(**{name: 1.0})
        problems = list(_problems_of(model, X, y))
        classes = model.classes_ if is_classifier(model) else None
        return cls(
            [Validation(problem, X_test) for problem in problems],
            [problem.lam for problem in problems],
            name == "C",
            classes,
            np.asarray(y_test) if classes is not None else np.asarray(y_test, dtype=np.float64),
            model.method,
            max_epochs(model.max_iter),
        )

    def lam(self, k: int, strength: float) -> float:
        return self.scales[k] / strength if self.inverse else self.scales[k] * strength

    def error(self, lows: list[Point], highs: list[Point]) -> Bounds:
        """Bounds on the error of all optima of this fold between two strengths."""
        found = [view.optima(*pair) for view, *pair in zip(self.problems, lows, highs)]
        if self.classes is None:
            return _squared_error(self.y, *found[0])
        if len(found) == 1:
            found = [Interval(-found[0].high, -found[0].low), found[0]]
        low, high = (np.stack(side, axis=1) for side in zip(*found))
        return _wrong_labels(self.classes, self.y, low, high)


def _problems_of(model: Any, X: Any, y: Any) -> Iterator[Any]:
    """The problems that an estimator would fit."""
    model.n_features_in_ = X.shape[1]
    X = finite_data(model, X, y)[0]
    if is_classifier(model):
        model.classes_, codes = np.unique(y, return_inverse=True)
        refuse_one_class(model.classes_, model)
        if model._is_joint(len(model.classes_)):
            raise ValueError(
                f"{type(model).__name__} with several classes has a loss of all classes together, "
                "for which no bounds between strengths are known: use LinearSVC, RidgeClassifier "
                "or two classes"
            )
        subproblems = model._subproblems(codes, None, X.shape[1])
    else:
        subproblems = model._subproblems([np.asarray(y, dtype=np.float64)], None, X.shape[1])
    first = None
    for subproblem in subproblems:
        problem = model._problem(X if first is None else first, subproblem)
        first = problem if first is None else first
        yield problem


def _squared_error(y: Floats, low: Floats, high: Floats) -> Bounds:
    above, below = high - y, y - low
    nearest = np.maximum(np.maximum(-above, -below), 0.0)
    farthest = np.maximum(np.abs(above), np.abs(below))
    slack = (16.0 + len(y)) * EPS
    least, most = np.mean(nearest**2), np.mean(farthest**2)
    off = slack * float(np.mean((np.abs(y) + farthest) ** 2))  # also of the differences
    return Bounds(max(float(least) - off, 0.0), float(most) + off)


def _wrong_labels(classes: Any, y: Any, low: Floats, high: Floats) -> Bounds:
    """The share of labels that are wrong for certain, and of those that may be."""
    places = np.searchsorted(classes, y)
    own = np.minimum(places, len(classes) - 1)
    rows = np.arange(len(y))
    others_low, others_high = low.copy(), high.copy()
    others_low[rows, own] = others_high[rows, own] = -np.inf
    known = classes[own] == y
    right = known & (low[rows, own] > others_high.max(axis=1))
    wrong = ~known | (high[rows, own] < others_low.max(axis=1))
    return Bounds(float(np.mean(wrong)), float(np.mean(~right)))
