"""Changing the import: what scikit-learn's models reach with default settings, and what ours prove.

Both solve the same problem. Objectives are in scikit-learn's units, "above" is how far its model is
proven to be above the minimum, in percent of it; seconds are the shortest of three fits in one
process after a fit that compiles, taken in turns.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

from sklearn import datasets, linear_model, svm
from sklearn.preprocessing import StandardScaler

import dualgap as dg

PENALISED = {"intercept_penalty": "l2"}
MODELS = {
    "LinearSVC": (svm.LinearSVC, dg.LinearSVC, {}, PENALISED),
    "LinearSVC hinge": (svm.LinearSVC, dg.LinearSVC, {"loss": "hinge"}, PENALISED),
    "LinearSVC C=100": (svm.LinearSVC, dg.LinearSVC, {"C": 100.0}, PENALISED),
    "LogisticRegression": (linear_model.LogisticRegression, dg.LogisticRegression, {}, {}),
    "Ridge": (linear_model.Ridge, dg.Ridge, {}, {}),
    "Lasso": (linear_model.Lasso, dg.Lasso, {"alpha": 0.1}, {}),
    "ElasticNet": (linear_model.ElasticNet, dg.ElasticNet, {"alpha": 0.1}, {}),
    "LinearSVR": (svm.LinearSVR, dg.LinearSVR, {"epsilon": 0.5}, PENALISED),
    "QuantileRegressor": (
        linear_model.QuantileRegressor, dg.QuantileRegressor, {"alpha": 0.1}, {},
    ),
    "PoissonRegressor": (linear_model.PoissonRegressor, dg.PoissonRegressor, {}, {}),
}  # fmt: skip
LABELS, NUMBERS = list(MODELS)[:4], list(MODELS)[4:]
DATA = {
    "breast_cancer": LABELS,
    "breast_cancer, scaled": LABELS,
    "wine": LABELS,
    "digits": LABELS,
    "diabetes": NUMBERS,
}


def load(name: str) -> tuple[Any, Any]:
    X, y = getattr(datasets, f"load_{name.removesuffix(', scaled')}")(return_X_y=True)
    return (StandardScaler().fit_transform(X) if name.endswith("scaled") else X), y


def fit(model: Any, X: Any, y: Any) -> float:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table says how far they got
        model.fit(X, y)
    return time.perf_counter() - began


def main() -> None:
    print(
        f"{'data':22} {'model':19} {'minimum':>10} {'above':>9} {'ours':>8} {'seconds':>8}  ratio"
    )
    for name, models in DATA.items():
        X, y = load(name)
        for label in models:
            theirs_class, ours_class, shared, own = MODELS[label]
            theirs, ours = theirs_class(**shared), ours_class(**shared, **own)
            fit(ours, X, y)
            fit(theirs, X, y)
            seconds = [(fit(theirs, X, y), fit(ours, X, y)) for _ in range(3)]
            slow, fast = (min(one) for one in zip(*seconds))
            proof = dg.certify(theirs, X, y, tol=1e-9)
            parts = (
                ours.certificate_ if isinstance(ours.certificate_, list) else [ours.certificate_]
            )
            gap = max(part.relative_gap for part in parts)
            above = 100.0 * (proof.primal - proof.dual) / abs(proof.dual)
            print(
                f"{name:22} {label:19} {proof.dual:10.4g} {above:8.2g}% {gap:8.0e} {fast:8.4f}"
                f"  {fast / slow:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
