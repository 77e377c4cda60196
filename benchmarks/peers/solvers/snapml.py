"""snapml: coordinate methods on one thread or two. Its grid is over iterations.

With two threads it may stall short of the optimum on small data, so that both take part.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.peers.solvers import base
from benchmarks.peers.solvers.base import Fit, Solver, iterations, problem
from benchmarks.peers.tasks import Instance


def start(threads: int) -> Callable[[Instance], Callable[[float], Fit]]:
    return lambda instance: begin(instance, threads)


def begin(instance: Instance, threads: int) -> Callable[[float], Fit]:
    import snapml

    fixed = {"fit_intercept": False, "n_jobs": threads, "tol": 1e-12, "random_state": 0}
    # Its squared hinge has no factor ½.
    fixed["regularizer"] = (2.0 if instance.loss == "squared-hinge" else 1.0) / instance.C
    if instance.loss in ("logistic", "squared"):
        l1 = instance.l1_ratio == 1.0  # only the primal method knows L1
        fixed |= {"penalty": "l1" if l1 else "l2", "dual": not l1}

    def fit(passes: float) -> Fit:
        count = int(passes)
        if instance.loss == "logistic":
            model = snapml.LogisticRegression(max_iter=count, **fixed)
        elif instance.loss == "squared":
            model = snapml.LinearRegression(max_iter=count, **fixed)
        else:
            loss = instance.loss.replace("-", "_")
            model = snapml.SupportVectorMachine(loss=loss, max_iter=count, **fixed)
        model.fit(instance.X, instance.y)
        return Fit(model.coef_)

    return fit


KINDS = (
    base.HINGE, base.SQUARED_HINGE, base.LOGISTIC,
    base.SPARSE_LOGISTIC, base.LASSO, base.RIDGE,
)  # fmt: skip
SOLVERS = [
    Solver(name, "snapml", problem(*KINDS), iterations(10**5), start(threads))
    for name, threads in (("snapml", 2), ("snapml-1-thread", 1))
]
