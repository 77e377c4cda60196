"""``certify`` of coefficients from anywhere: the objective is what the user names."""

import numpy as np
import pytest
from scipy import sparse

import dualgap as dg
from dualgap import losses, penalties

rng = np.random.default_rng(8)
N, D = 80, 4
X = rng.standard_normal((N, D)) + 0.2
Z = X @ [1.0, -1.0, 0.0, 0.5] + 0.3
REAL = Z + 0.3 * rng.standard_normal(N)
TWO = np.where(Z + rng.logistic(size=N) > 0.0, 1.0, -1.0)
THREE = np.digitize(Z, [-0.5, 0.8])
S = rng.uniform(0.2, 2.0, N)
NAMED = {"loss": "logistic", "penalty": "l2", "lam": 0.1}


@pytest.mark.parametrize("data", [X, X.tolist(), sparse.csr_array(X)], ids=["array", "list", "csr"])
def test_the_same_as_the_problem_written_down(data):
    w, b = rng.standard_normal(D), 0.4
    proof = dg.certify(data, TWO, w, b, sample_weight=S, tol=1e-8, **NAMED)
    value = np.average(np.logaddexp(0.0, -TWO * (X @ w + b)), weights=S) + 0.05 * w @ w
    assert proof.primal == pytest.approx(value, rel=1e-12)
    problem = dg.Problem(X, TWO, "logistic", "l2", 0.1, S, intercept=True)
    best = dg.solve(problem, tol=1e-10)
    distance = value - best.certificate.primal
    assert distance <= proof.gap <= distance + 1e-7 * proof.scale
    again = dg.certify(data, TWO, best.coef, best.intercept, sample_weight=S, **NAMED)
    assert again.relative_gap < 1e-9


def test_kinds_of_intercepts():
    w = np.array([0.5, -0.5, 0.1, 0.2])
    hinge = np.maximum(0.0, 1 - TWO * (X @ w))
    none = dg.certify(X, TWO, w, loss="hinge", penalty="l2", lam=0.2)
    assert none.primal == pytest.approx(hinge.mean() + 0.1 * w @ w)
    assert none.constant == 0.0
    free = dg.certify(X, TWO, w, 0.3, loss="hinge", penalty="l2", lam=0.2)
    hinge = np.maximum(0.0, 1 - TWO * (X @ w + 0.3))
    assert free.primal == pytest.approx(hinge.mean() + 0.1 * w @ w)
    both = {"intercept_penalised": True, "intercept_scaling": 2.0}
    counted = dg.certify(X, TWO, w, 0.3, loss="hinge", penalty="l2", lam=0.2, **both)
    assert counted.primal == pytest.approx(hinge.mean() + 0.1 * (w @ w + 0.15**2))
    assert counted.constant == 2.0


def test_shapes_as_models_keep_them():
    w = rng.standard_normal(D)
    flat = dg.certify(X, TWO, w, 0.1, **NAMED)
    assert dg.certify(X, TWO, w[None, :], [0.1], **NAMED).gap == flat.gap
    assert dg.certify(X, TWO, sparse.csr_array(w[None, :]), [[0.1]], **NAMED).gap == flat.gap
    assert dg.certify(X=X, y=TWO, coef=w, intercept=0.1, **NAMED).gap == flat.gap
    W, b = rng.standard_normal((D, 3)), np.arange(3.0)
    z = X @ W + b
    value = np.mean(np.logaddexp.reduce(z, axis=1) - z[np.arange(N), THREE]) + 0.05 * np.sum(W**2)
    many = NAMED | {"loss": losses.Softmax()}
    assert dg.certify(X, THREE, W, b, **many).primal == pytest.approx(value)


def test_without_a_penalty():
    w = np.linalg.lstsq(np.c_[X, np.ones(N)], REAL, rcond=None)[0]
    proof = dg.certify(X, REAL, w[:D], w[D], loss="squared", penalty="l2", lam=0.0)
    assert proof.relative_gap < 1e-9
    weights = np.array([1.0, 0.0, 1.0, 2.0])
    penalty = penalties.Weighted(penalties.L1(), weights)
    proof = dg.certify(X, REAL, w[:D], w[D], loss="squared", penalty=penalty, lam=0.1)
    value = np.mean((REAL - X @ w[:D] - w[D]) ** 2) / 2 + 0.1 * weights @ np.abs(w[:D])
    assert proof.primal == pytest.approx(value)


W = np.zeros(D)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: dg.certify(X, TWO), "needs coef and loss and penalty and lam, as in certify"),
        (lambda: dg.certify(X, TWO, W, 0.0), "loss and penalty and lam.*squared, hinge.*l2, l1"),
        (
            lambda: dg.certify(X, TWO, W, **(NAMED | {"loss": "logistik"})),
            "loss 'logistik' is unknown .did you mean 'logistic'",
        ),
        (
            lambda: dg.certify(X, TWO, W, **(NAMED | {"penalty": "elasticnet"})),
            "penalty 'elasticnet' is unknown .did you mean 'elastic-net'",
        ),
        (
            lambda: dg.certify(X, TWO, W, **(NAMED | {"penalty": "elasticnet", "lam": 0.0})),
            "penalty 'elasticnet' is unknown .did you mean 'elastic-net'",
        ),
        (lambda: dg.certify(X, TWO, W, **(NAMED | {"lam": -1.0})), "lam must be >= 0"),
        (lambda: dg.certify(X, TWO, W, **(NAMED | {"lam": "big"})), "lam must be a number"),
        (lambda: dg.certify(X, TWO, W, True, **NAMED), "intercept must be the model's number"),
        (
            lambda: dg.certify(X, TWO, W, "penalised", **NAMED),
            "use intercept_penalised=True if it is penalised",
        ),
        (
            lambda: dg.certify(X, TWO, W, intercept_penalised=True, **NAMED),
            "intercept_penalised=True needs an intercept",
        ),
        (
            lambda: dg.certify(X, TWO, W, 0.0, intercept_penalised="yes", **NAMED),
            "intercept_penalised must be True or False",
        ),
        (
            lambda: dg.certify(X, TWO, W, 0.0, intercept_scaling=2.0, **NAMED),
            "intercept_scaling is only used with intercept_penalised=True",
        ),
        (lambda: dg.certify(X, TWO, W[:2], **NAMED), "coef has 2 entries where 4 are needed"),
        (lambda: dg.certify(X, TWO, [W, W], **NAMED), "coef must have one dimension"),
        (
            lambda: dg.certify(X, THREE, np.zeros((3, D)), **(NAMED | {"loss": "softmax"})),
            r"coef must have shape \(4, 3\), not \(3, 4\): use coef.T",
        ),
        (lambda: dg.certify(X, THREE, W, **NAMED), "needs labels of exactly two values"),
        (lambda: dg.certify(X, TWO, W, sample_weight=-S, **NAMED), "sample_weight has negative"),
        (dg.certify, r"certify needs a Problem, a fitted model or X: certify\(problem"),
        (lambda: dg.certify("model", X, TWO), "a Problem or a fitted model, not str: .*loss="),
    ],
)
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_models_of_libraries_without_a_match():
    """By stand-ins, since it is about their names alone."""

    def model(library, name, **attributes):
        return type(name, (), {"__module__": f"{library}.inner", **attributes})()

    for library, name in (
        ("celer", "LassoCV"),
        ("skglm", "CoxEstimator"),
        ("cyanure", "Preprocessor"),
        ("glum", "GeneralizedLinearRegressorCV"),
        ("xgboost", "XGBRanker"),
        ("liblinear", "problem"),
    ):
        with pytest.raises(ValueError, match=f"{library}'s {name}: .*name them: certify.X, y, "):
            dg.certify(model(library, name), X, TWO)
    for library, name in (("celer", "Lasso"), ("glum", "GeneralizedLinearRegressor")):
        with pytest.raises(ValueError, match=f"{name} is not fitted yet"):
            dg.certify(model(library, name), X, TWO)
