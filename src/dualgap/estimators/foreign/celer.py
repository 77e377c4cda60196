"""Models of celer.

``Lasso``, ``ElasticNet``, ``GroupLasso`` and ``MultiTaskLasso`` minimise the mean of ½r² plus alpha
times the penalty, in which each feature may have one weight for L1 and L2, and each group one;
``LogisticRegression`` Σ φ + ‖w‖₁/C, one-vs-rest for more than two classes, always without an
intercept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dualgap import losses
from dualgap.estimators.foreign.fitted_model import unknown_class, unweighted_fit
from dualgap.estimators.foreign.fitted_problem import (
    FittedProblem,
    fitted_groups,
    fitted_sum,
    mixed,
    one_vs_rest,
)
from dualgap.penalties import L1

_KNOWN = ("Lasso", "ElasticNet", "LogisticRegression", "GroupLasso", "MultiTaskLasso")


def read(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[FittedProblem]:
    if name not in _KNOWN:
        raise unknown_class(name, "celer", _KNOWN)
    fitted = unweighted_fit("celer", name, model, X, y, sample_weight)
    n = len(fitted.weights)
    if name == "LogisticRegression":
        for k, signs in one_vs_rest(fitted):
            strength = 1.0 / float(model.C)
            yield fitted_sum(
                fitted, k, signs, losses.Logistic(), L1(),
                scale=1.0, strength=strength, intercept=False,
            )  # fmt: skip
        return
    if name in ("GroupLasso", "MultiTaskLasso"):
        yield fitted_groups(
            fitted,
            getattr(model, "groups", 1),
            getattr(model, "weights", None),
            intercept=bool(model.fit_intercept),
        )
        return
    ratio = float(getattr(model, "l1_ratio", 1.0)) if name == "ElasticNet" else 1.0
    penalty, _ = mixed(ratio, 1.0 - ratio, model.weights, positive=bool(model.positive))
    for k, target in enumerate(fitted.targets().T):
        yield fitted_sum(
            fitted, k, target, losses.Squared(), penalty,
            scale=1.0 / n, strength=float(model.alpha), intercept=bool(model.fit_intercept),
        )  # fmt: skip
