"""Peers of other models: groups, several targets, log links, categories.

scikit-learn knows neither offsets nor the negative binomial law, and takes categories after an
encoder, whose time is part of its fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.users.case import Instance
from benchmarks.users.contestant import Contestant, Setting, class_at, ladder, plain

TOLS = ladder(1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12)
STEPS = [{}, *ladder(1e-5, 1e-6, 1e-7, 1e-8, 1e-10, max_iter=100_000)[1:]]
SMOOTH = [{}, {"max_iter": 1000}, *ladder(1e-5, 1e-6, 1e-7, 1e-8, 1e-10, max_iter=20_000)[1:]]
GRADIENTS = ladder(1e-5, 1e-6, 1e-7, 1e-8, 1e-10, name="gradient_tol")
FAMILIES = {"GammaRegressor": "gamma", "PoissonRegressor": "poisson", "Ridge": "normal"}


def _compile_skglm() -> None:
    """Its classes are compiled in each process anew, for many seconds."""
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((30, 6)))
    class_at("skglm.GroupLasso")(groups=2, alpha=0.01).fit(X, X[:, 0])
    class_at("skglm.MultiTaskLasso")(alpha=0.01).fit(X, X[:, :2])


def _celer_of_targets(instance: Instance, setting: Setting) -> Any:
    """celer 0.7.4 uses two functions of scikit-learn that have moved or return more in 1.9."""
    from celer import dropin_sklearn
    from sklearn.linear_model._base import _preprocess_data
    from sklearn.utils.validation import validate_data

    def preprocess(*data: Any, **how: Any) -> Any:
        return _preprocess_data(*data, **how)[:5]

    class MultiTaskLasso(dropin_sklearn.MultiTaskLasso):  # type: ignore[misc]
        _validate_data = validate_data

    dropin_sklearn._preprocess_data = preprocess
    return MultiTaskLasso(**instance.params, **setting)


def _glum(instance: Instance, setting: Setting) -> Any:
    """Half the mean deviance + ½α‖w‖²; Ridge has the sum of squares."""
    kind, p = instance.case.kind, dict(instance.params)
    family: Any = FAMILIES.get(kind)
    if kind == "TweedieRegressor":
        family = class_at("glum.TweedieDistribution")(p["power"])
    elif kind == "NegativeBinomialRegressor":
        family = class_at("glum.NegativeBinomialDistribution")(p.get("dispersion", 1.0))
    alpha = p.get("alpha", 1.0) / (instance.n if kind == "Ridge" else 1.0)
    link = "identity" if kind == "Ridge" else "log"
    made = class_at("glum.GeneralizedLinearRegressor")
    return made(family=family, link=link, alpha=alpha, l1_ratio=0.0, **setting)


def _without_offset(instance: Instance) -> bool:
    return instance.offset is None


def _on_frame(instance: Instance) -> bool:
    return hasattr(instance.X, "iloc")


class Encoded:
    """A model of scikit-learn after its encoder."""

    def __init__(self, model: Any, names: list[str]) -> None:
        self.model, self.names = model, names

    def fit(self, X: Any, y: Any) -> Encoded:
        from sklearn.compose import make_column_transformer
        from sklearn.preprocessing import OneHotEncoder

        numbers = [name for name in X.columns if name not in self.names]
        parts = ("passthrough", numbers), (OneHotEncoder(), self.names)
        self.model.fit(make_column_transformer(*parts).fit_transform(X), y)
        self.coef_, self.intercept_ = self.model.coef_, self.model.intercept_
        return self


def _sklearn(kind: str, solver: str = "") -> Contestant:
    made = plain(f"sklearn.linear_model.{kind}", **({"solver": solver} if solver else {}))

    def make(instance: Instance, setting: Setting) -> Any:
        model, X = made(instance, setting), instance.X
        if not _on_frame(instance):
            return model
        return Encoded(model, [name for name in X.columns if hasattr(X[name], "cat")])

    steps = SMOOTH if solver else ({},)
    return Contestant(f"sklearn {solver}".strip(), "sklearn", make, steps, _without_offset)


GLUM = Contestant("glum", "glum", _glum, GRADIENTS)
RIDGE_OF_FRAMES = [
    Contestant("glum", "glum", _glum, GRADIENTS, _on_frame),
    _sklearn("Ridge"),
]


def _log_link(kind: str) -> list[Contestant]:
    return [GLUM, _sklearn(kind, "newton-cholesky"), _sklearn(kind, "lbfgs")]


OTHER_PEERS: dict[str, list[Contestant]] = {
    "GroupLasso": [
        Contestant("celer", "celer", plain("celer.GroupLasso"), TOLS),
        Contestant("skglm", "skglm", plain("skglm.GroupLasso"), TOLS, prepare=_compile_skglm),
    ],
    "MultiTaskLasso": [
        Contestant("sklearn", "sklearn", plain("sklearn.linear_model.MultiTaskLasso"), STEPS),
        Contestant("celer", "celer", _celer_of_targets, TOLS),
        Contestant("skglm", "skglm", plain("skglm.MultiTaskLasso"), TOLS, prepare=_compile_skglm),
    ],
    "GammaRegressor": _log_link("GammaRegressor"),
    "PoissonRegressor": _log_link("PoissonRegressor"),
    "TweedieRegressor": _log_link("TweedieRegressor"),
    "NegativeBinomialRegressor": [GLUM],
}
