"""Models of scikit-learn: the proven distance from their optimum is the true one.

Each objective is written out once more, as in scikit-learn's documentation, and minimised by cvxpy.
"""

import inspect
import warnings
from types import SimpleNamespace
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    LogisticRegressionCV,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

import dualgap as dg

rng = np.random.default_rng(3)
N, D = 60, 4
X = rng.standard_normal((N, D)) + 0.5
SIGNAL = X @ [1.0, -0.5, 0.0, 2.0] + 0.7 * rng.standard_normal(N)
S = rng.uniform(0.2, 3.0, N)
Y = {
    "two": np.where(SIGNAL > 0.8, "yes", "no"),
    "three": np.digitize(SIGNAL, [0.0, 1.5]) + 5,
    "real": SIGNAL + 2.0,
    "count": rng.poisson(np.exp(0.2 * SIGNAL)).astype(float),
}
CLASS_WEIGHT = {"two": {"yes": 2.0, "no": 0.7}, "three": {5: 2.0, 6: 1.0, 7: 0.5}}
BALANCED = "balanced"

NUMPY = SimpleNamespace(
    pos=lambda x: np.maximum(x, 0.0),
    abs=np.abs,
    square=np.square,
    exp=np.exp,
    multiply=np.multiply,
    sum=np.sum,
    logistic=lambda x: np.logaddexp(0.0, x),
    huber=lambda x, M: np.where(np.abs(x) <= M, x**2, 2 * M * np.abs(x) - M**2),
    log_sum_exp=lambda x, axis: logsumexp(x, axis=axis),
)
PHI = {
    "hinge": lambda o, z, y: o.pos(1 - o.multiply(y, z)),
    "squared_hinge": lambda o, z, y: o.square(o.pos(1 - o.multiply(y, z))),
    "modified_huber": lambda o, z, y: o.huber(o.pos(1 - o.multiply(y, z)), 2.0),
    "log_loss": lambda o, z, y: o.logistic(-o.multiply(y, z)),
    "square": lambda o, z, y: o.square(y - z),
    "half_square": lambda o, z, y: o.square(y - z) / 2,
    "huber": lambda o, z, y: o.huber(y - z, 0.3) / 2,
    "tube": lambda o, z, y: o.pos(o.abs(y - z) - 0.2),
    "squared_tube": lambda o, z, y: o.square(o.pos(o.abs(y - z) - 0.2)),
    "pinball": lambda o, z, y: 0.3 * o.pos(y - z) + 0.7 * o.pos(z - y),
    "poisson": lambda o, z, y: o.exp(z) - o.multiply(y, z),
    "softmax": lambda o, z, y: o.log_sum_exp(z, axis=1) - o.sum(o.multiply(y, z), axis=1),
}
_NEW = inspect.signature(LogisticRegression).parameters["penalty"].default == "deprecated"


def logistic(l1_ratio, C=1.0, **more):
    """LogisticRegression in the words of its version."""
    if not _NEW:
        more["penalty"] = None if np.isinf(C) else "elasticnet" if l1_ratio else "l2"
        if np.isinf(C):
            C = 1.0
    if _NEW or l1_ratio:
        more["l1_ratio"] = l1_ratio
    return LogisticRegression(C=C, **more)


class Case(NamedTuple):
    """``losses`` · Σ s φ + ``alpha`` · (l1 ‖w‖₁ + (1 − l1) ½‖w‖²), b counted if ``bias`` > 0."""

    model: Any
    kind: str
    phi: str
    losses: float
    alpha: float
    l1: float = 0.0
    bias: float = 0.0  # intercept_scaling of a penalised intercept


def cases():
    mean = 1 / S.sum()
    two, three = CLASS_WEIGHT["two"], CLASS_WEIGHT["three"]
    free = {"random_state": 0}
    yield Case(LinearSVC(loss="hinge", C=50.0, **free), "two", "hinge", 50.0, 1.0, 0.0, 1.0)
    yield Case(
        LinearSVC(C=50.0, intercept_scaling=3.0, class_weight=three, max_iter=2, **free),
        "three", "squared_hinge", 50.0, 1.0, 0.0, 3.0,
    )  # fmt: skip
    yield Case(
        LinearSVR(epsilon=0.2, C=50.0, max_iter=5, **free), "real", "tube", 50.0, 1.0, 0.0, 1.0
    )
    yield Case(
        LinearSVR(
            C=50.0, loss="squared_epsilon_insensitive", epsilon=0.2, fit_intercept=False, **free
        ),
        "real", "squared_tube", 50.0, 1.0,
    )  # fmt: skip
    yield Case(logistic(0.0, C=3.0, max_iter=3, class_weight=two), "two", "log_loss", 3.0, 1.0)
    yield Case(logistic(0.0, C=np.inf), "two", "log_loss", 1.0, 0.0)
    yield Case(logistic(1.0, C=0.2, solver="saga", **free), "two", "log_loss", 0.2, 1.0, 1.0)
    yield Case(logistic(0.3, C=0.2, solver="saga", **free), "two", "log_loss", 0.2, 1.0, 0.3)
    yield Case(
        logistic(0.0, C=50.0, solver="liblinear", intercept_scaling=2.0, **free),
        "two", "log_loss", 50.0, 1.0, 0.0, 2.0,
    )  # fmt: skip
    yield Case(logistic(0.0, C=0.5, class_weight=three), "three", "softmax", 0.5, 1.0)
    yield Case(Ridge(alpha=3.0), "real", "square", 1.0, 6.0)
    yield Case(RidgeClassifier(alpha=2.0, class_weight=BALANCED), "three", "square", 1.0, 4.0)
    yield Case(Lasso(alpha=0.1, tol=0.1), "real", "half_square", mean, 0.1, 1.0)
    yield Case(ElasticNet(alpha=0.2, l1_ratio=0.3), "real", "half_square", mean, 0.2, 0.3)
    yield Case(QuantileRegressor(quantile=0.3, alpha=0.05), "real", "pinball", mean, 0.05, 1.0)
    yield Case(PoissonRegressor(alpha=0.1, max_iter=4), "count", "poisson", mean, 0.1)
    sgd = {"alpha": 0.03, "max_iter": 20, "random_state": 0}
    sgd |= {"learning_rate": "invscaling", "eta0": 0.02}
    for loss in ("hinge", "squared_hinge", "log_loss", "modified_huber"):
        yield Case(SGDClassifier(loss, **sgd), "two", loss, 1 / N, 0.03)
    yield Case(
        SGDClassifier("log_loss", class_weight=three, **sgd), "three", "log_loss", 1 / N, 0.03
    )
    yield Case(
        SGDClassifier("log_loss", penalty="elasticnet", l1_ratio=0.3, average=True, **sgd),
        "two", "log_loss", 1 / N, 0.03, 0.3,
    )  # fmt: skip
    regression = {
        "squared_error": "half_square",
        "huber": "huber",
        "epsilon_insensitive": "tube",
        "squared_epsilon_insensitive": "squared_tube",
    }
    for loss, phi in regression.items():
        epsilon = 0.3 if loss == "huber" else 0.2
        yield Case(SGDRegressor(loss, epsilon=epsilon, **sgd), "real", phi, 1 / N, 0.03)
    yield Case(SGDRegressor(penalty="l1", **sgd), "real", "half_square", 1 / N, 0.03, 1.0)


def problems(case):
    """Targets and weights of each problem that a model solves."""
    y = Y[case.kind]
    if case.kind in ("real", "count"):
        return [(y, S)]
    labels = np.unique(y)
    weights = case.model.class_weight or {}
    if weights == BALANCED:
        weights = {label: N / (len(labels) * (y == label).sum()) for label in labels}
    by_label = S * np.array([weights.get(label, 1.0) for label in y])
    if case.phi == "softmax":
        return [(1.0 * (y[:, None] == labels), by_label)]
    if len(labels) == 2:
        return [(np.where(y == labels[1], 1.0, -1.0), by_label)]
    everywhere = isinstance(case.model, RidgeClassifier)  # elsewhere, the rest weighs 1
    return [
        (
            np.where(y == label, 1.0, -1.0),
            by_label if everywhere else np.where(y == label, by_label, S),
        )
        for label in labels
    ]


def objective(o, case, y, s, v):
    """``v``: the coefficients, and the intercept as the last of them."""
    total = case.losses * o.sum(o.multiply(s, PHI[case.phi](o, np.c_[X, np.ones(N)] @ v, y)))
    for part in [v[:D]] if case.bias == 0.0 else [v[:D], v[D] / case.bias]:
        total += case.alpha * case.l1 * o.sum(o.abs(part))
        total += case.alpha * (1 - case.l1) / 2 * o.sum(o.square(part))
    return total


def best(case, y, s):
    """The objective at cvxpy's optimum, which is not below the minimum."""
    v = cp.Variable((D + 1, *y.shape[1:]))
    kept = np.ones(v.shape)
    kept[D] = float(case.model.fit_intercept)
    used = cp.multiply(kept, v)
    cp.Problem(cp.Minimize(objective(cp, case, y, s, used))).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9
    )
    return objective(NUMPY, case, y, s, used.value)


def fitted(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the fit went is not the question
        return model.fit(X, y, **more)


@pytest.mark.parametrize(
    "case", list(cases()), ids=lambda c: f"{type(c.model).__name__}-{c.phi}-{c.kind}-{c.l1}"
)
def test_distance(case):
    y = Y[case.kind]
    model = fitted(case.model, X, y, sample_weight=S)
    optima = [best(case, *part) for part in problems(case)]
    for off in (1.0, 3.0):  # exact solvers leave nothing to measure, and no large residues
        model.coef_ = model.coef_ * off
        coefs = np.atleast_2d(model.coef_)
        intercepts = np.broadcast_to(np.ravel(model.intercept_), len(coefs))
        answers = np.c_[coefs, intercepts]
        answers = [answers.T] if case.phi == "softmax" else answers
        values = [objective(NUMPY, case, *part, v) for part, v in zip(problems(case), answers)]
        proof = dg.certify(model, X, y, S, tol=5e-7)
        assert len(getattr(proof, "parts", [proof])) == len(optima)
        assert proof.primal == pytest.approx(sum(values), rel=1e-10)
        distance = sum(values) - sum(optima)
        assert proof.gap >= distance - 1e-13 * abs(sum(values))
        assert proof.gap <= distance + 1e-6 * proof.scale
        assert proof.dual <= sum(optima)


def test_raw_breast_cancer():
    """scikit-learn's answer is more than twice as bad as what its own problem allows."""
    data = load_breast_cancer()
    model = fitted(LinearSVC(loss="hinge", C=1.0, random_state=0), data.data, data.target)
    proof = dg.certify(model, data.data, data.target)
    slack = np.maximum(0.0, 1 - (2 * data.target - 1) * model.decision_function(data.data))
    w, b = model.coef_.ravel(), model.intercept_[0]
    assert proof.primal == pytest.approx((w @ w + b * b) / 2 + slack.sum(), rel=1e-9)
    assert proof.dual == pytest.approx(49.95903, abs=1e-6 * proof.scale)  # by cvxpy
    assert proof.gap > proof.dual


def test_a_model_that_diverged():
    """Rounding errors of its objective do not hide the optimum."""
    model = fitted(SGDClassifier("squared_hinge", alpha=0.03, random_state=0), 10 * X, Y["two"])
    proof = dg.certify(model, 10 * X, Y["two"])
    assert proof.primal > 1e6 * proof.scale
    assert proof.gap >= proof.primal - proof.dual
    model.coef_, model.intercept_ = 0.0 * model.coef_, np.zeros(1)
    nothing = dg.certify(model, 10 * X, Y["two"])
    assert proof.dual == pytest.approx(nothing.dual, abs=1e-6 * nothing.scale)


def test_pipelines_and_other_forms():
    y = Y["two"]
    pipe = fitted(
        make_pipeline(StandardScaler(), LinearSVC(loss="hinge", C=50.0, random_state=0)), X, y
    )
    direct = dg.certify(pipe[-1], StandardScaler().fit_transform(X), y)
    assert dg.certify(pipe, X, y).gap == direct.gap
    model = fitted(SGDRegressor(penalty="l1", random_state=0), X, Y["real"])
    dense = dg.certify(model, X, Y["real"])
    assert dg.certify(model.sparsify(), X.tolist(), Y["real"].tolist(), 1.0).gap == dense.gap

    class MyLasso(Lasso):
        pass

    targets = np.column_stack([Y["real"], 2 * Y["real"]])
    proof = dg.certify(MyLasso(alpha=0.2).fit(X, targets), X, targets)
    assert len(proof.parts) == 2
    assert "2 problems: objective" in str(proof)


def test_a_bound_that_is_not_tight_says_so():
    model = fitted(LinearSVC(loss="hinge", C=100.0, random_state=0), X, Y["two"])
    with pytest.warns(ConvergenceWarning, match="raise max_epochs"):
        dg.certify(model, X, Y["two"], max_epochs=0)


LASSO = Lasso(alpha=0.1).fit(X, Y["real"])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: dg.certify(LASSO), r"certify\(model, X, y\)"),
        (lambda: dg.certify(LASSO, X), r"certify\(model, X, y\)"),
        (lambda: dg.certify(LASSO, X[:, :2], Y["real"]), "2 features, but Lasso was fitted on 4"),
        (lambda: dg.certify(LASSO, X, Y["real"][:5]), "a target for each of the 60"),
        (lambda: dg.certify(LASSO, X, np.c_[Y["real"], Y["real"]]), "fitted on 1 targets"),
        (lambda: dg.certify(Lasso(), X, Y["real"]), r"not fitted yet: call fit\(X, y\)"),
        (lambda: dg.certify(KMeans(2), X, Y["real"]), "cannot read KMeans; it can read.*LinearSVC"),
        (
            lambda: dg.certify(LogisticRegressionCV(), X, Y["two"]),
            "cannot read LogisticRegressionCV",
        ),
        (
            lambda: dg.certify(GridSearchCV(Lasso(), {"alpha": [1.0]}).fit(X, Y["real"]), X, X),
            "best_estimator_",
        ),
        (
            lambda: dg.certify(
                fitted(LinearSVC(multi_class="crammer_singer"), X, Y["two"]), X, Y["two"]
            ),
            "twice the C: use that",
        ),
        (
            lambda: dg.certify(fitted(SGDClassifier("perceptron"), X, Y["two"]), X, Y["two"]),
            "loss='perceptron' has no match.*hinge",
        ),
        (
            lambda: dg.certify(fitted(LinearSVC(), X, Y["two"]), X, Y["three"]),
            "labels .* but LinearSVC was fitted on",
        ),
        (lambda: dg.certify("model", X, Y["real"]), "a Problem or a fitted model, not str"),
    ],
)
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_bounds_on_one_side_need_a_penalty():
    model = Ridge(alpha=0.0, positive=True).fit(X, Y["real"])
    with pytest.raises(ValueError, match="use a tiny alpha"):
        dg.certify(model, X, Y["real"])
