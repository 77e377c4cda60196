"""Results of statsmodels: sums of losses without a penalty, on the data that the results hold.

The objective is Σ s r² for squares and −log L otherwise, up to a constant.
A constant column is the intercept. An ``OrderedModel`` has −log L of
ordinal regression. Of fits with a penalty only ``fit_regularized`` of ``Logit`` and
``Poisson`` keeps its strength: −log L + Σ_j alpha_j |w_j|.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap import losses
from dualgap.estimators.foreign.fitted_model import (
    FittedModel,
    checked_fit,
    signs_of_shares,
    unreadable,
)
from dualgap.estimators.foreign.fitted_problem import FittedProblem, fitted_sum, mixed
from dualgap.penalties import L2, Weighted
from dualgap.problem.ordinal import ordinal_problem, rows_of

_MODELS = {"OLS": "squared", "WLS": "squared", "Logit": "logistic", "Poisson": "poisson"}
_FAMILIES = {
    ("Gaussian", "Identity"): "squared",
    ("Binomial", "Logit"): "logistic",
    ("Poisson", "Log"): "poisson",
}


class _Data(NamedTuple):
    X: Any
    y: Any
    weights: Any
    offset: Any


def read(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[FittedProblem]:
    results = getattr(model, "_results", model)
    if not (hasattr(results, "params") and hasattr(results, "model")):
        raise ValueError(f"{name} is not fitted yet: give certify what its fit() returns")
    if _name(results.model) == "OrderedModel":
        yield _ordinal(results, X, y, sample_weight)
        return
    loss = _loss(results.model)
    alpha = _alpha(results)
    if sample_weight is not None:
        name = _name(results.model)
        raise ValueError(f"sample_weight: {name} of statsmodels holds its weights; leave it out")
    data = _data(results.model, X, y)
    fitted = checked_fit(
        _name(results.model), results, data.X, data.y, data.weights, results.params, 0.0
    )
    target, offset = fitted.numbers(), data.offset
    offset = np.broadcast_to(offset, target.shape) if np.any(offset) else None
    if loss == "logistic":
        fitted, target, offset = signs_of_shares(fitted, target, offset)
    if alpha is None:
        fitted, constant = _intercept_apart(fitted, getattr(results.model.data, "const_idx", None))
        penalty, strength = mixed(0.0, 0.0)
    else:
        constant = False
        penalty, strength = mixed(1.0, 0.0, np.broadcast_to(alpha, fitted.coef.shape[1]))
    yield fitted_sum(
        fitted, 0, target, losses.REGISTRY[loss](), penalty,
        scale=2.0 if loss == "squared" else 1.0, strength=strength, intercept=constant,
        offset=offset,
    )  # fmt: skip


def _ordinal(results: Any, X: Any, y: Any, sample_weight: Any) -> FittedProblem:
    """An ``OrderedModel`` with logistic errors: −log L, whose rows are two for most samples."""
    model = results.model
    if getattr(model.distr, "name", "") != "logistic":
        raise unreadable("OrderedModel of statsmodels", 'it can read distr="logit" alone')
    if sample_weight is not None:
        raise ValueError("sample_weight: OrderedModel of statsmodels has none; leave it out")
    p, classes = model.k_vars, model.k_levels
    params = np.asarray(results.params, dtype=np.float64)
    data = checked_fit(
        "OrderedModel", results, model.exog if X is None else X, model.endog, None, params[:p], 0.0
    )
    codes = np.asarray(model.endog) if y is None else np.searchsorted(model.labels, np.ravel(y))
    rows, offset = rows_of(codes, classes), getattr(model, "offset", None)
    offset = None if offset is None else np.asarray(offset, dtype=np.float64)
    base = Weighted(L2(), np.zeros(p))
    problem = ordinal_problem(data.X, codes, classes, rows, base, 1.0, None, offset)
    coef = np.append(params[:p], np.exp(params[p + 1 :]))
    return FittedProblem(problem, coef, -float(params[p]), float(len(rows.samples)))


def _name(model: Any) -> str:
    for base in type(model).__mro__:
        if base.__module__.split(".")[0] == "statsmodels":
            return base.__name__
    return type(model).__name__


def _loss(model: Any) -> str:
    name = _name(model)
    if name in _MODELS:
        return _MODELS[name]
    known = (
        "OLS, WLS, Logit, Poisson, OrderedModel, and GLM with the families Gaussian, Binomial and "
        "Poisson"
    )
    if name != "GLM":
        raise unreadable(f"{name} of statsmodels", f"of statsmodels it can read {known}")
    family = type(model.family).__name__, type(model.family.link).__name__
    if family not in _FAMILIES:
        raise unreadable(
            f"GLM({family[0]}, link {family[1]}) of statsmodels", f"it can read {known}"
        )
    return _FAMILIES[family]


def _alpha(results: Any) -> Any:
    """The strengths of an L1 penalty; None without a penalty."""
    kind, name = type(results).__name__, _name(results.model)
    if kind.startswith("L1"):
        return np.asarray(results.mle_settings["alpha"], dtype=np.float64)
    if kind.startswith("Regularized") or getattr(results, "regularized", False):
        raise unreadable(f"{name} of statsmodels after fit_regularized", "alpha is not kept")
    if getattr(results, "constraints", None) is not None:
        raise unreadable(f"{name} of statsmodels after fit_constrained", "it knows no constraints")
    return None


def _data(model: Any, X: Any, y: Any) -> _Data:
    """The data that the model holds; X and y replace them if given."""
    name = _name(model)
    if getattr(model, "exog", None) is None:
        raise unreadable(
            f"{name} of statsmodels after remove_data",
            "weights and offsets were removed with the data",
        )
    X = model.exog if X is None else X
    y = model.endog if y is None else y
    if name == "GLM":
        binomial = type(model.family).__name__ == "Binomial"
        trials = np.asarray(model.n_trials) if binomial else 1.0
        weights, offset = np.asarray(model.iweights) * trials, model._offset_exposure
    else:
        weights = model.weights if name == "WLS" else None
        shifts = (getattr(model, what, None) for what in ("offset", "exposure"))
        offset = sum(0.0 if shift is None else shift for shift in shifts)
    return _Data(X, y, weights, np.asarray(offset, dtype=np.float64))


def _intercept_apart(fitted: FittedModel, place: int | None) -> tuple[FittedModel, bool]:
    """The constant column as the intercept, if there is one among others."""
    if place is None or fitted.X.shape[1] == 1:
        return fitted, False
    column = fitted.X[:, [place]]
    column = np.ravel(column.toarray() if hasattr(column, "toarray") else column)
    if (column != column[0]).any() or column[0] == 0.0:
        return fitted, False
    others = np.delete(np.arange(fitted.X.shape[1]), place)
    intercept = fitted.coef[:, place] * float(column[0])
    coef = fitted.coef[:, others]
    return fitted._replace(X=fitted.X[:, others], coef=coef, intercept=intercept), True
