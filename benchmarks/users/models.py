"""Who takes part in a case: our class, and those of other libraries that state the same problem.

Left out, since they state another problem: Snap ML's logistic and linear regression, liblinear's
logistic regression (they penalise the intercept), and skglm's LinearSVC (it has none).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.users.case import Instance
from benchmarks.users.contestant import Contestant, Setting, class_at, ladder, plain
from benchmarks.users.other_models import OTHER_PEERS, RIDGE_OF_FRAMES

GRID_C = [0.01, 0.1, 1.0, 10.0, 100.0]
LARGEST_HESSIAN = 4000  # rows; for more, Newton's method by Cholesky is out of the question


# --- ours -----------------------------------------------------------------------------------------


def _ours(instance: Instance, setting: Setting) -> Any:
    import dualgap as dg

    kind = instance.case.kind
    if kind == "lasso_path":
        return Path(dg.lasso_path)
    if kind == "GridSearchCV":
        return _grid(dg.LinearSVC, instance)
    frame = {"categories": "auto"} if hasattr(instance.X, "iloc") else {}
    return getattr(dg, kind)(**instance.params, **frame, **setting)


OURS = Contestant("dualgap", "dualgap", _ours)


class Path:
    """A path function as a model."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def fit(self, X: Any, y: Any) -> Path:
        self.alphas, self.coefs = self.function(X, y, *self.arguments)[:2]
        return self


def _grid(model: Any, instance: Instance) -> Any:
    from sklearn.model_selection import GridSearchCV

    loss, jobs = instance.params["loss"], instance.params["n_jobs"]
    return GridSearchCV(model(loss=loss), {"C": GRID_C}, cv=5, n_jobs=jobs)


# --- peers ----------------------------------------------------------------------------------------

SMOOTH = [{}, {"max_iter": 1000}, *ladder(1e-5, 1e-6, 1e-7, 1e-8, 1e-10, max_iter=20_000)[1:]]
STEPS = [{}, {"max_iter": 20_000}, *ladder(1e-5, 1e-6, 1e-8, 1e-10, max_iter=10**6)[1:]]
CYANURE = ladder(1e-4, 1e-5, 1e-6, 1e-7, 1e-8, max_iter=100_000)
L1_TOLS = ladder(1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12)


def _has_small_hessian(instance: Instance) -> bool:
    rows = instance.classes if instance.classes > 2 else 1
    return bool(rows * instance.X.shape[1] <= LARGEST_HESSIAN)


def _is_array(instance: Instance) -> bool:
    return not hasattr(instance.X, "iloc")


def _sklearn(name: str, path: str, steps: Sequence[Setting], **fixed: Any) -> Contestant:
    small = {"newton-cholesky": _has_small_hessian, "svd": _is_array}.get(
        fixed.get("solver", ""), lambda _: True
    )
    return Contestant(name, "sklearn", plain(f"sklearn.{path}", **fixed), steps, small)


def _solvers(path: str, *solvers: str) -> list[Contestant]:
    return [_sklearn(f"sklearn {name}", path, SMOOTH, solver=name) for name in solvers]


def _cyanure(instance: Instance, setting: Setting) -> Any:
    """λ₁/2 ‖w‖² + mean loss, its squared hinge with a factor ½; the intercept is free."""
    C = instance.params.get("C", 1.0)
    if instance.case.kind == "LogisticRegression":
        made = class_at("cyanure.estimators.LogisticRegression")
        return made(lambda_1=1.0 / (C * instance.n), **setting)
    return class_at("cyanure.estimators.LinearSVC")(lambda_1=0.5 / (C * instance.n), **setting)


def _free_squared_hinge(instance: Instance) -> bool:
    return not _penalised(instance) and instance.params.get("loss") == "squared_hinge"


def _penalised(instance: Instance) -> bool:
    return "intercept_penalty" in instance.params


def _snapml(threads: int) -> Contestant:
    def make(instance: Instance, setting: Setting) -> Any:
        fixed = {"loss": instance.params["loss"], "fit_intercept": True, "n_jobs": threads}
        regularizer = 1.0 / instance.params.get("C", 1.0)
        made = class_at("snapml.SupportVectorMachine")
        return made(regularizer=regularizer, **fixed, **setting)

    steps = ladder(1e-4, 1e-5, 1e-6, 1e-7, 1e-9, max_iter=100_000)
    name = f"snapml, {threads} thread{'s' * (threads > 1)}"
    return Contestant(name, "snapml", make, steps, lambda i: _penalised(i) and i.classes == 2)


def _machine(name: str, **fixed: Any) -> Contestant:
    def accepts(instance: Instance) -> bool:
        return _penalised(instance) and not (fixed and instance.params.get("loss") == "hinge")

    make = plain("sklearn.svm.LinearSVC", **fixed)
    return Contestant(name, "sklearn", make, STEPS, accepts)


def _compile_skglm() -> None:
    """Its classes are compiled in each process anew, for many seconds."""
    X = np.random.default_rng(0).standard_normal((30, 5))
    for kind in ("Lasso", "ElasticNet"):
        class_at(f"skglm.{kind}")(alpha=0.01).fit(np.asfortranarray(X), X[:, 0])


def _celer_cv(kind: str, **fixed: Any) -> Callable[[Instance, Setting], Any]:
    """celer 0.7.4 hands an argument to scikit-learn's constructor that 1.9 does not know."""

    def make(instance: Instance, setting: Setting) -> Any:
        base = class_at(f"celer.{kind}")

        class Model(base):  # type: ignore[misc, valid-type]
            def __init__(
                self, l1_ratio=1.0, eps=1e-3, alphas=100, fit_intercept=True, max_iter=100,
                tol=1e-4, cv=None, verbose=0, max_epochs=50_000, p0=10, prune=True,
                precompute="auto", positive=False, n_jobs=None,
            ):  # fmt: skip
                own = {"l1_ratio": l1_ratio, "max_epochs": max_epochs, "p0": p0, "prune": prune}
                super(base, self).__init__(
                    eps=eps, alphas=alphas, fit_intercept=fit_intercept, max_iter=max_iter, tol=tol,
                    cv=cv, verbose=verbose, precompute=precompute, positive=positive, n_jobs=n_jobs,
                )  # fmt: skip
                self.__dict__ |= own

        return Model(**fixed)

    return make


def _path_of(path: str, *arguments: Any) -> Callable[[Instance, Setting], Any]:
    return lambda instance, setting: Path(class_at(path), *arguments)


def _l1(kind: str, celer: dict[str, Any]) -> list[Contestant]:
    def tall(instance: Instance) -> bool:
        return instance.n > instance.X.shape[1]

    def double(instance: Instance) -> bool:
        return bool(instance.X.dtype == np.float64)

    path = f"sklearn.linear_model.{kind}"
    steps = [{}, *ladder(1e-5, 1e-6, 1e-7, 1e-8, 1e-10, max_iter=100_000)[1:]]
    gram = plain(path, precompute=True)
    return [
        Contestant("sklearn", "sklearn", plain(path), steps),
        Contestant("sklearn, precompute", "sklearn", gram, steps, tall),
        Contestant("celer", "celer", plain(f"celer.{kind}", **celer), L1_TOLS),
        Contestant("skglm", "skglm", plain(f"skglm.{kind}"), L1_TOLS, double, _compile_skglm),
    ]


def _cv(kind: str) -> list[Contestant]:
    return [_sklearn("sklearn", f"linear_model.{kind}", ({},))]


LR, HALF = "linear_model.LogisticRegression", {"l1_ratio": 0.5}
PEERS: dict[str, list[Contestant]] = {
    # Who often arrives early comes first: the others need not go on for long after it.
    "LogisticRegression": [
        *_solvers(LR, "newton-cholesky"), Contestant("cyanure", "cyanure", _cyanure, CYANURE),
        *_solvers(LR, "lbfgs", "newton-cg"),
    ],
    "LinearSVC": [
        _machine("sklearn"), _machine("sklearn, dual", dual=True),
        _machine("sklearn, primal", dual=False), _snapml(1), _snapml(2),
        Contestant("cyanure", "cyanure", _cyanure, CYANURE, _free_squared_hinge),
    ],
    "LinearSVR": [
        Contestant("sklearn", "sklearn", plain("sklearn.svm.LinearSVR"), STEPS, _penalised),
    ],
    "Ridge": [
        *RIDGE_OF_FRAMES,
        _sklearn("sklearn svd", "linear_model.Ridge", ({},), solver="svd"),
    ],
    "Lasso": _l1("Lasso", {}),
    "ElasticNet": _l1("ElasticNet", HALF),
    "QuantileRegressor": [
        _sklearn("sklearn highs", "linear_model.QuantileRegressor", ({},)),
        _sklearn("sklearn highs-ipm", "linear_model.QuantileRegressor", ({},), solver="highs-ipm"),
    ],
    **OTHER_PEERS,
    "HuberRegression": [
        Contestant(
            "sklearn",
            "sklearn",
            lambda _, setting: class_at("sklearn.linear_model.HuberRegressor")(**setting),
            [{}, {"max_iter": 1000}, *ladder(1e-7, 1e-9, max_iter=20_000)[1:]],
        ),
    ],
    "LassoCV": [*_cv("LassoCV"), Contestant("celer", "celer", _celer_cv("LassoCV"))],
    "ElasticNetCV": [
        *_cv("ElasticNetCV"),
        Contestant("celer", "celer", _celer_cv("ElasticNetCV", **HALF)),
    ],
    "RidgeCV": _cv("RidgeCV"),
    "LogisticRegressionCV": [
        _sklearn(f"sklearn {name}", "linear_model.LogisticRegressionCV", ({},), solver=name)
        for name in ("lbfgs", "newton-cholesky")
    ],
    "lasso_path": [
        Contestant("sklearn", "sklearn", _path_of("sklearn.linear_model.lasso_path")),
        Contestant("celer", "celer", _path_of("celer.celer_path", "lasso")),
    ],
    "GridSearchCV": [
        Contestant("sklearn", "sklearn", lambda i, _: _grid(class_at("sklearn.svm.LinearSVC"), i)),
    ],
}  # fmt: skip


# --- what a fit has found -------------------------------------------------------------------------


def found(model: Any, instance: Instance) -> tuple[Any, Any, str]:
    """Coefficients with a row for each decision value, intercepts, and a note.

    What was chosen by cross-validation is noted; such a model is not judged.
    """
    note = _chosen(model)
    if note:
        return None, None, note
    coef = np.squeeze(np.asarray(model.coef_, dtype=np.float64))
    d = instance.design.shape[1]
    if coef.ndim == 2 and coef.shape[1] != d:
        coef = coef.T  # cyanure and Snap ML have a column for each class
    certificate = getattr(model, "certificate_", None)
    parts = certificate if isinstance(certificate, list) else [certificate]
    if certificate is not None:
        note = f"gap {max(part.relative_gap for part in parts):.0e}"
    return np.atleast_2d(coef), np.asarray(model.intercept_, dtype=np.float64), note


def _chosen(model: Any) -> str:
    if isinstance(model, Path):
        return f"{len(model.alphas)} alphas, {np.count_nonzero(model.coefs[:, -1])} features"
    if hasattr(model, "best_params_"):
        return f"C={model.best_params_['C']:g}, accuracy {model.best_score_:.4f}"
    if hasattr(model, "C_"):
        return f"C={np.ravel(model.C_)[0]:.3g}"
    if hasattr(model, "alpha_"):
        return f"alpha={model.alpha_:.4g}"
    return ""
