"""scikit-learn's linear models, each with all of its solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.solvers import base
from benchmarks.peers.solvers.base import Fit, Solver, problem, tolerances
from benchmarks.peers.tasks import Instance

ITERATIONS = 10**6
FEW_FEATURES = 2000  # for solvers that factorise a d × d matrix

Fitting = Callable[[float], Fit]


def fits(model: Callable[[float], Any], X: Any, y: Any) -> Fitting:
    return lambda tol: Fit(model(tol).fit(X, y).coef_)


def svc(dual: bool) -> Callable[[Instance], Fitting]:
    def start(instance: Instance) -> Fitting:
        from sklearn.svm import LinearSVC

        hinge = instance.loss == "hinge"  # the squared hinge has no factor ½
        fixed = {"loss": "hinge" if hinge else "squared_hinge", "dual": dual}
        fixed |= {"C": instance.C if hinge else instance.C / 2.0, "fit_intercept": False}
        model = lambda tol: LinearSVC(tol=tol, max_iter=ITERATIONS, random_state=0, **fixed)  # noqa: E731
        return fits(model, instance.X, instance.y)

    return start


def logistic(solver: str, **more: Any) -> Callable[[Instance], Fitting]:
    def start(instance: Instance) -> Fitting:
        from sklearn.linear_model import LogisticRegression

        fixed = {"C": instance.C, "l1_ratio": instance.l1_ratio, "fit_intercept": False}
        fixed |= {"solver": solver, "max_iter": ITERATIONS, "random_state": 0} | more
        model = lambda tol: LogisticRegression(tol=tol, **fixed)  # noqa: E731
        return fits(model, instance.X, instance.y)

    return start


def coordinates(gram: bool) -> Callable[[Instance], Fitting]:
    def start(instance: Instance) -> Fitting:
        from sklearn.linear_model import ElasticNet

        fixed = {"alpha": instance.lam, "l1_ratio": instance.l1_ratio, "fit_intercept": False}
        fixed |= {"precompute": gram, "max_iter": ITERATIONS}
        model = lambda tol: ElasticNet(tol=tol, **fixed)  # noqa: E731
        return fits(model, instance.dense if gram else instance.columns, instance.y)

    return start


def ridge(solver: str, dense: bool = False) -> Callable[[Instance], Fitting]:
    def start(instance: Instance) -> Fitting:
        from sklearn.linear_model import Ridge

        fixed = {"alpha": instance.lam * instance.n, "fit_intercept": False, "solver": solver}
        fixed |= {"max_iter": ITERATIONS, "random_state": 0}
        model = lambda tol: Ridge(tol=tol, **fixed)  # noqa: E731
        return fits(model, instance.dense if dense else instance.X, instance.y)

    return start


def few_features(kind: tuple[str, float]) -> Callable[[Instance], bool]:
    return lambda instance: problem(kind)(instance) and instance.d <= FEW_FEATURES


def gram_pays(instance: Instance) -> bool:
    lasso = problem(base.LASSO, base.ELASTIC_NET)(instance)
    return lasso and instance.d <= FEW_FEATURES and instance.can_be_dense


def dense_ridge(instance: Instance) -> bool:
    return problem(base.RIDGE)(instance) and instance.can_be_dense


def solver(name: str, accepts: Any, tols: Any, start: Any) -> Solver:
    return Solver(f"sklearn-{name}", "sklearn", accepts, tols, start)


ONCE = [1e-3]  # direct solvers have no tolerance
LOGISTIC = problem(base.LOGISTIC)
SPARSE = problem(base.SPARSE_LOGISTIC)
SOLVERS = [
    solver("liblinear-dual", problem(base.HINGE, base.SQUARED_HINGE), tolerances(0, -9), svc(True)),
    solver("liblinear-primal", problem(base.SQUARED_HINGE), tolerances(0, -9), svc(False)),
    solver("newton-cholesky", few_features(base.LOGISTIC), tolerances(0, -9),
           logistic("newton-cholesky")),
    solver("lbfgs", LOGISTIC, tolerances(0, -9), logistic("lbfgs")),
    solver("newton-cg", LOGISTIC, tolerances(0, -9), logistic("newton-cg")),
    solver("liblinear", problem(base.LOGISTIC, base.SPARSE_LOGISTIC), tolerances(0, -9),
           logistic("liblinear")),
    solver("liblinear-dual-logistic", LOGISTIC, tolerances(0, -9),
           logistic("liblinear", dual=True)),
    solver("sag", LOGISTIC, tolerances(-1, -9), logistic("sag")),
    solver("saga", problem(base.LOGISTIC, base.SPARSE_LOGISTIC), tolerances(-1, -9),
           logistic("saga")),
    solver("cd", problem(base.LASSO, base.ELASTIC_NET), tolerances(-1, -11), coordinates(False)),
    solver("cd-gram", gram_pays, tolerances(-1, -11), coordinates(True)),
    solver("cholesky", problem(base.RIDGE), ONCE, ridge("cholesky")),
    solver("cholesky-dense", dense_ridge, ONCE, ridge("cholesky", dense=True)),
    solver("svd", dense_ridge, ONCE, ridge("svd", dense=True)),
    solver("sparse_cg", problem(base.RIDGE), tolerances(-1, -11), ridge("sparse_cg")),
    solver("lsqr", problem(base.RIDGE), tolerances(-1, -11), ridge("lsqr")),
    solver("ridge-sag", problem(base.RIDGE), tolerances(-1, -9), ridge("sag")),
    solver("ridge-saga", problem(base.RIDGE), tolerances(-1, -9), ridge("saga")),
]  # fmt: skip
