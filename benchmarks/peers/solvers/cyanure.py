"""cyanure: accelerated and variance-reduced first-order methods."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.peers.solvers import base
from benchmarks.peers.solvers.base import Fit, Solver, problem, tolerances
from benchmarks.peers.tasks import Instance

LOSSES = {"squared-hinge": "sqhinge", "logistic": "logistic", "squared": "square"}


def start(instance: Instance) -> Callable[[float], Fit]:
    from cyanure.estimators import Classifier, Regression

    share, lam = instance.l1_ratio, instance.lam
    fixed = {"penalty": "l2" if share == 0.0 else "l1", "lambda_1": lam}
    if 0.0 < share < 1.0:
        fixed = {"penalty": "elasticnet", "lambda_1": lam * share, "lambda_2": lam * (1.0 - share)}
    fixed |= {"fit_intercept": False, "verbose": False, "max_iter": 10**6, "n_threads": 2}
    fixed |= {"duality_gap_interval": 5, "safe": False}

    def fit(tol: float) -> Fit:
        if instance.loss == "squared":
            model = Regression(tol=tol, **fixed)
        else:
            model = Classifier(loss=LOSSES[instance.loss], tol=tol, **fixed)
        return Fit(model.fit(instance.X, instance.y).coef_)

    return fit


KINDS = (
    base.SQUARED_HINGE, base.LOGISTIC, base.SPARSE_LOGISTIC,
    base.LASSO, base.ELASTIC_NET, base.RIDGE,
)  # fmt: skip
SOLVERS = [Solver("cyanure", "cyanure", problem(*KINDS), tolerances(-1, -10), start)]
