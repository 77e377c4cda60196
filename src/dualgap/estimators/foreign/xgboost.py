"""XGBoost's linear booster, by way of its scikit-learn classes.

It minimises Σ s φ + Σ s · (reg_alpha ‖w‖₁ + ½ reg_lambda ‖w‖²), that is the mean of the losses plus
the penalty, with an intercept that has no penalty: its bias and ``base_score`` together. Numbers
are float32. A bare ``Booster`` has forgotten both strengths.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap.estimators.foreign.data import checked_fit, signs_of_shares, unknown_class, unreadable
from dualgap.estimators.foreign.losses import ours
from dualgap.estimators.foreign.parts import Part, mixed, part
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
    """What a booster says of itself, at full precision."""

    objective: str
    coef: Floats
    intercept: Floats


def parts(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[Part]:
    if name == "Booster":
        raise unreadable(
            "a bare Booster of XGBoost",
            "it has forgotten alpha and lambda of its training; use XGBRegressor or XGBClassifier",
        )
    if name not in _KNOWN:
        raise unknown_class(name, "xgboost", _KNOWN)
    options = model.get_xgb_params()
    if options.get("booster") != "gblinear":
        raise unreadable(f"XGBoost's {name}", "trees are no linear model; booster='gblinear' is")
    linear = _linear(name, model)
    loss = _LOSSES[linear.objective]
    classes = np.arange(len(linear.coef)) if loss == "softmax" else None
    found = checked_fit(name, model, X, y, sample_weight, linear.coef, linear.intercept, classes)
    total = float(np.sum(found.weights))
    if loss == "softmax":
        k, target = None, found.labels
    elif loss == "logistic":
        k = 0
        y = found.numbers()
        # XGBoost multiplies losses of y = 1 and leaves the penalty's share of Σ s as it is.
        heavier = _number(options, "scale_pos_weight", default=1.0)
        found = found._replace(weights=np.where(y == 1.0, heavier, 1.0) * found.weights)
        found, target = signs_of_shares(found, y)
    else:
        k, target = 0, found.numbers()
    penalty, strength = mixed(
        _number(options, "reg_alpha", "alpha"), _number(options, "reg_lambda", "lambda")
    )
    yield part(
        found, k, target, ours(loss), penalty,
        losses=1.0 / total, strength=strength, intercept=True,
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
    # All classes get the first of the base scores, as they do in predictions.
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
