"""Models of skglm: the mean of a datafit's losses plus a penalty, which has its own strength.

An intercept has no penalty. ``LinearSVC`` solves the dual of C Σ hinge + ½‖w‖² and never fits an
intercept, whatever ``fit_intercept`` says; its ``coef_`` are those of the primal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from dualgap import losses
from dualgap.estimators.foreign.fitted_model import (
    FittedModel,
    unknown_class,
    unreadable,
    unweighted_fit,
)
from dualgap.estimators.foreign.fitted_problem import (
    FittedProblem,
    fitted_groups,
    fitted_sum,
    mixed,
    one_vs_rest,
)
from dualgap.linalg.validate import finite_vector
from dualgap.penalties import L2, GroupLasso, SparseGroupLasso

_NONCONVEX = ("MCPenalty", "WeightedMCPenalty", "SCAD", "L0_5", "L2_3", "LogSumPenalty")
_NONCONVEX_CLASSES = ("MCPRegression",)


def read(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[FittedProblem]:
    if name in _NONCONVEX_CLASSES:
        raise _not_convex(name)
    if name not in _CLASSES:
        raise unknown_class(name, "skglm", _CLASSES)
    yield from _CLASSES[name](unweighted_fit("skglm", name, model, X, y, sample_weight))


def _general(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    datafit, penalty = type(model.datafit).__name__, type(model.penalty).__name__
    if datafit == "QuadraticSVC" and penalty == "IndicatorBox":
        yield from _hinge(fitted, float(model.penalty.alpha))
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
        fitted,
        _DATAFITS[datafit](model.datafit),
        _PENALTIES[penalty](model.penalty),
        bool(getattr(model.solver, "fit_intercept", False)),
        getattr(model.datafit, "sample_weights", None),
    )


def _lasso(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    penalty = mixed(
        float(model.alpha), 0.0, getattr(model, "weights", None), positive=bool(model.positive)
    )
    yield from _mean(fitted, losses.Squared(), penalty, bool(model.fit_intercept))


def _elastic_net(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    yield from _mean(fitted, losses.Squared(), _shared(model), bool(model.fit_intercept))


def _logistic(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    yield from _mean(fitted, losses.Logistic(), _shared(model), bool(model.fit_intercept))


def _group_lasso(fitted: FittedModel) -> Iterator[FittedProblem]:
    model = fitted.model
    yield fitted_groups(
        fitted,
        getattr(model, "groups", 1),
        getattr(model, "weights", None),
        positive=bool(getattr(model, "positive", False)),
        intercept=bool(model.fit_intercept),
    )


def _linear_svc(fitted: FittedModel) -> Iterator[FittedProblem]:
    yield from _hinge(fitted, float(fitted.model.C))


def _mean(
    fitted: FittedModel, loss: Any, penalty: tuple[Any, float], intercept: bool, weights: Any = None
) -> Iterator[FittedProblem]:
    n = len(fitted.weights)
    s = np.ones(n) if weights is None else finite_vector(weights, "sample_weights", n)
    for k, y in _targets(fitted):
        yield fitted_sum(
            fitted, k, y, loss, penalty[0],
            scale=1.0 / float(np.sum(s)), strength=penalty[1], weights=s, intercept=intercept,
        )  # fmt: skip


def _hinge(fitted: FittedModel, C: float) -> Iterator[FittedProblem]:
    for k, y in one_vs_rest(fitted):
        yield fitted_sum(fitted, k, y, losses.Hinge(), L2(), scale=C, strength=1.0, intercept=False)


def _targets(fitted: FittedModel) -> Iterator[tuple[int, Any]]:
    if fitted.classes is not None:
        return one_vs_rest(fitted)
    if len(fitted.coef) > 1:
        raise unreadable(f"skglm's {fitted.name}", "it was fitted on several targets at once")
    return iter([(0, fitted.numbers())])


def _shared(of: Any) -> tuple[Any, float]:
    """The penalty of an object with ``alpha`` and ``l1_ratio``."""
    alpha, ratio = float(of.alpha), float(of.l1_ratio)
    positive = bool(getattr(of, "positive", False))
    return mixed(alpha * ratio, alpha * (1.0 - ratio), positive=positive)


def _not_convex(name: str) -> ValueError:
    return ValueError(
        f"certify cannot prove anything about {name}: its penalty is not convex, so there is no "
        "dual bound on its optimum"
    )


_CLASSES: dict[str, Callable[[FittedModel], Iterator[FittedProblem]]] = {
    "Lasso": _lasso,
    "WeightedLasso": _lasso,
    "ElasticNet": _elastic_net,
    "SparseLogisticRegression": _logistic,
    "GroupLasso": _group_lasso,
    "MultiTaskLasso": _group_lasso,
    "LinearSVC": _linear_svc,
    "GeneralizedLinearEstimator": _general,
}


def _groups(own: Any) -> list[list[int]]:
    """The features of each group of a penalty."""
    ends = own.grp_ptr
    return [list(map(int, own.grp_indices[a:b])) for a, b in pairwise(ends)]


def _group_l2(own: Any) -> tuple[Any, float]:
    return GroupLasso(_groups(own), own.weights, positive=bool(own.positive)), float(own.alpha)


def _sparse_group(own: Any) -> tuple[Any, float]:
    penalty = SparseGroupLasso(
        _groups(own), 0.5, own.weights_groups, feature_weights=own.weights_features
    )
    return penalty, 2.0 * float(own.alpha)


_DATAFITS: dict[str, Callable[[Any], Any]] = {
    "Quadratic": lambda datafit: losses.Squared(),
    "WeightedQuadratic": lambda datafit: losses.Squared(),
    "QuadraticGroup": lambda datafit: losses.Squared(),
    "Logistic": lambda datafit: losses.Logistic(),
    "LogisticGroup": lambda datafit: losses.Logistic(),
    "Huber": lambda datafit: losses.Huber(float(datafit.delta)),
    "Poisson": lambda datafit: losses.Poisson(),
}
_PENALTIES: dict[str, Callable[[Any], tuple[Any, float]]] = {
    "L1": lambda own: mixed(float(own.alpha), 0.0, positive=bool(own.positive)),
    "L2": lambda own: mixed(0.0, float(own.alpha)),
    "L1_plus_L2": _shared,
    "WeightedGroupL2": _group_l2,
    "WeightedL1GroupL2": _sparse_group,
    "WeightedL1": lambda own: mixed(
        float(own.alpha), 0.0, own.weights, positive=bool(own.positive)
    ),
}
