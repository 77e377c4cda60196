"""Models of skglm: the mean of a datafit's losses plus a penalty, which has its own strength.

An intercept has no penalty. ``LinearSVC`` solves the dual of C Σ hinge + ½‖w‖² and never fits an
intercept, whatever ``fit_intercept`` says; its ``coef_`` are those of the primal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from dualgap.linalg.validate import finite_vector
from dualgap.penalties import L2

_NONCONVEX = ("MCPenalty", "WeightedMCPenalty", "SCAD", "L0_5", "L2_3", "LogSumPenalty")
_NOT_CONVEX_CLASSES = ("MCPRegression",)


def parts(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[Part]:
    if name in _NOT_CONVEX_CLASSES:
        raise _not_convex(name)
    if name not in _CLASSES:
        raise unknown_class(name, "skglm", _CLASSES)
    require_fit(model, name)
    refuse_weights(sample_weight, f"skglm's {name}")
    classes = getattr(model, "classes_", None)
    found = checked_fit(name, model, X, y, None, model.coef_, model.intercept_, classes)
    yield from _CLASSES[name](found)


def _general(found: Fitted) -> Iterator[Part]:
    model = found.model
    datafit, penalty = type(model.datafit).__name__, type(model.penalty).__name__
    if datafit == "QuadraticSVC" and penalty == "IndicatorBox":
        yield from _machine(found, float(model.penalty.alpha))
        return
    if penalty in _NONCONVEX:
        raise _not_convex(penalty)
    if penalty not in _PENALTIES or datafit not in _DATAFITS:
        raise unreadable(
            f"skglm's GeneralizedLinearEstimator({datafit}(), {penalty}())",
            f"it can read the datafits {', '.join(_DATAFITS)} with the penalties "
            f"{', '.join(_PENALTIES)}, and QuadraticSVC with IndicatorBox",
        )
    yield from _mean(
        found,
        _DATAFITS[datafit](model.datafit),
        _PENALTIES[penalty](model.penalty),
        bool(getattr(model.solver, "fit_intercept", False)),
        getattr(model.datafit, "sample_weights", None),
    )


def _lasso(found: Fitted) -> Iterator[Part]:
    model = found.model
    penalty = mixed(
        float(model.alpha), 0.0, getattr(model, "weights", None), positive=bool(model.positive)
    )
    yield from _mean(found, ours("squared"), penalty, bool(model.fit_intercept))


def _elastic_net(found: Fitted) -> Iterator[Part]:
    model = found.model
    yield from _mean(found, ours("squared"), _shared(model), bool(model.fit_intercept))


def _logistic(found: Fitted) -> Iterator[Part]:
    model = found.model
    yield from _mean(found, ours("logistic"), _shared(model), bool(model.fit_intercept))


def _linear_svc(found: Fitted) -> Iterator[Part]:
    yield from _machine(found, float(found.model.C))


def _mean(
    found: Fitted, loss: Any, penalty: tuple[Any, float], intercept: bool, weights: Any = None
) -> Iterator[Part]:
    n = len(found.weights)
    s = np.ones(n) if weights is None else finite_vector(weights, "sample_weights", n)
    for k, y in _targets(found):
        yield part(
            found, k, y, loss, penalty[0],
            losses=1.0 / float(np.sum(s)), strength=penalty[1], weights=s, intercept=intercept,
        )  # fmt: skip


def _machine(found: Fitted, C: float) -> Iterator[Part]:
    for k, y in one_vs_rest(found):
        yield part(found, k, y, ours("hinge"), L2(), losses=C, strength=1.0, intercept=False)


def _targets(found: Fitted) -> Iterator[tuple[int, Any]]:
    if found.classes is not None:
        return one_vs_rest(found)
    if len(found.coef) > 1:
        raise unreadable(f"skglm's {found.name}", "it was fitted on several targets at once")
    return iter([(0, found.numbers())])


def _shared(of: Any) -> tuple[Any, float]:
    """Of an object with ``alpha`` and ``l1_ratio``."""
    alpha, ratio = float(of.alpha), float(of.l1_ratio)
    positive = bool(getattr(of, "positive", False))
    return mixed(alpha * ratio, alpha * (1.0 - ratio), positive=positive)


def _not_convex(name: str) -> ValueError:
    return ValueError(
        f"certify cannot prove anything about {name}: its penalty is not convex, so that there is "
        "no dual bound on its optimum"
    )


_CLASSES: dict[str, Callable[[Fitted], Iterator[Part]]] = {
    "Lasso": _lasso,
    "WeightedLasso": _lasso,
    "ElasticNet": _elastic_net,
    "SparseLogisticRegression": _logistic,
    "LinearSVC": _linear_svc,
    "GeneralizedLinearEstimator": _general,
}
_DATAFITS: dict[str, Callable[[Any], Any]] = {
    "Quadratic": lambda datafit: ours("squared"),
    "WeightedQuadratic": lambda datafit: ours("squared"),
    "Logistic": lambda datafit: ours("logistic"),
    "Huber": lambda datafit: ours("huber", float(datafit.delta)),
    "Poisson": lambda datafit: ours("poisson"),
}
_PENALTIES: dict[str, Callable[[Any], tuple[Any, float]]] = {
    "L1": lambda own: mixed(float(own.alpha), 0.0, positive=bool(own.positive)),
    "L2": lambda own: mixed(0.0, float(own.alpha)),
    "L1_plus_L2": _shared,
    "WeightedL1": lambda own: mixed(
        float(own.alpha), 0.0, own.weights, positive=bool(own.positive)
    ),
}
