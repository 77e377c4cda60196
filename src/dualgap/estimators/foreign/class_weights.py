"""Weights of the classes of a fitted classifier, and its problems of one class against the rest."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from dualgap.estimators.foreign.fitted_model import FittedModel
from dualgap.linalg.validate import Floats


def class_weights_of(fitted: FittedModel, *, by_sample_weight: bool) -> Floats:
    """One weight for each class, as scikit-learn computes them."""

    more = {}
    # "balanced" counts sample weights in newer versions only.
    if by_sample_weight and "sample_weight" in inspect.signature(compute_class_weight).parameters:
        more["sample_weight"] = fitted.weights
    model = fitted.model
    weights = compute_class_weight(model.class_weight, classes=model.classes_, y=fitted.y, **more)
    return np.asarray(weights, dtype=np.float64)


def classes_vs_rest(
    fitted: FittedModel, class_weight: Floats
) -> Iterator[tuple[int, Floats, Floats]]:
    """For each problem its row of coefficients, targets ±1, and sample weights.

    With more than two classes the rest weighs 1 in liblinear and in stochastic gradients.
    """
    if len(class_weight) == 2:
        yield 0, 2.0 * fitted.labels - 1.0, fitted.weights * class_weight[fitted.labels]
        return
    for k, weight in enumerate(class_weight):
        own = fitted.labels == k
        yield k, np.where(own, 1.0, -1.0), fitted.weights * np.where(own, weight, 1.0)
