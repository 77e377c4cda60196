"""Scores of predictions, as scikit-learn defines them, without its checks for plain arrays.

These take longer than a fit to small data, and every step of a grid search makes some.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from dualgap.estimators.validated import is_finite


def accuracy(y: Any, predicted: Any, weights: Any) -> float:
    """The share of samples whose class is predicted."""
    if weights is None and _are_alike(y, predicted) and y.dtype.kind in "biuU":
        return float(np.mean(y == predicted))
    return float(accuracy_score(y, predicted, sample_weight=weights))


def r_squared(y: Any, predicted: Any, weights: Any) -> float:
    """The share of the variance of y that predictions explain."""
    if weights is None and _are_alike(y, predicted) and y.dtype == predicted.dtype == np.float64:
        with np.errstate(over="ignore", invalid="ignore"):
            whole = np.sum((y - np.mean(y)) ** 2)
        if whole > 0.0 and is_finite(y) and is_finite(predicted):
            return float(1.0 - np.sum((y - predicted) ** 2) / whole)
    return float(r2_score(y, predicted, sample_weight=weights))


def _are_alike(y: Any, predicted: Any) -> bool:
    """Whether both are plain vectors of the same length and kind."""
    plain = type(y) is np.ndarray and type(predicted) is np.ndarray and y.ndim == 1 and len(y) > 1
    return plain and y.shape == predicted.shape and y.dtype.kind == predicted.dtype.kind
