"""Models of cyanure: the mean of the losses plus a penalty; an intercept has no penalty.

Its squared losses are halved. ``lambda_1`` is the strength of L2 (of ½‖w‖²) or of L1, and in the
elastic net that of L1, with ``lambda_2`` that of ½‖w‖². With more than two classes the logistic
loss is the softmax, unless ``multi_class`` says "ovr"; other losses are one-vs-rest. cyanure
fits losses that it does not know, such as "hinge", as squares, with a message: they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualgap import losses
from dualgap.estimators.foreign.fitted_model import (
    FittedModel,
    require_fit,
    unknown_class,
    unreadable,
    unweighted_fit,
)
from dualgap.estimators.foreign.fitted_problem import FittedProblem, fitted_sum, mixed, one_vs_rest

_KNOWN = ("Regression", "Lasso", "Classifier", "LinearSVC", "LogisticRegression", "L1Logistic")
_LOSSES = {
    "square": "squared",
    "logistic": "logistic",
    "sqhinge": "squared-hinge",
    "squared_hinge": "squared-hinge",
    "multiclass-logistic": "softmax",
}
_PENALTIES = ("l2", "l1", "elastic-net", "elasticnet", "none")


def read(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[FittedProblem]:
    if name not in _KNOWN:
        raise unknown_class(name, "cyanure", _KNOWN)
    require_fit(model, name)
    penalty, strength = _penalty(name, model)
    # cyanure has a column of coefficients for each class or target.
    coef = np.asarray(model.coef_, dtype=np.float64).T
    intercept = model.intercept_ if model.fit_intercept else 0.0
    fitted = unweighted_fit("cyanure", name, model, X, y, sample_weight, coef, intercept)
    loss, joint = _loss(name, fitted)
    n = len(fitted.weights)
    for k, target in _targets(fitted, joint):
        yield fitted_sum(
            fitted, k, target, loss, penalty,
            scale=1.0 / n, strength=strength, intercept=bool(model.fit_intercept),
        )  # fmt: skip


def _loss(name: str, fitted: FittedModel) -> tuple[Any, bool]:
    """The loss, and whether it is a multiclass loss."""
    model = fitted.model
    if model.loss not in _LOSSES:
        raise unreadable(
            f"cyanure's {name}(loss={model.loss!r})", f"it can read {', '.join(_LOSSES)}"
        )
    many = fitted.classes is not None and len(fitted.classes) > 2
    if many and (
        model.loss == "multiclass-logistic"
        or (model.loss == "logistic" and model.multi_class in ("auto", "multinomial"))
    ):
        return losses.Softmax(), True
    if model.loss == "multiclass-logistic":
        raise unreadable(f"cyanure's {name}(loss={model.loss!r})", "it was fitted on two classes")
    return losses.REGISTRY[_LOSSES[model.loss]](), False


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


def _targets(fitted: FittedModel, joint: bool) -> Iterator[tuple[int | None, Any]]:
    if joint:
        return iter([(None, fitted.labels)])
    if fitted.classes is not None:
        return iter(one_vs_rest(fitted))
    return iter(enumerate(fitted.targets().T))
