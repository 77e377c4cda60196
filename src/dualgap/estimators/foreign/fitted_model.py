"""A fitted model of another library with its training data, checked, and shared refusals."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, finite_vector, real_array
from dualgap.proof.predictions import coef_rows


class FittedModel(NamedTuple):
    """A model with a row of coefficients and an intercept for each of its decision values."""

    name: str
    model: Any
    X: Any
    y: Any
    weights: Floats
    coef: Floats
    intercept: Floats
    classes: Any = None

    @property
    def labels(self) -> Any:
        """Each label as an index of the model's classes, which are sorted."""
        return np.searchsorted(self.classes, self.y)

    def numbers(self) -> Floats:
        """y of a regression with one target."""
        return finite_vector(np.ravel(self.y), "y", len(self.weights))

    def targets(self) -> Floats:
        """y of a regression, with a column for each target."""
        y = real_array(self.y, "y").astype(np.float64)
        return y.reshape(len(self.weights), -1)


def checked_fit(
    name: str,
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    coef: Any,
    intercept: Any,
    classes: Any = None,
) -> FittedModel:
    """Check the model and its data against each other.

    ``coef`` has a row for each decision value; ``classes`` are those of a classifier.
    """
    if X is None or y is None:
        raise ValueError(f"certify needs the data that {name} was fitted on: certify(model, X, y)")
    X = storage.as_data(X)
    coef = coef_rows(coef)
    if coef.shape[1] != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, but {name} was fitted on {coef.shape[1]}")
    n = X.shape[0]
    weights = np.ones(n) if sample_weight is None else _weights(sample_weight, n)
    intercept = np.broadcast_to(np.ravel(intercept), len(coef)).astype(np.float64)
    y = np.asarray(y)
    if len(np.shape(y)) == 0 or len(y) != n:
        raise ValueError(f"y must hold a target for each of the {n} samples of X")
    if classes is not None:
        y = _check_labels(y, classes, name)
    elif y.size != n * len(coef):
        raise ValueError(f"y has shape {y.shape}, but {name} was fitted on {len(coef)} targets")
    return FittedModel(name, model, X, y, weights, coef, intercept, classes)


def unweighted_fit(
    library: str,
    name: str,
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    coef: Any = None,
    intercept: Any = None,
) -> FittedModel:
    """As ``checked_fit``, for libraries in the style of scikit-learn that know no sample weights.

    ``coef`` and ``intercept`` are those of the model unless given in another shape.
    """
    require_fit(model, name)
    refuse_weights(sample_weight, f"{library}'s {name}")
    coef = model.coef_ if coef is None else coef
    intercept = model.intercept_ if intercept is None else intercept
    classes = getattr(model, "classes_", None)
    return checked_fit(name, model, X, y, None, coef, intercept, classes)


def require_fit(model: Any, name: str) -> None:
    if not hasattr(model, "coef_"):
        raise ValueError(f"{name} is not fitted yet: call fit(X, y) first")


def refuse_weights(sample_weight: Any, name: str) -> None:
    if sample_weight is not None:
        raise ValueError(f"sample_weight: {name} is fitted without weights; leave it out")


def unreadable(name: str, why: str) -> ValueError:
    """The error for a model whose objective cannot be read, with what to do instead."""
    return ValueError(
        f"certify cannot read {name}: {why}. If dualgap has its loss and penalty, name them: "
        "certify(X, y, coef, intercept, loss=..., penalty=..., lam=...)"
    )


def unknown_class(name: str, library: str, known: Collection[str]) -> ValueError:
    return unreadable(f"{library}'s {name}", f"of {library} it can read {', '.join(known)}")


def signs_of_shares(
    fitted: FittedModel, y: Floats, offset: Any = None
) -> tuple[FittedModel, Floats, Any]:
    """Targets ±1 for shares of successes y in [0, 1], which are mostly 0 and 1, and offsets.

    A sample with a share in between becomes two: a success of weight s·y, and a failure of weight
    s·(1 − y).
    """
    if ((y < 0.0) | (y > 1.0)).any():
        raise ValueError(f"y must lie between 0 and 1 for {fitted.name} with a binomial family")
    if ((y == 0.0) | (y == 1.0)).all():
        return fitted, 2.0 * y - 1.0, offset
    X = (
        sparse.vstack([fitted.X] * 2, "csr")
        if storage.is_sparse(fitted.X)
        else np.vstack([fitted.X] * 2)
    )
    weights = np.concatenate([fitted.weights * y, fitted.weights * (1.0 - y)])
    fitted = fitted._replace(X=storage.as_data(X), weights=weights)
    offset = None if offset is None else np.tile(offset, 2)
    return fitted, np.repeat([1.0, -1.0], len(y)), offset


def _weights(sample_weight: Any, n: int) -> Floats:
    if np.ndim(sample_weight) == 0:
        sample_weight = np.full(n, sample_weight)
    return finite_vector(sample_weight, "sample_weight", n)


def _check_labels(y: Any, classes: Any, name: str) -> Any:
    if isinstance(classes, list) or y.size != len(y):
        raise ValueError(
            f"y must hold one label for each sample; certify cannot read {name} with several"
        )
    y = y.ravel()
    labels = np.unique(y)
    if len(labels) != len(classes) or (labels != classes).any():
        raise ValueError(
            f"y has the labels {labels.tolist()}, but {name} was fitted on {classes.tolist()}: "
            "give certify the training data"
        )
    return y
