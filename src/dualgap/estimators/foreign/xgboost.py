"""XGBoost's linear booster, by way of its scikit-learn classes.

It minimises Σ s φ + Σ s · (reg_alpha ‖w‖₁ + ½ reg_lambda ‖w‖²), that is the mean of the losses plus
the penalty, with an intercept that has no penalty: its bias and ``base_score`` together. Numbers
are float32. A bare ``Booster`` does not keep the strengths.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap import losses
from dualgap.estimators.foreign.fitted_model import (
    checked_fit,
    signs_of_shares,
    unknown_class,
    unreadable,
)
from dualgap.estimators.foreign.fitted_problem import FittedProblem, fitted_sum, mixed
from dualgap.linalg.validate import Floats

_KNOWN = ("XGBRegressor", "XGBClassifier")
_LOSSES = {
    "reg:squarederror": "squared",
    "reg:linear": "squared",
    "reg:logistic": "logistic",
    "binary:logistic": "logistic",
    "binary:logitraw": "logistic",
    "count:poisson": "poisson",
    "multi:softmax": "softmax",
    "multi:softprob": "softmax",
}


class _Linear(NamedTuple):
    """The model of a booster, at full precision."""

    objective: str
    coef: Floats
    intercept: Floats


def read(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[FittedProblem]:
    if name == "Booster":
        raise unreadable(
            "a bare Booster of XGBoost",
            "it does not keep alpha and lambda; use XGBRegressor or XGBClassifier",
        )
    if name not in _KNOWN:
        raise unknown_class(name, "xgboost", _KNOWN)
    options = model.get_xgb_params()
    if options.get("booster") != "gblinear":
        raise unreadable(f"XGBoost's {name}", "trees are not a linear model; booster='gblinear' is")
    linear = _linear(name, model)
    loss = _LOSSES[linear.objective]
    classes = np.arange(len(linear.coef)) if loss == "softmax" else None
    fitted = checked_fit(name, model, X, y, sample_weight, linear.coef, linear.intercept, classes)
    total = float(np.sum(fitted.weights))
    if loss == "softmax":
        k, target = None, fitted.labels
    elif loss == "logistic":
        k = 0
        y = fitted.numbers()
        # XGBoost multiplies the losses of y = 1, but not the Σ s that multiplies the penalty.
        heavier = _number(options, "scale_pos_weight", default=1.0)
        fitted = fitted._replace(weights=np.where(y == 1.0, heavier, 1.0) * fitted.weights)
        fitted, target, _ = signs_of_shares(fitted, y)
    else:
        k, target = 0, fitted.numbers()
    penalty, strength = mixed(
        _number(options, "reg_alpha", "alpha"), _number(options, "reg_lambda", "lambda")
    )
    yield fitted_sum(
        fitted, k, target, losses.REGISTRY[loss](), penalty,
        scale=1.0 / total, strength=strength, intercept=True,
    )  # fmt: skip


def _linear(name: str, model: Any) -> _Linear:
    try:
        learner = json.loads(bytes(model.get_booster().save_raw(raw_format="json")))["learner"]
    except Exception as error:  # scikit-learn's NotFittedError among others
        raise ValueError(f"{name} is not fitted yet: call fit(X, y) first ({error})") from None
    objective = learner["objective"]["name"]
    size = learner["learner_model_param"]
    if objective not in _LOSSES or int(size.get("num_target", 1)) > 1:
        raise unreadable(
            f"XGBoost's {name}(objective={objective!r})", f"it can read {', '.join(_LOSSES)}"
        )
    groups = max(1, int(size["num_class"]))
    weights = np.asarray(learner["gradient_booster"]["model"]["weights"], dtype=np.float64)
    weights = weights.reshape(-1, groups)  # a row for each feature, the last one that of the bias
    # XGBoost predicts with the first base score for all classes.
    base = float(np.ravel(json.loads(size["base_score"]))[0])
    if _LOSSES[objective] == "logistic" and objective != "binary:logitraw":
        base = np.log(base / (1.0 - base))
    elif _LOSSES[objective] == "poisson":
        base = np.log(base)
    return _Linear(objective, weights[:-1].T, weights[-1] + base)


def _number(options: Any, *names: str, default: float = 0.0) -> float:
    for name in names:
        if options.get(name) is not None:
            return float(options[name])
    return default
