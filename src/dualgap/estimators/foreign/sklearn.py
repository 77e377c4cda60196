"""The problems that a fitted model of scikit-learn solves: a table with an entry for each class.

The model's own objective, as its documentation writes it, is ``unit`` · P(w) of our ``Problem``;
scikit-learn sums losses where we average them, and weighs them in ways that differ by class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dualgap import losses
from dualgap.estimators.foreign.class_weights import class_weights_of, classes_vs_rest
from dualgap.estimators.foreign.fitted_model import FittedModel, checked_fit, require_fit
from dualgap.estimators.foreign.fitted_problem import (
    UNHALVED,
    FittedProblem,
    fitted_groups,
    fitted_problem,
)
from dualgap.estimators.glm import tweedie_loss
from dualgap.estimators.penalties import by_ratio
from dualgap.linalg.validate import Floats
from dualgap.penalties import L1, L2, NonNegative


def read(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[FittedProblem]:
    _refuse_unknown(name, model)
    require_fit(model, name)
    classes = getattr(model, "classes_", None)
    fitted = checked_fit(name, model, X, y, sample_weight, model.coef_, model.intercept_, classes)
    return TABLE[name](fitted)


def _refuse_unknown(name: str, model: Any) -> None:
    if name in TABLE:
        return
    own = type(model).__name__
    if hasattr(model, "certificate_"):
        raise ValueError(f"{own} has a certificate already: see its attribute certificate_")
    if hasattr(model, "best_estimator_"):
        raise ValueError(f"certify cannot read {own}: give it the model's best_estimator_")
    from dualgap.estimators.foreign.reader import LIBRARIES

    others = ", ".join(library for library in LIBRARIES if library != "sklearn")
    raise ValueError(
        f"certify cannot read {own}; it can read scikit-learn's {', '.join(TABLE)}, pipelines that "
        f"end in one of them, and models of {others}. For other models name loss and penalty: "
        "certify(X, y, coef, intercept, loss=..., penalty=..., lam=...)"
    )


# --- the sum of losses, C times -----------------------------------------------------------------


def _linear_svc(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    class_weight = class_weights_of(fitted, by_sample_weight=True)
    if model.multi_class != "ovr":
        if len(model.classes_) == 2:
            raise ValueError(
                "LinearSVC(multi_class='crammer_singer') with two classes is the same as "
                "loss='hinge' with twice the C: use that"
            )
        s = fitted.weights * class_weight[fitted.labels]
        loss: Any = losses.MulticlassHinge(gamma=0.0)
        yield _summed(fitted, None, fitted.labels, s, loss, L2(), "penalised")
        return
    loss, _ = _loss(model)
    penalty = L1() if model.penalty == "l1" else L2()
    for k, y, s in classes_vs_rest(fitted, class_weight):
        yield _summed(fitted, k, y, s, loss, penalty, "penalised")


def _linear_svr(fitted: FittedModel) -> Iterator[FittedProblem]:
    loss, _ = _loss(fitted.model)
    yield _summed(fitted, 0, fitted.numbers(), fitted.weights, loss, L2(), "penalised")


def _logistic_regression(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    ratio = _logistic_l1_ratio(model)
    penalty = None if ratio is None else by_ratio(ratio)
    class_weight = class_weights_of(fitted, by_sample_weight=True)
    K = len(model.classes_)
    scheme = getattr(model, "multi_class", "auto")  # gone since scikit-learn 1.8
    liblinear = model.solver == "liblinear"
    intercept: Any = "penalised" if liblinear else True
    if K > 2 and not liblinear and scheme != "ovr":
        s = fitted.weights * class_weight[fitted.labels]
        yield _summed(fitted, None, fitted.labels, s, losses.Softmax(), penalty, intercept)
        return
    if (K == 2 and scheme == "multinomial") or (
        K > 2 and not liblinear and model.class_weight is not None
    ):
        raise ValueError(
            f"LogisticRegression(multi_class={scheme!r}) with {K} classes and class_weight="
            f"{model.class_weight!r} matches no problem of dualgap: leave multi_class out"
        )
    for k, y, s in classes_vs_rest(fitted, class_weight):
        yield _summed(fitted, k, y, s, losses.Logistic(), penalty, intercept)


def _logistic_l1_ratio(model: Any) -> float | None:
    """None without a penalty. Newer versions of scikit-learn leave ``penalty`` out."""
    name = getattr(model, "penalty", "deprecated")
    if name is None or math.isinf(model.C):
        return None
    if name in ("l1", "l2"):
        return 1.0 if name == "l1" else 0.0
    return float(model.l1_ratio or 0.0)


def _summed(
    fitted: FittedModel, k: int | None, y: Any, s: Floats, loss: Any, penalty: Any, intercept: Any
) -> FittedProblem:
    """C Σ s φ + g."""
    C, total = float(fitted.model.C), math.fsum(s)
    if penalty is None or math.isinf(C):
        return _with_intercept(fitted, k, y, s, loss, L2(), 0.0, total, intercept)
    return _with_intercept(fitted, k, y, s, loss, penalty, 1.0 / (C * total), C * total, intercept)


# --- alpha times the penalty --------------------------------------------------------------------


def _ridge(fitted: FittedModel) -> Iterator[FittedProblem]:
    """Σ s r² + alpha ‖w‖², which is twice that of our halved squares."""
    model = fitted.model
    targets = fitted.targets()
    penalty = NonNegative(L2()) if model.positive else L2()
    alphas = np.broadcast_to(np.ravel(model.alpha), targets.shape[1])
    total = math.fsum(fitted.weights)
    for k, (y, alpha) in enumerate(zip(targets.T, alphas)):
        lam, unit = float(alpha) / total, 2.0 * total
        yield _with_intercept(fitted, k, y, fitted.weights, losses.Squared(), penalty, lam, unit)


def _ridge_classifier(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    s = fitted.weights * class_weights_of(fitted, by_sample_weight=False)[fitted.labels]
    penalty = NonNegative(L2()) if model.positive else L2()
    total = math.fsum(s)
    for k, y, _ in classes_vs_rest(fitted, np.ones(len(model.classes_))):
        lam = float(model.alpha) / total
        yield _with_intercept(fitted, k, y, s, losses.Squared(), penalty, lam, 2.0 * total)


def _elastic_net(fitted: FittedModel) -> Iterator[FittedProblem]:
    """The mean of ½r² + alpha · (l1_ratio ‖w‖₁ + ½(1 − l1_ratio)‖w‖²); Lasso: l1_ratio = 1."""
    model = fitted.model
    penalty = by_ratio(float(model.l1_ratio))
    penalty = NonNegative(penalty) if model.positive else penalty
    for k, y in enumerate(fitted.targets().T):
        yield _mean(fitted, k, y, losses.Squared(), penalty)


def _multi_task(fitted: FittedModel) -> Iterator[FittedProblem]:
    ratio = float(getattr(fitted.model, "l1_ratio", 1.0))
    intercept = bool(fitted.model.fit_intercept)
    yield fitted_groups(fitted, 1, l1_ratio=ratio, intercept=intercept)


def _quantile(fitted: FittedModel) -> Iterator[FittedProblem]:
    yield _mean(fitted, 0, fitted.numbers(), losses.Quantile(float(fitted.model.quantile)), L1())


def _poisson(fitted: FittedModel) -> Iterator[FittedProblem]:
    yield _mean(fitted, 0, fitted.numbers(), losses.Poisson(), L2())


def _gamma(fitted: FittedModel) -> Iterator[FittedProblem]:
    yield _mean(fitted, 0, fitted.numbers(), losses.Gamma(), L2())


def _tweedie(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    yield _mean(fitted, 0, fitted.numbers(), tweedie_loss(model.power, model.link), L2())


def _mean(fitted: FittedModel, k: int, y: Floats, loss: Any, penalty: Any) -> FittedProblem:
    return _with_intercept(
        fitted, k, y, fitted.weights, loss, penalty, float(fitted.model.alpha), 1.0
    )


# --- stochastic gradients -----------------------------------------------------------------------


def _sgd_classifier(fitted: FittedModel) -> Iterator[FittedProblem]:
    for k, y, s in classes_vs_rest(fitted, class_weights_of(fitted, by_sample_weight=False)):
        yield _stochastic(fitted, k, y, s)


def _sgd_regressor(fitted: FittedModel) -> Iterator[FittedProblem]:
    yield _stochastic(fitted, 0, fitted.numbers(), fitted.weights)


def _stochastic(fitted: FittedModel, k: int, y: Floats, s: Floats) -> FittedProblem:
    """(1/n) Σ s φ + alpha g: each sample makes one step in n, whatever its weight."""
    model = fitted.model
    loss, factor = _loss(model)
    share = factor * math.fsum(s) / len(s)
    ratios: dict[Any, float | None] = {"l2": 0.0, "l1": 1.0, None: None}
    ratio = ratios.get(model.penalty, model.l1_ratio)
    if ratio is None:
        return _with_intercept(fitted, k, y, s, loss, L2(), 0.0, share)
    return _with_intercept(
        fitted, k, y, s, loss, by_ratio(ratio), float(model.alpha) / share, share
    )


# --- what they share ----------------------------------------------------------------------------


def _with_intercept(
    fitted: FittedModel,
    k: int | None,
    y: Any,
    s: Floats,
    loss: Any,
    penalty: Any,
    lam: float,
    unit: float,
    intercept: Any = True,
) -> FittedProblem:
    """As ``fitted_problem``, with the intercept of scikit-learn's parameters."""
    intercept = intercept if fitted.model.fit_intercept else False
    scaling = float(fitted.model.intercept_scaling) if intercept == "penalised" else 1.0
    return fitted_problem(
        fitted, k, y, s, loss, penalty, lam, unit, intercept=intercept, scaling=scaling
    )


def _loss(model: Any) -> tuple[Any, float]:
    """The loss that equals the model's ``loss`` when multiplied by the number beside it."""
    epsilon = float(getattr(model, "epsilon", 0.0))
    known = {
        "hinge": (losses.Hinge(), 1.0),
        "squared_hinge": (losses.SquaredHinge(gamma=UNHALVED), 1.0),
        "log_loss": (losses.Logistic(), 1.0),
        "modified_huber": (losses.SmoothedHinge(gamma=2.0), 4.0),
        "squared_error": (losses.Squared(), 1.0),
        "huber": (losses.Huber(epsilon), 1.0),
        "epsilon_insensitive": (losses.EpsilonInsensitive(epsilon), 1.0),
        "squared_epsilon_insensitive": (losses.SquaredEpsilonInsensitive(epsilon, UNHALVED), 1.0),
    }
    if model.loss not in known:
        raise ValueError(
            f"loss={model.loss!r} has no match in dualgap; of {type(model).__name__}'s losses "
            f"these have one: {', '.join(known)}"
        )
    return known[model.loss]


TABLE: dict[str, Callable[[FittedModel], Iterator[FittedProblem]]] = {
    "LinearSVC": _linear_svc,
    "LinearSVR": _linear_svr,
    "LogisticRegression": _logistic_regression,
    "Ridge": _ridge,
    "RidgeClassifier": _ridge_classifier,
    "Lasso": _elastic_net,
    "ElasticNet": _elastic_net,
    "MultiTaskLasso": _multi_task,
    "MultiTaskElasticNet": _multi_task,
    "QuantileRegressor": _quantile,
    "PoissonRegressor": _poisson,
    "GammaRegressor": _gamma,
    "TweedieRegressor": _tweedie,
    "SGDClassifier": _sgd_classifier,
    "SGDRegressor": _sgd_regressor,
}
