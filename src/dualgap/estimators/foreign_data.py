"""A fitted model of scikit-learn with the data of its fit, checked."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from dualgap._validate import Floats, finite_vector, real_array
from dualgap.linalg import storage
from dualgap.proven_predictions import coef_lines


class Fitted(NamedTuple):
    """A model with a row of coefficients and an intercept for each of its decision values."""

    name: str
    model: Any
    X: Any
    y: Any
    weights: Floats
    coef: Floats
    intercept: Floats

    @property
    def labels(self) -> Any:
        """Each label as an index of the model's classes."""
        return np.searchsorted(self.model.classes_, self.y)

    def numbers(self) -> Floats:
        """y of a regression with one target."""
        return finite_vector(np.ravel(self.y), "y", len(self.weights))

    def targets(self) -> Floats:
        """y of a regression, with a column for each target."""
        y = real_array(self.y, "y").astype(np.float64)
        return y.reshape(len(self.weights), -1)


def read(model: Any, X: Any, y: Any, sample_weight: Any, known: Collection[str]) -> Fitted:
    """The model and its data, or an error that says what would work."""
    model, X = _last_step(model, X)
    name = _known_name(model, known)
    if not hasattr(model, "coef_"):
        raise ValueError(f"{name} is not fitted yet: call fit(X, y) first")
    if X is None or y is None:
        raise ValueError(f"certify needs the data that {name} was fitted on: certify(model, X, y)")
    X = storage.as_data(X)
    coef = coef_lines(model.coef_)
    if coef.shape[1] != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features where {name} was fitted on {coef.shape[1]}")
    n = X.shape[0]
    weights = np.ones(n) if sample_weight is None else _weights(sample_weight, n)
    intercept = np.broadcast_to(np.ravel(model.intercept_), len(coef)).astype(np.float64)
    y = np.asarray(y)
    if len(np.shape(y)) == 0 or len(y) != n:
        raise ValueError(f"y must hold a target for each of the {n} samples of X")
    if hasattr(model, "classes_"):
        y = _check_labels(y, model.classes_, name)
    elif y.size != n * len(coef):
        raise ValueError(f"y has shape {y.shape} where {name} was fitted on {len(coef)} targets")
    return Fitted(name, model, X, y, weights, coef, intercept)


def _last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a pipeline, and X as that step has seen it."""
    while _first_name(model) == "Pipeline":
        if X is not None and len(model.steps) > 1:
            X = model[:-1].transform(X)
        model = model.steps[-1][1]
    return model, X


def _first_name(model: Any) -> str | None:
    """The name of the first class of scikit-learn among the model's bases.

    By name: nothing of scikit-learn has to be imported for that. A subclass of the user's counts as
    what it derives from; one of scikit-learn's, such as LogisticRegressionCV, as itself.
    """
    for base in type(model).__mro__:
        if base.__module__.split(".")[0] == "sklearn":
            return base.__name__
    return None


def _known_name(model: Any, known: Collection[str]) -> str:
    name = _first_name(model)
    if name is not None and name in known:
        return name
    own = type(model).__name__
    if hasattr(model, "certificate_"):
        raise ValueError(f"{own} has its proof already: see its attribute certificate_")
    if hasattr(model, "best_estimator_"):
        raise ValueError(f"certify cannot read {own}: give it the model's best_estimator_")
    raise ValueError(
        f"certify cannot read {own}; it can read scikit-learn's {', '.join(known)}, and pipelines "
        "that end in one of them. For other models write down the problem: "
        "certify(Problem(X, y, loss, penalty, lam), coef)"
    )


def _weights(sample_weight: Any, n: int) -> Floats:
    if np.ndim(sample_weight) == 0:
        sample_weight = np.full(n, sample_weight)
    return finite_vector(sample_weight, "sample_weight", n)


def _check_labels(y: Any, classes: Any, name: str) -> Any:
    if isinstance(classes, list) or y.size != len(y):
        raise ValueError(f"y must hold one label for each sample; {name} with several is not read")
    y = y.ravel()
    found = np.unique(y)
    if len(found) != len(classes) or (found != classes).any():
        raise ValueError(
            f"y has the labels {found.tolist()} where {name} was fitted on {classes.tolist()}: "
            "give certify the data of the fit"
        )
    return y
