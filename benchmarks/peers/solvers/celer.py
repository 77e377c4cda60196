"""celer: working sets and dual extrapolation, for L1."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.peers.solvers import base
from benchmarks.peers.solvers.base import Fit, Solver, problem, tolerances
from benchmarks.peers.tasks import Instance


def start(instance: Instance) -> Callable[[float], Fit]:
    from celer import ElasticNet, Lasso, LogisticRegression

    X, y, lam = instance.columns, instance.y, instance.lam
    fixed = {"fit_intercept": False, "max_iter": 1000}

    def fit(tol: float) -> Fit:
        if instance.loss == "logistic":
            model = LogisticRegression(C=instance.C, tol=tol, **fixed)
        elif instance.l1_ratio == 1.0:
            model = Lasso(alpha=lam, tol=tol, **fixed)
        else:
            model = ElasticNet(alpha=lam, l1_ratio=instance.l1_ratio, tol=tol, **fixed)
        return Fit(model.fit(X, y).coef_)

    return fit


SOLVERS = [
    Solver(
        "celer",
        "celer",
        problem(base.LASSO, base.ELASTIC_NET, base.SPARSE_LOGISTIC),
        tolerances(-1, -12),
        start,
    )
]
