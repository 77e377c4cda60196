"""Ours: the default method, from the matrix to the certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.solvers.base import Fit, Solver, tolerances
from benchmarks.peers.tasks import Instance

EPOCHS = 10**7
WARM_UP_SECONDS = 5.0  # kernels that only a long run needs are loaded before the clock starts, too


def penalty(instance: Instance) -> object:
    from dualgap.penalties import L1, L2, ElasticNet

    if instance.l1_ratio == 0.0:
        return L2()
    return L1() if instance.l1_ratio == 1.0 else ElasticNet(instance.l1_ratio)


def start(instance: Instance, limit: float | None = None) -> Callable[[float], Fit]:
    import dualgap

    g = penalty(instance)

    def problem_on(X: Any) -> dualgap.Problem:
        return dualgap.Problem(X, instance.y, instance.loss, g, instance.lam)

    by_columns = "working-set" in dualgap.methods.auto.choose(problem_on(instance.columns), 1e-6)[0]
    X = instance.columns if by_columns else instance.X

    def fit(tol: float, limit: float | None = limit) -> Fit:
        problem = problem_on(X)
        solution = dualgap.solve(problem, tol=tol, max_epochs=EPOCHS, max_seconds=limit)
        return Fit(solution.coef, solution.certificate.dual, solution.method)

    fit(1e-7, WARM_UP_SECONDS)
    return fit


SOLVERS = [Solver("dualgap", "dualgap", lambda _: True, tolerances(-1, -12), start)]
