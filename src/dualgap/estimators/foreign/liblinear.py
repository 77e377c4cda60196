"""Models of liblinear's own Python interface: C Σ φ + g(w, b), as in scikit-learn.

``-B b`` adds a feature of the value b, penalised as any other unless ``-R`` says otherwise. The
first of the model's labels is +1. Class weights are freed after training, and model files do
not hold C, so models with either cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualgap import losses
from dualgap.estimators.foreign.fitted_model import (
    checked_fit,
    refuse_weights,
    unknown_class,
    unreadable,
)
from dualgap.estimators.foreign.fitted_problem import UNHALVED, FittedProblem, fitted_sum
from dualgap.linalg.validate import Floats
from dualgap.penalties import L1, L2

_KINDS: dict[int, tuple[Any, Any]] = {  # by -s
    0: (losses.Logistic, L2()),
    1: (losses.SquaredHinge, L2()),
    2: (losses.SquaredHinge, L2()),
    3: (losses.Hinge, L2()),
    5: (losses.SquaredHinge, L1()),
    6: (losses.Logistic, L1()),
    7: (losses.Logistic, L2()),
    11: (losses.SquaredEpsilonInsensitive, L2()),
    12: (losses.SquaredEpsilonInsensitive, L2()),
    13: (losses.EpsilonInsensitive, L2()),
}
_CRAMMER_SINGER, _ONE_CLASS = 4, 21


def read(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[FittedProblem]:
    if name != "model":
        raise unknown_class(name, "liblinear", ("the model that train(y, x, options) returns",))
    refuse_weights(sample_weight, "liblinear's model")
    loss, penalty = _kind(model)
    weights, bias = _weights(model), float(model.bias)
    coef = weights[: model.nr_feature].T
    intercept = bias * weights[-1] if bias > 0.0 else 0.0
    regression = int(model.param.solver_type) in (11, 12, 13)
    labels = None if regression else np.asarray(model.get_labels())
    classes = None if labels is None else np.sort(labels)
    fitted = checked_fit("liblinear's model", model, X, y, None, coef, intercept, classes)
    kind: Any = False if bias <= 0.0 else "penalised" if model.param.regularize_bias else True
    targets = [fitted.numbers()] if labels is None else _signs(fitted.y, labels)
    for k, target in enumerate(targets):
        yield fitted_sum(
            fitted, k, target, loss, penalty,
            scale=float(model.param.C), strength=1.0, intercept=kind,
            scaling=bias if kind == "penalised" else 1.0,
        )  # fmt: skip


def _kind(model: Any) -> tuple[Any, Any]:
    solver = int(model.param.solver_type)
    if solver not in _KINDS:
        why = {
            _CRAMMER_SINGER: "dualgap has the loss of Crammer and Singer in a smoothed form only",
            _ONE_CLASS: "a one-class SVM has no targets",
        }.get(solver, "it does not know this solver")
        raise unreadable(f"liblinear's model of -s {solver}", why)
    if not model.param.weight_label:
        raise unreadable("liblinear's model from a file", "the file does not hold C")
    if model.param.nr_weight:
        raise unreadable("liblinear's model with -wi", "liblinear frees the weights after training")
    loss, penalty = _KINDS[solver]
    if loss is losses.SquaredHinge:
        return loss(gamma=UNHALVED), penalty
    if loss is losses.SquaredEpsilonInsensitive:
        return loss(float(model.param.p), UNHALVED), penalty
    if loss is losses.EpsilonInsensitive:
        return loss(float(model.param.p)), penalty
    return loss(), penalty


def _weights(model: Any) -> Floats:
    """A row for each feature, the last one that of the bias; a column for each problem."""
    rows = int(model.nr_feature) + (float(model.bias) >= 0.0)
    columns = 1 if model.nr_class == 2 else int(model.nr_class)
    flat = np.ctypeslib.as_array(model.w, (rows * columns,))
    return np.array(flat, dtype=np.float64).reshape(rows, columns)


def _signs(y: Any, labels: Any) -> list[Floats]:
    problems = labels[:1] if len(labels) == 2 else labels
    return [np.where(y == label, 1.0, -1.0) for label in problems]
