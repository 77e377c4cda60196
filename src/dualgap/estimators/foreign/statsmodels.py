"""Results of statsmodels: sums of losses without a penalty, on the data that they hold.

The objective is Σ s r² for squares and −log L otherwise, up to what the parameters do not change.
A constant column is the intercept. Of fits with a penalty only ``fit_regularized`` of ``Logit`` and
``Poisson`` keeps its strength: −log L + Σ_j alpha_j |w_j|.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap.estimators.foreign.data import (
    Fitted,
    checked_fit,
    refuse_weights,
    signs_of_shares,
    unreadable,
)
from dualgap.estimators.foreign.losses import ours
from dualgap.estimators.foreign.parts import Part, mixed, part
from dualgap.linalg.validate import Floats

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


def parts(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[Part]:
    results = getattr(model, "_results", model)
    if not (hasattr(results, "params") and hasattr(results, "model")):
        raise ValueError(f"{name} is not fitted yet: give certify what its fit() returns")
    loss = _loss(results.model)
    alpha = _alpha(results)
    refuse_weights(
        sample_weight, f"{_name(results.model)} of statsmodels, which holds its weights,"
    )
    data = _data(results.model, X, y)
    found = checked_fit(
        _name(results.model), results, data.X, data.y, data.weights, results.params, 0.0
    )
    found, target = _target(found, loss, data.offset)
    if alpha is None:
        found, constant = _apart(found, getattr(results.model.data, "const_idx", None))
        penalty, strength = mixed(0.0, 0.0)
    else:
        constant = False
        penalty, strength = mixed(1.0, 0.0, np.broadcast_to(alpha, found.coef.shape[1]))
    yield part(
        found, 0, target, ours(loss), penalty,
        losses=2.0 if loss == "squared" else 1.0, strength=strength, intercept=constant,
    )  # fmt: skip


def _name(model: Any) -> str:
    for base in type(model).__mro__:
        if base.__module__.split(".")[0] == "statsmodels":
            return base.__name__
    return type(model).__name__


def _loss(model: Any) -> str:
    name = _name(model)
    if name in _MODELS:
        return _MODELS[name]
    known = "OLS, WLS, Logit, Poisson, and GLM with the families Gaussian, Binomial and Poisson"
    if name != "GLM":
        raise unreadable(f"{name} of statsmodels", f"of statsmodels it can read {known}")
    family = type(model.family).__name__, type(model.family.link).__name__
    if family not in _FAMILIES:
        raise unreadable(f"GLM({family[0]}, link {family[1]}) of statsmodels", f"it knows {known}")
    return _FAMILIES[family]


def _alpha(results: Any) -> Any:
    """The strengths of an L1 penalty; None without a penalty."""
    kind, name = type(results).__name__, _name(results.model)
    if kind.startswith("L1"):
        return np.asarray(results.mle_settings["alpha"], dtype=np.float64)
    if kind.startswith("Regularized") or getattr(results, "regularized", False):
        raise unreadable(f"{name} of statsmodels after fit_regularized", "alpha is not kept")
    if getattr(results, "constraints", None) is not None:
        raise unreadable(f"{name} of statsmodels after fit_constrained", "it has no constraints")
    return None


def _data(model: Any, X: Any, y: Any) -> _Data:
    """What the model holds; data that are given stand in the place of its own."""
    name = _name(model)
    if getattr(model, "exog", None) is None:
        raise unreadable(
            f"{name} of statsmodels after remove_data", "weights and offsets are gone with the data"
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


def _target(found: Fitted, loss: str, offset: Floats) -> tuple[Fitted, Floats]:
    """Targets for decision values without their offset."""
    y = found.numbers()
    offset = np.broadcast_to(offset, y.shape)
    if loss == "squared":
        return found, y - offset
    if loss == "poisson":  # s (e^(z + o) − y z) = s e^o (e^z − y e^(−o) z)
        return found._replace(weights=found.weights * np.exp(offset)), y * np.exp(-offset)
    if offset.any():
        raise unreadable(f"{found.name} of statsmodels with an offset", "its loss has none")
    return signs_of_shares(found, y)


def _apart(found: Fitted, place: int | None) -> tuple[Fitted, bool]:
    """The constant column as the intercept, if there is one among others."""
    if place is None or found.X.shape[1] == 1:
        return found, False
    column = found.X[:, [place]]
    column = np.ravel(column.toarray() if hasattr(column, "toarray") else column)
    if (column != column[0]).any() or column[0] == 0.0:
        return found, False
    others = np.delete(np.arange(found.X.shape[1]), place)
    intercept = found.coef[:, place] * float(column[0])
    coef = found.coef[:, others]
    return found._replace(X=found.X[:, others], coef=coef, intercept=intercept), True
