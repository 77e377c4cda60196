"""Models of cyanure: the mean of the losses plus a penalty; an intercept has no penalty.

Its squared losses are halved. ``lambda_1`` is the strength of L2 (of ½‖w‖²) or of L1, and in the
elastic net that of L1, with ``lambda_2`` that of ½‖w‖². With more than two classes the logistic
loss is the softmax, unless ``multi_class`` says "ovr"; other losses are one-vs-rest. Losses that it
does not know, such as "hinge", it fits as squares, with a message: they are refused here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualgap.estimators.foreign.data import (
    Fitted,
    checked_fit,
    refuse_weights,
    require_fit,
    unknown_class,
    unreadable,
)
from dualgap.estimators.foreign.losses import ours
from dualgap.estimators.foreign.parts import Part, mixed, one_vs_rest, part

_KNOWN = ("Regression", "Lasso", "Classifier", "LinearSVC", "LogisticRegression", "L1Logistic")
_LOSSES = {
    "square": "squared",
    "logistic": "logistic",
    "sqhinge": "squared-hinge",
    "squared_hinge": "squared-hinge",
    "multiclass-logistic": "softmax",
}
_PENALTIES = ("l2", "l1", "elastic-net", "elasticnet", "none")


def parts(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[Part]:
    if name not in _KNOWN:
        raise unknown_class(name, "cyanure", _KNOWN)
    require_fit(model, name)
    refuse_weights(sample_weight, f"cyanure's {name}")
    penalty, strength = _penalty(name, model)
    # Columns of coefficients stand for classes and targets.
    coef = np.asarray(model.coef_, dtype=np.float64).T
    intercept = model.intercept_ if model.fit_intercept else 0.0
    classes = getattr(model, "classes_", None)
    found = checked_fit(name, model, X, y, None, coef, intercept, classes)
    loss, joint = _loss(name, found)
    n = len(found.weights)
    for k, target in _targets(found, joint):
        yield part(
            found, k, target, loss, penalty,
            losses=1.0 / n, strength=strength, intercept=bool(model.fit_intercept),
        )  # fmt: skip


def _loss(name: str, found: Fitted) -> tuple[Any, bool]:
    """The loss, and whether it is one of all classes."""
    model = found.model
    if model.loss not in _LOSSES:
        raise unreadable(
            f"cyanure's {name}(loss={model.loss!r})", f"it can read {', '.join(_LOSSES)}"
        )
    many = found.classes is not None and len(found.classes) > 2
    if many and (
        model.loss == "multiclass-logistic"
        or (model.loss == "logistic" and model.multi_class in ("auto", "multinomial"))
    ):
        return ours("softmax"), True
    if model.loss == "multiclass-logistic":
        raise unreadable(f"cyanure's {name}(loss={model.loss!r})", "it has two classes only")
    return ours(_LOSSES[model.loss]), False


def _penalty(name: str, model: Any) -> tuple[Any, float]:
    first, second = float(model.lambda_1), float(model.lambda_2)
    if model.penalty not in (*_PENALTIES, None):
        raise unreadable(
            f"cyanure's {name}(penalty={model.penalty!r})", f"it can read {', '.join(_PENALTIES)}"
        )
    if model.penalty in ("none", None):
        return mixed(0.0, 0.0)
    if model.penalty == "l2":
        return mixed(0.0, first)
    return mixed(first, 0.0 if model.penalty == "l1" else second)


def _targets(found: Fitted, joint: bool) -> Iterator[tuple[int | None, Any]]:
    if joint:
        return iter([(None, found.labels)])
    if found.classes is not None:
        return iter(one_vs_rest(found))
    return iter(enumerate(found.targets().T))
