"""Models of liblinear's own Python interface: C Σ φ + g(w, b), as scikit-learn's liblinear.

``-B b`` adds a feature of the value b, penalised as any other unless ``-R`` says otherwise. The
first of the model's labels is +1. Class weights lie in memory that is gone after training, and
files of models do not hold C, so that these cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualgap.estimators.foreign.data import checked_fit, refuse_weights, unknown_class, unreadable
from dualgap.estimators.foreign.losses import WHOLE, ours
from dualgap.estimators.foreign.parts import Part, part
from dualgap.linalg.validate import Floats
from dualgap.penalties import L1, L2

_KINDS = {
    0: ("logistic", L2()),
    1: ("squared-hinge", L2()),
    2: ("squared-hinge", L2()),
    3: ("hinge", L2()),
    5: ("squared-hinge", L1()),
    6: ("logistic", L1()),
    7: ("logistic", L2()),
    11: ("squared-epsilon-insensitive", L2()),
    12: ("squared-epsilon-insensitive", L2()),
    13: ("epsilon-insensitive", L2()),
}
_CRAMMER_SINGER, _ONE_CLASS = 4, 21


def parts(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[Part]:
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
    found = checked_fit("liblinear's model", model, X, y, None, coef, intercept, classes)
    kind: Any = False if bias <= 0.0 else "penalised" if model.param.regularize_bias else True
    targets = [found.numbers()] if labels is None else _signs(found.y, labels)
    for k, target in enumerate(targets):
        yield part(
            found, k, target, loss, penalty,
            losses=float(model.param.C), strength=1.0, intercept=kind,
            scaling=bias if kind == "penalised" else 1.0,
        )  # fmt: skip


def _kind(model: Any) -> tuple[Any, Any]:
    solver = int(model.param.solver_type)
    if solver not in _KINDS:
        why = {
            _CRAMMER_SINGER: "dualgap has the loss of Crammer and Singer in a smoothed form only",
            _ONE_CLASS: "a one-class machine has no targets",
        }.get(solver, "it does not know this solver")
        raise unreadable(f"liblinear's model of -s {solver}", why)
    if not model.param.weight_label:
        raise unreadable("liblinear's model from a file", "the file does not hold C")
    if model.param.nr_weight:
        raise unreadable("liblinear's model with -wi", "the weights are gone after training")
    name, penalty = _KINDS[solver]
    if name == "squared-hinge":
        return ours(name, WHOLE), penalty
    if name == "squared-epsilon-insensitive":
        return ours(name, float(model.param.p), WHOLE), penalty
    if name == "epsilon-insensitive":
        return ours(name, float(model.param.p)), penalty
    return ours(name), penalty


def _weights(model: Any) -> Floats:
    """A row for each feature, the last one that of the bias; a column for each problem."""
    rows = int(model.nr_feature) + (float(model.bias) >= 0.0)
    columns = 1 if model.nr_class == 2 else int(model.nr_class)
    flat = np.ctypeslib.as_array(model.w, (rows * columns,))
    return np.array(flat, dtype=np.float64).reshape(rows, columns)


def _signs(y: Any, labels: Any) -> list[Floats]:
    problems = labels[:1] if len(labels) == 2 else labels
    return [np.where(y == label, 1.0, -1.0) for label in problems]
