"""Models of celer.

``Lasso`` and ``ElasticNet`` minimise the mean of ½r² plus alpha times the penalty, in which each
feature may have a weight for both of its parts; ``LogisticRegression`` Σ φ + ‖w‖₁/C, one-vs-rest
for more than two classes, always without an intercept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dualgap.estimators.foreign.data import (
    checked_fit,
    refuse_weights,
    require_fit,
    unknown_class,
    unreadable,
)
from dualgap.estimators.foreign.losses import ours
from dualgap.estimators.foreign.parts import Part, mixed, one_vs_rest, part
from dualgap.penalties import L1

_KNOWN = ("Lasso", "ElasticNet", "LogisticRegression")
_GROUPED = ("GroupLasso", "GroupLassoCV", "MultiTaskLasso", "MultiTaskLassoCV")


def parts(name: str, model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[Part]:
    if name in _GROUPED:
        raise unreadable(
            f"celer's {name}", "its penalty is on groups of coefficients, and dualgap has none such"
        )
    if name not in _KNOWN:
        raise unknown_class(name, "celer", _KNOWN)
    require_fit(model, name)
    refuse_weights(sample_weight, f"celer's {name}")
    classes = getattr(model, "classes_", None)
    found = checked_fit(name, model, X, y, None, model.coef_, model.intercept_, classes)
    n = len(found.weights)
    if name == "LogisticRegression":
        for k, signs in one_vs_rest(found):
            strength = 1.0 / float(model.C)
            yield part(
                found, k, signs, ours("logistic"), L1(),
                losses=1.0, strength=strength, intercept=False,
            )  # fmt: skip
        return
    ratio = float(getattr(model, "l1_ratio", 1.0)) if name == "ElasticNet" else 1.0
    penalty, _ = mixed(ratio, 1.0 - ratio, model.weights, positive=bool(model.positive))
    for k, target in enumerate(found.targets().T):
        yield part(
            found, k, target, ours("squared"), penalty,
            losses=1.0 / n, strength=float(model.alpha), intercept=bool(model.fit_intercept),
        )  # fmt: skip
