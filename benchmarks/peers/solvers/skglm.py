"""skglm: working sets with Anderson's extrapolation, compiled by Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.solvers import base
from benchmarks.peers.solvers.base import Fit, Solver, problem, tolerances
from benchmarks.peers.tasks import Instance

ROUNDS = 1000


def lbfgs(tol: float) -> Any:
    from skglm.solvers import LBFGS

    solver = LBFGS(max_iter=ROUNDS, tol=tol)
    solver.fit_intercept = solver.warm_start = False  # asked for, although it knows neither
    return solver


def model(instance: Instance, tol: float) -> Any:
    import skglm

    fixed = {"fit_intercept": False, "max_iter": ROUNDS, "tol": tol}
    if instance.loss == "hinge":
        return skglm.LinearSVC(C=instance.C, **fixed)
    if instance.loss == "logistic" and instance.l1_ratio == 0.0:
        return skglm.GeneralizedLinearEstimator(
            skglm.datafits.Logistic(),
            skglm.penalties.L2(instance.lam),
            lbfgs(tol),
        )
    if instance.loss == "logistic":
        return skglm.SparseLogisticRegression(alpha=instance.lam, **fixed)
    if instance.l1_ratio == 1.0:
        return skglm.Lasso(alpha=instance.lam, **fixed)
    return skglm.ElasticNet(alpha=instance.lam, l1_ratio=instance.l1_ratio, **fixed)


def start(instance: Instance) -> Callable[[float], Fit]:
    import skglm.datafits
    import skglm.penalties  # noqa: F401

    X = instance.columns
    return lambda tol: Fit(model(instance, tol).fit(X, instance.y).coef_)


KINDS = (base.HINGE, base.LOGISTIC, base.SPARSE_LOGISTIC, base.LASSO, base.ELASTIC_NET)
SOLVERS = [Solver("skglm", "skglm", problem(*KINDS), tolerances(-1, -11), start)]
