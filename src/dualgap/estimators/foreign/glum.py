"""Models of glum: half the mean deviance plus alpha times the elastic net of the coefficients.

Half of a deviance is ½r² for the normal family, the logistic loss for the binomial one, and
e^z − yz for Poisson, up to a constant. An intercept has no penalty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualgap import losses
from dualgap.estimators.foreign.fitted_model import (
    checked_fit,
    require_fit,
    signs_of_shares,
    unknown_class,
    unreadable,
)
from dualgap.estimators.foreign.fitted_problem import FittedProblem, fitted_sum, mixed
from dualgap.linalg.validate import Floats

_KNOWN = ("GeneralizedLinearRegressor",)
_FAMILIES = {
    "normal": ("squared", ("auto", "identity", "IdentityLink")),
    "gaussian": ("squared", ("auto", "identity", "IdentityLink")),
    "NormalDistribution": ("squared", ("auto", "identity", "IdentityLink")),
    "poisson": ("poisson", ("auto", "log", "LogLink")),
    "PoissonDistribution": ("poisson", ("auto", "log", "LogLink")),
    "binomial": ("logistic", ("auto", "logit", "LogitLink")),
    "BinomialDistribution": ("logistic", ("auto", "logit", "LogitLink")),
}


def read(
    name: str, model: Any, X: Any, y: Any, sample_weight: Any, offset: Any = None
) -> Iterator[FittedProblem]:
    if name not in _KNOWN:
        raise unknown_class(name, "glum", _KNOWN)
    require_fit(model, name)
    loss = _loss(model)
    _refuse_constraints(model)
    fitted = checked_fit(name, model, X, y, sample_weight, model.coef_, model.intercept_)
    penalty, strength = _penalty(model, fitted.X.shape[1])
    target = fitted.numbers()
    if loss == "logistic":
        fitted, target, offset = signs_of_shares(fitted, target, offset)
    yield fitted_sum(
        fitted, 0, target, losses.REGISTRY[loss](), penalty,
        scale=1.0 / float(np.sum(fitted.weights)), strength=strength,
        intercept=bool(model.fit_intercept), offset=offset,
    )  # fmt: skip


def _loss(model: Any) -> str:
    family, link = _name(model.family), _name(model.link)
    if family not in _FAMILIES or link not in _FAMILIES[family][1]:
        raise unreadable(
            f"glum's GeneralizedLinearRegressor(family={family!r}, link={link!r})",
            "it can read the families normal, poisson and binomial with the links identity, log "
            "and logit",
        )
    return _FAMILIES[family][0]


def _name(value: Any) -> str:
    return value if isinstance(value, str) else type(value).__name__


def _refuse_constraints(model: Any) -> None:
    for option in ("lower_bounds", "upper_bounds", "A_ineq"):
        if getattr(model, option, None) is not None:
            raise unreadable(f"glum's models with {option}", "it knows no such constraints")
    if getattr(model, "scale_predictors", False):
        raise unreadable(
            "glum's models with scale_predictors=True", "their penalty depends on the scaling"
        )


def _penalty(model: Any, p: int) -> tuple[Any, float]:
    # After a search, coef_ belongs to the last alpha.
    alpha = float(model._alphas[-1] if model.alpha_search else (model.alpha or 0.0))
    l1 = alpha * float(model.l1_ratio or 0.0)
    first = _weights(model.P1, "P1", p) if l1 > 0.0 else None
    second = _weights(model.P2, "P2", p) if l1 < alpha else None
    if first is not None and second is not None and not np.array_equal(first, second):
        raise unreadable(
            "glum's models with different P1 and P2", "it needs one weight for both penalties"
        )
    weights = second if first is None else first
    alike = weights is None or (weights == 1.0).all()
    return mixed(l1, alpha - l1, None if alike else weights)


def _weights(given: Any, name: str, p: int) -> Floats:
    if given is None or isinstance(given, str):  # "identity"
        return np.ones(p)
    if hasattr(given, "toarray") or np.ndim(given) != 1 or len(given) != p:
        raise unreadable(
            f"glum's models with {name} as a matrix", "it needs one weight for each column of X"
        )
    return np.asarray(given, dtype=np.float64)
