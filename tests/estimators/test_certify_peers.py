"""Models of other libraries, really fitted: their objective, and how far they are from its optimum.

Each objective is written out once more in NumPy, as the library documents it. Fits to tight and to
loose tolerances must be told apart. A library that is not installed is skipped; ``make test-peers``
has them all.
"""

import importlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import dualgap as dg

rng = np.random.default_rng(5)
N, D = 150, 5
X = rng.standard_normal((N, D)) + 0.3
Z = X @ [1.0, -0.7, 0.0, 1.5, 0.2] - 0.4
REAL = Z + 2.0 + 0.5 * rng.standard_normal(N)
TWO = (Z + rng.logistic(size=N) > 0.0).astype(int)
THREE = np.digitize(Z + 0.7 * rng.standard_normal(N), [-0.7, 1.0])
COUNT = rng.poisson(np.exp(0.4 * Z)).astype(float)
S = rng.uniform(0.2, 3.0, N)
FEATURE = np.array([0.5, 1.0, 2.0, 1.0, 3.0])
SIGN = 2.0 * TWO - 1.0


def half_square(z, y):
    return (y - z) ** 2 / 2


def logistic(z, y):
    return np.logaddexp(0.0, -y * z)


def squared_hinge(z, y):
    return np.maximum(0.0, 1 - y * z) ** 2


def hinge(z, y):
    return np.maximum(0.0, 1 - y * z)


def huber(z, y, delta=0.7):
    r = np.abs(y - z)
    return np.where(r <= delta, r**2 / 2, delta * r - delta**2 / 2)


def poisson(z, y):
    return np.exp(z) - y * z


def tube(z, y, epsilon=0.1):
    return np.maximum(0.0, np.abs(y - z) - epsilon)


def softmax(z, y):
    return np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y]


def l1(w):
    return np.sum(np.abs(w))


def l2(w):
    return np.sum(np.square(w)) / 2


class Case(NamedTuple):
    """``fit(tight)`` gives a model; ``value`` its objective; ``near`` bounds its relative gap."""

    library: str
    name: str
    fit: Callable[[bool], Any]
    value: Callable[[Any], float]
    y: Any = None
    near: float = 1e-9
    X: Any = X
    s: Any = None
    loose: bool = True  # whether it can be stopped early


def linear(model, k=None):
    """Decision values from what the model stores."""
    coef = np.asarray(model.coef_)
    coef = coef.ravel() if k is None else coef[k]
    intercept = np.ravel(getattr(model, "intercept_", 0.0))
    return X @ coef + (intercept[k or 0] if intercept.size > (k or 0) else intercept[0])


def library(name):
    """The module, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


def one_vs_rest(model, phi, penalty):
    y = [np.where(k == THREE, 1.0, -1.0) for k in range(3)]
    return sum(phi(linear(model, k), y[k]) + penalty(model.coef_[k]) for k in range(3))


# --- celer ----------------------------------------------------------------------------------------


def celer_cases():
    def made(name, **more):
        def fit(tight):
            cls = getattr(library("celer"), name)
            few = {} if tight else {"max_iter": 1, "max_epochs": 1}
            y = more.get("y", REAL)
            own = {key: value for key, value in more.items() if key != "y"}
            return cls(tol=1e-12 if tight else 1.0, **few, **own).fit(X, y)

        return fit

    def lasso(model):
        return half_square(linear(model), REAL).mean() + 0.1 * l1(model.coef_)

    def weighted(model):
        return half_square(linear(model), REAL).mean() + 0.1 * l1(FEATURE * model.coef_)

    def net(model):
        w = model.coef_
        return half_square(linear(model), REAL).mean() + 0.2 * (
            0.4 * l1(FEATURE * w) + 0.6 * l2(np.sqrt(FEATURE) * w)
        )

    def sparse_logistic(model):
        return logistic(linear(model), SIGN).sum() + l1(model.coef_) / 0.3

    def many(model):
        return one_vs_rest(model, lambda z, y: logistic(z, y).sum(), lambda w: l1(w) / 0.3)

    yield Case("celer", "Lasso", made("Lasso", alpha=0.1), lasso, REAL)
    yield Case("celer", "Lasso-weights", made("Lasso", alpha=0.1, weights=FEATURE), weighted, REAL)
    yield Case(
        "celer", "Lasso-positive",
        made("Lasso", alpha=0.1, positive=True, fit_intercept=False), lasso, REAL,
    )  # fmt: skip
    yield Case(
        "celer", "ElasticNet",
        made("ElasticNet", alpha=0.2, l1_ratio=0.4, weights=FEATURE), net, REAL,
    )  # fmt: skip
    logreg = made("LogisticRegression", C=0.3, y=TWO)
    yield Case("celer", "LogisticRegression", logreg, sparse_logistic, TWO)
    logreg = made("LogisticRegression", C=0.3, y=THREE)
    yield Case("celer", "LogisticRegression-three", logreg, many, THREE)


# --- skglm ----------------------------------------------------------------------------------------


def skglm_cases():
    def made(name, y, **more):
        def fit(tight):
            cls = getattr(library("skglm"), name)
            few = {} if tight else {"max_iter": 1, "max_epochs": 1}
            return cls(tol=1e-12 if tight else 1.0, **few, **more).fit(X, y)

        return fit

    def general(datafit, penalty, y, solver="AndersonCD", **options):
        def fit(tight):
            skglm = library("skglm")
            datafits, penalties, solvers = (
                importlib.import_module(f"skglm.{part}")
                for part in ("datafits", "penalties", "solvers")
            )
            own = datafit(datafits), penalty(penalties)
            few = {"tol": 1e-12} if tight else {"tol": 1.0, "max_iter": 1}
            if solver == "AndersonCD" and not tight:
                few["max_epochs"] = 1
            runs = getattr(solvers, solver)(**few, **options)
            for option in ("fit_intercept", "warm_start"):  # which LBFGS lacks and fits ask for
                setattr(runs, option, getattr(runs, option, False))
            return skglm.GeneralizedLinearEstimator(*own, runs).fit(X, y)

        return fit

    def mean(phi, penalty, y):
        return lambda model: phi(linear(model), y).mean() + penalty(model.coef_)

    def weighted_mean(model):
        return np.average(half_square(linear(model), REAL), weights=S) + 0.1 * l1(model.coef_)

    def machine(model):
        return 0.5 * hinge(linear(model), SIGN).sum() + l2(model.coef_)

    def net(w):
        return 0.2 * (0.4 * l1(w) + 0.6 * l2(w))

    yield Case(
        "skglm", "Lasso", made("Lasso", REAL, alpha=0.1),
        mean(half_square, lambda w: 0.1 * l1(w), REAL), REAL,
    )  # fmt: skip
    yield Case(
        "skglm", "WeightedLasso", made("WeightedLasso", REAL, alpha=0.1, weights=FEATURE),
        mean(half_square, lambda w: 0.1 * l1(FEATURE * w), REAL), REAL,
    )  # fmt: skip
    yield Case(
        "skglm", "ElasticNet", made("ElasticNet", REAL, alpha=0.2, l1_ratio=0.4),
        mean(half_square, net, REAL), REAL,
    )  # fmt: skip
    yield Case(
        "skglm", "SparseLogisticRegression",
        made("SparseLogisticRegression", TWO, alpha=0.2, l1_ratio=0.4),
        mean(logistic, net, SIGN), TWO,
    )  # fmt: skip
    yield Case("skglm", "LinearSVC", made("LinearSVC", TWO, C=0.5), machine, TWO, near=1e-6)
    yield Case(
        "skglm", "Huber-L1",
        general(lambda d: d.Huber(0.7), lambda p: p.L1(0.05), REAL, fit_intercept=False),
        mean(huber, lambda w: 0.05 * l1(w), REAL), REAL,
    )  # fmt: skip
    yield Case(
        "skglm", "Quadratic-WeightedL1",
        general(lambda d: d.Quadratic(), lambda p: p.WeightedL1(0.1, FEATURE), REAL),
        mean(half_square, lambda w: 0.1 * l1(FEATURE * w), REAL), REAL,
    )  # fmt: skip
    yield Case(
        "skglm", "WeightedQuadratic-L1",
        general(lambda d: d.WeightedQuadratic(S), lambda p: p.L1(0.1), REAL),
        weighted_mean, REAL,
    )  # fmt: skip
    yield Case(
        "skglm", "Logistic-L2",
        general(lambda d: d.Logistic(), lambda p: p.L2(0.1), TWO, "LBFGS"),
        mean(logistic, lambda w: 0.1 * l2(w), SIGN), TWO, near=1e-7,
    )  # fmt: skip
    yield Case(
        "skglm", "Poisson-L1_plus_L2",
        general(
            lambda d: d.Poisson(), lambda p: p.L1_plus_L2(0.2, 0.4), COUNT, "ProxNewton",
            fit_intercept=False,
        ),
        mean(poisson, net, COUNT), COUNT,
    )  # fmt: skip
    yield Case(
        "skglm", "QuadraticSVC-IndicatorBox",
        general(
            lambda d: d.QuadraticSVC(), lambda p: p.IndicatorBox(0.5), TWO, fit_intercept=False
        ),
        machine, TWO, near=1e-6,
    )  # fmt: skip


# --- cyanure --------------------------------------------------------------------------------------


def cyanure_cases():
    def made(name, y, **more):
        def fit(tight):
            cls = getattr(library("cyanure.estimators"), name)
            few = {"tol": 1e-12, "max_iter": 5000} if tight else {"tol": 0.5, "max_iter": 1}
            return cls(verbose=False, **few, **more).fit(X, y)

        return fit

    def mean(phi, penalty, y):
        return lambda model: phi(linear(model), y).mean() + penalty(model.coef_)

    def decisions(model):
        return X @ model.coef_ + np.ravel(model.intercept_)

    def joint(model):
        return softmax(decisions(model), THREE).mean() + 0.05 * l2(model.coef_)

    def rest(model):
        y = np.where(THREE[:, None] == np.arange(3), 1.0, -1.0)
        return squared_hinge(decisions(model), y).sum() / (2 * N) + 0.05 * l2(model.coef_)

    def half_squared_hinge(z, y):
        return squared_hinge(z, y) / 2

    yield Case(
        "cyanure", "Lasso", made("Lasso", REAL, lambda_1=0.1),
        mean(half_square, lambda w: 0.1 * l1(w), REAL), REAL, near=1e-6,
    )  # fmt: skip
    yield Case(
        "cyanure", "Regression-l2", made("Regression", REAL, lambda_1=0.1, penalty="l2"),
        mean(half_square, lambda w: 0.1 * l2(w), REAL), REAL, near=1e-6,
    )  # fmt: skip
    yield Case(
        "cyanure", "Regression-elasticnet",
        made("Regression", REAL, lambda_1=0.1, lambda_2=0.3, penalty="elasticnet"),
        mean(half_square, lambda w: 0.1 * l1(w) + 0.3 * l2(w), REAL), REAL, near=1e-6,
    )  # fmt: skip
    yield Case(
        "cyanure", "LinearSVC", made("LinearSVC", TWO, lambda_1=0.05),
        mean(half_squared_hinge, lambda w: 0.05 * l2(w), SIGN), TWO, near=1e-6,
    )  # fmt: skip
    yield Case(
        "cyanure", "Classifier-square",
        made("Classifier", TWO, lambda_1=0.05, fit_intercept=False),
        mean(half_square, lambda w: 0.05 * l2(w), SIGN), TWO, near=1e-6,
    )  # fmt: skip
    yield Case(
        "cyanure", "LogisticRegression", made("LogisticRegression", TWO, lambda_1=0.05),
        mean(logistic, lambda w: 0.05 * l2(w), SIGN), TWO, near=1e-6,
    )  # fmt: skip
    yield Case(
        "cyanure", "L1Logistic", made("L1Logistic", TWO, lambda_1=0.05),
        mean(logistic, lambda w: 0.05 * l1(w), SIGN), TWO, near=1e-6,
    )  # fmt: skip
    yield Case(
        "cyanure", "LogisticRegression-three", made("LogisticRegression", THREE, lambda_1=0.05),
        joint, THREE, near=1e-6,
    )  # fmt: skip
    yield Case(
        "cyanure", "LinearSVC-three", made("LinearSVC", THREE, lambda_1=0.05),
        rest, THREE, near=1e-6,
    )  # fmt: skip


# --- glum -----------------------------------------------------------------------------------------


def glum_cases():
    def made(y, s=None, **more):
        def fit(tight):
            glum = library("glum")
            few = {"gradient_tol": 1e-11, "max_iter": 1000} if tight else {"max_iter": 1}
            if not tight:
                few |= {"gradient_tol": 1e3, "start_params": np.full(D + 1, 0.1)}
            model = glum.GeneralizedLinearRegressor(**few, **more)
            return model.fit(X, y, sample_weight=s)

        return fit

    def mean(phi, penalty, y, s=None):
        return lambda model: np.average(phi(linear(model), y), weights=s) + penalty(model.coef_)

    def shares(model):
        z = linear(model)
        return np.average(np.logaddexp(0.0, z) - SHARE * z, weights=S) + 0.1 * l2(model.coef_)

    yield Case(
        "glum", "normal", made(REAL, S, family="normal", alpha=0.1),
        mean(half_square, lambda w: 0.1 * l2(w), REAL, S), REAL, s=S, loose=False,
    )  # fmt: skip
    yield Case(
        "glum", "poisson-l1", made(COUNT, S, family="poisson", alpha=0.1, l1_ratio=1.0),
        mean(poisson, lambda w: 0.1 * l1(w), COUNT, S), COUNT, s=S,
    )  # fmt: skip
    yield Case(
        "glum", "binomial-net",
        made(TWO, family="binomial", alpha=0.1, l1_ratio=0.4, P1=FEATURE, P2=FEATURE),
        mean(
            logistic,
            lambda w: 0.1 * (0.4 * l1(FEATURE * w) + 0.6 * l2(np.sqrt(FEATURE) * w)),
            SIGN,
        ),
        TWO,
    )  # fmt: skip
    yield Case(
        "glum", "binomial-shares", made(SHARE, S, family="binomial", alpha=0.1),
        shares, SHARE, s=S,
    )  # fmt: skip
    yield Case(
        "glum", "poisson-free", made(COUNT, family="poisson"),
        mean(poisson, lambda w: 0.0, COUNT), COUNT,
    )  # fmt: skip


SHARE = np.clip(1 / (1 + np.exp(-Z)) + 0.1 * rng.standard_normal(N), 0.0, 1.0)


# --- statsmodels ----------------------------------------------------------------------------------

TRIALS = rng.integers(1, 9, N).astype(float)
SUCCESSES = np.round(SHARE * TRIALS)
SHIFT = 0.3 * rng.standard_normal(N)


def statsmodels_cases():
    def made(name, y, tight_options=None, loose_options=None, method="fit", **more):
        def fit(tight):
            api = library("statsmodels.api")
            own = dict(more)
            if "family" in own:
                own["family"] = getattr(api.families, own["family"])()
            model = getattr(api, name)(y, api.add_constant(X), **own)
            return getattr(model, method)(**((tight_options if tight else loose_options) or {}))

        return fit

    likelihood = {"maxiter": 200, "disp": 0}, {"maxiter": 1, "disp": 0}
    reweighted = {"tol": 1e-14}, {"maxiter": 1}
    slsqp = {"alpha": 2.0, "disp": 0, "trim_mode": "off"}
    slsqp = slsqp | {"acc": 1e-14}, slsqp | {"acc": 1e-2}

    def ssr(model):
        return model.ssr

    def decision(model):
        return np.c_[np.ones(N), X] @ model.params

    def minus_llf(model):
        return -model.llf

    def trials(model):
        z = decision(model)
        return np.sum(TRIALS * np.logaddexp(0.0, z) - SUCCESSES * z)

    def counted(model):
        return poisson(decision(model), COUNT).sum()

    def shifted(model):
        return poisson(decision(model) + SHIFT, COUNT).sum()

    def penalised(model):
        return -model.llf + 2.0 * l1(model.params)

    def deviance(model):
        return np.sum(S * (REAL - SHIFT - decision(model)) ** 2)

    both = np.c_[SUCCESSES, TRIALS - SUCCESSES]
    yield Case("statsmodels", "OLS", made("OLS", REAL), ssr, loose=False)
    yield Case("statsmodels", "WLS", made("WLS", REAL, weights=S), ssr, loose=False)
    yield Case("statsmodels", "Logit", made("Logit", TWO, *likelihood), minus_llf)
    yield Case(
        "statsmodels", "Logit-l1", made("Logit", TWO, *slsqp, "fit_regularized"), penalised,
        near=1e-6,
    )  # fmt: skip
    yield Case("statsmodels", "Poisson", made("Poisson", COUNT, *likelihood), counted)
    yield Case(
        "statsmodels", "Poisson-exposure",
        made("Poisson", COUNT, *likelihood, exposure=np.exp(SHIFT)), shifted,
    )  # fmt: skip
    glm = {
        "Poisson": ("Poisson", COUNT, counted, {}),
        "Poisson-offset": ("Poisson", COUNT, shifted, {"offset": SHIFT}),
        "Binomial": ("Binomial", TWO, minus_llf, {}),
        "Binomial-offset": ("Binomial", TWO, minus_llf, {"offset": SHIFT}),
        "trials": ("Binomial", both, trials, {}),
    }
    for name, (family, y, value, more) in glm.items():
        made_glm = made("GLM", y, *reweighted, family=family, **more)
        yield Case("statsmodels", f"GLM-{name}", made_glm, value)
    yield Case(
        "statsmodels", "GLM-Gaussian",
        made("GLM", REAL, family="Gaussian", freq_weights=S, offset=SHIFT), deviance, loose=False,
    )  # fmt: skip


# --- liblinear ------------------------------------------------------------------------------------


def liblinear_cases():
    losses = {
        0: (logistic, l2), 1: (squared_hinge, l2), 2: (squared_hinge, l2), 3: (hinge, l2),
        5: (squared_hinge, l1), 6: (logistic, l1), 7: (logistic, l2),
        11: (lambda z, y: tube(z, y) ** 2, l2), 12: (lambda z, y: tube(z, y) ** 2, l2),
        13: (tube, l2),
    }  # fmt: skip

    def made(s, y, options):
        def fit(tight):
            train = library("liblinear.liblinearutil").train
            epsilon = 1e-10 if tight else 0.5
            return train(y, X, f"-s {s} -c 0.7 -p 0.1 -e {epsilon} -q {options}")

        return fit

    def read(model, k=0):
        w = np.array([model.get_decfun_coef(j + 1, k) for j in range(D)])
        return w, model.get_decfun_bias(k) if model.bias >= 0 else 0.0

    def objective(s, y, scaling):
        phi, penalty = losses[s]

        def value(model):
            total = 0.0
            for k, own in enumerate(y(model)):
                w, b = read(model, k)
                total += 0.7 * phi(X @ w + b, own).sum() + penalty(w)
                total += penalty(b / scaling) if scaling else 0.0
            return total

        return value

    def first(model):
        return [np.where(model.get_labels()[0] == TWO, 1.0, -1.0)]

    for s in losses:
        y = REAL if s > 10 else TWO
        own = (lambda model: [REAL]) if s > 10 else first
        options, scaling = ("-B 2", 2.0) if s != 3 else ("", 0.0)
        near = 1e-3 if s in (3, 13) else 1e-6  # these two stop at 1000 passes
        yield Case("liblinear", f"s{s}", made(s, y, options), objective(s, own, scaling), y, near)
    yield Case("liblinear", "free-bias", made(0, TWO, "-B 1 -R"), objective(0, first, 0.0), TWO)
    yield Case(
        "liblinear", "three", made(2, THREE, "-B 1"),
        objective(
            2, lambda m: [np.where(k == THREE, 1.0, -1.0) for k in m.get_labels()], 1.0
        ),
        THREE,
    )  # fmt: skip


# --- XGBoost --------------------------------------------------------------------------------------

X32 = X.astype(np.float32)


def xgboost_cases():
    def made(name, y, s=None, **more):
        def fit(tight):
            cls = getattr(library("xgboost"), name)
            model = cls(
                booster="gblinear", n_estimators=500 if tight else 3, updater="coord_descent",
                **more,
            )  # fmt: skip
            return model.fit(X32, y, sample_weight=s)

        return fit

    def decision(model):
        return model.predict(X32, output_margin=True).astype(float)

    def coef(model):
        zero = model.predict(np.zeros((1, D)), output_margin=True).astype(float)
        return model.predict(np.eye(D), output_margin=True).astype(float) - zero

    def mean(phi, penalty, y, s=None):
        return lambda m: np.average(phi(decision(m), y), weights=s) + penalty(coef(m))

    def net(w):
        return 0.05 * l1(w) + 0.1 * l2(w)

    strengths = {"reg_alpha": 0.05, "reg_lambda": 0.1}
    yield Case(
        "xgboost", "XGBRegressor", made("XGBRegressor", REAL, S, **strengths),
        mean(half_square, net, REAL, S), REAL, 1e-6, X32, S,
    )  # fmt: skip
    yield Case(
        "xgboost", "XGBClassifier", made("XGBClassifier", TWO, base_score=0.3, **strengths),
        mean(logistic, net, SIGN), TWO, 1e-6, X32,
    )  # fmt: skip
    heavier = np.where(TWO == 1, 3.0, 1.0)
    yield Case(
        "xgboost", "scale_pos_weight",
        made("XGBClassifier", TWO, scale_pos_weight=3.0, reg_lambda=0.1),
        lambda m: np.mean(heavier * logistic(decision(m), SIGN)) + 0.1 * l2(coef(m)),
        TWO, 1e-6, X32,
    )  # fmt: skip
    yield Case(
        "xgboost", "count:poisson",
        made("XGBRegressor", COUNT, objective="count:poisson", reg_lambda=0.1),
        mean(poisson, lambda w: 0.1 * l2(w), COUNT), COUNT, 1e-6, X32,
    )  # fmt: skip
    yield Case(
        "xgboost", "three", made("XGBClassifier", THREE, **strengths),
        mean(softmax, net, THREE), THREE, 1e-6, X32,
    )  # fmt: skip


CASES = [
    *celer_cases(), *skglm_cases(), *cyanure_cases(), *glum_cases(), *statsmodels_cases(),
    *liblinear_cases(), *xgboost_cases(),
]  # fmt: skip


def quietly(call, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how a fit went is not the question
        return call(*args)


def proven(case, model):
    own = () if case.y is None else (case.X, case.y)
    return dg.certify(model, *own, sample_weight=case.s, tol=1e-7)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.library}-{case.name}")
def test_distance(case):
    model = quietly(case.fit, True)
    proof, best = proven(case, model), quietly(case.value, model)
    close = 1e-5 if case.library == "xgboost" else 1e-9  # its numbers are float32
    assert proof.primal == pytest.approx(best, rel=close)
    assert 0.0 <= proof.gap <= case.near * proof.scale
    assert proof.dual <= proof.primal
    if case.loose:
        early = quietly(case.fit, False)
        theirs, value = proven(case, early), quietly(case.value, early)
        assert theirs.primal == pytest.approx(value, rel=close)
        distance = theirs.primal - proof.primal
        assert distance > 10 * proof.gap
        assert theirs.gap >= distance
        assert theirs.gap <= distance + proof.gap + 1e-6 * proof.scale


# --- what cannot be read, and data in other forms -------------------------------------------------


NAMED = "name them: certify.X, y, coef, intercept, loss="


def refused_by_peers():
    def skglm_mcp():
        return library("skglm").MCPRegression(alpha=0.1).fit(X, REAL)

    def skglm_scad():
        skglm, penalties = library("skglm"), importlib.import_module("skglm.penalties")
        return skglm.GeneralizedLinearEstimator(penalty=penalties.SCAD(0.1, 3.0)).fit(X, REAL)

    def skglm_gamma():
        skglm = library("skglm")
        datafits, solvers = (importlib.import_module(f"skglm.{m}") for m in ("datafits", "solvers"))
        runs = solvers.ProxNewton(fit_intercept=False)
        return skglm.GeneralizedLinearEstimator(datafits.Gamma(), solver=runs).fit(X, COUNT + 1)

    def cyanure_ball():
        cls = library("cyanure.estimators").Regression
        return cls(penalty="l1-ball", lambda_1=1.0, verbose=False).fit(X, REAL)

    def cyanure_hinge():
        cls = library("cyanure.estimators").Classifier
        return cls(loss="hinge", lambda_1=1.0, verbose=False).fit(X, TWO)

    def glum_with(**options):
        def fit():
            cls = library("glum").GeneralizedLinearRegressor
            return cls(**options).fit(X, COUNT + 1.0)

        return fit

    yield skglm_mcp, "MCPRegression: its penalty is not convex"
    yield skglm_scad, "SCAD: its penalty is not convex"
    yield skglm_gamma, f"Gamma.., L1.*it can read the datafits Quadratic.*{NAMED}"
    yield cyanure_ball, f"penalty='l1-ball'.: it can read l2.*{NAMED}"
    yield cyanure_hinge, f"loss='hinge'.: it can read square, logistic, sqhinge.*{NAMED}"
    yield glum_with(family="gamma"), f"family='gamma', link='auto'.*{NAMED}"
    yield glum_with(family="normal", link="log"), f"family='normal', link='log'.*{NAMED}"
    yield glum_with(alpha=0.1, lower_bounds=np.zeros(D)), f"lower_bounds.*{NAMED}"
    yield glum_with(alpha=0.1, scale_predictors=True), f"scale_predictors.*{NAMED}"
    yield glum_with(alpha=0.1, P2=np.eye(D)), f"P2 as a matrix.*{NAMED}"
    yield glum_with(alpha=0.1, l1_ratio=0.5, P1=FEATURE), f"different P1 and P2.*{NAMED}"


def refused_by_others():
    def stats(name, method="fit", y=REAL, **options):
        def fit():
            api = library("statsmodels.api")
            return getattr(getattr(api, name)(y, X), method)(**options)

        return fit

    def stats_unfitted():
        return library("statsmodels.api").OLS(REAL, X)

    def stats_constrained():
        api = library("statsmodels.api")
        return api.GLM(COUNT, X, family=api.families.Poisson()).fit_constrained("x1 = 0")

    def stats_gamma():
        api = library("statsmodels.api")
        log = api.families.links.Log()
        return api.GLM(COUNT + 1, api.add_constant(X), family=api.families.Gamma(log)).fit()

    def machine(options):
        return lambda: library("liblinear.liblinearutil").train(TWO, X, "-q " + options)

    def boosted(name="XGBRegressor", **options):
        def fit():
            cls = getattr(library("xgboost"), name)
            return cls(n_estimators=2, **options).fit(X, REAL)

        return fit

    def bare():
        return boosted(booster="gblinear")().get_booster()

    def unfitted():
        return library("xgboost").XGBRegressor(booster="gblinear")

    yield stats_unfitted, "OLS is not fitted yet: give certify what its fit.. returns"
    yield stats("OLS", "fit_regularized", alpha=0.1), f"after fit_regularized: alpha.*{NAMED}"
    yield stats("GLS"), f"GLS of statsmodels: .*{NAMED}"
    yield stats("Probit", y=TWO, disp=0), f"Probit of statsmodels: .*{NAMED}"
    yield stats_constrained, f"after fit_constrained: .*{NAMED}"
    yield stats_gamma, f"GLM.Gamma, link Log.*{NAMED}"
    yield machine("-s 4"), f"-s 4: .*Crammer and Singer.*{NAMED}"
    yield machine("-s 0 -w1 2"), f"with -wi: liblinear frees the weights.*{NAMED}"
    yield boosted(), f"trees are not a linear model.*{NAMED}"
    yield boosted("XGBRFRegressor"), f"xgboost's XGBRFRegressor: .*{NAMED}"
    yield boosted(booster="gblinear", objective="reg:absoluteerror"), f"absoluteerror.*{NAMED}"
    yield bare, f"a bare Booster of XGBoost: it does not keep.*{NAMED}"
    yield unfitted, "XGBRegressor is not fitted yet"


@pytest.mark.parametrize(
    ("fit", "says"), [*refused_by_peers(), *refused_by_others()], ids=lambda part: str(part)[:30]
)
def test_refusals(fit, says):
    model = quietly(fit)
    y = TWO if hasattr(model, "classes_") else REAL
    with pytest.raises(ValueError, match=says):
        dg.certify(model, X, y)


def test_weights_that_a_fit_has_not_seen():
    for name, cls in (("celer", "Lasso"), ("skglm", "Lasso")):
        model = quietly(lambda name=name, cls=cls: getattr(library(name), cls)(0.1).fit(X, REAL))
        with pytest.raises(ValueError, match=f"sample_weight: {name}'s Lasso is fitted without"):
            dg.certify(model, X, REAL, S)


def test_a_file_of_liblinear(tmp_path):
    tools = library("liblinear.liblinearutil")
    path = str(tmp_path / "model")
    tools.save_model(path, tools.train(TWO, X, "-s 0 -q"))
    with pytest.raises(ValueError, match="from a file: the file does not hold C"):
        dg.certify(tools.load_model(path), X, TWO)


def test_sparse_data_and_data_of_the_model():
    celer, api = library("celer"), library("statsmodels.api")
    model = quietly(celer.Lasso(0.1, tol=1e-12).fit, sparse.csc_array(X), REAL)
    assert dg.certify(model, sparse.csr_array(X), REAL).relative_gap < 1e-9
    results = api.OLS(REAL, api.add_constant(X)).fit()
    own = dg.certify(results)
    assert dg.certify(results, api.add_constant(X), REAL).gap == own.gap
    # P(0) is the sum of squares around the mean, since the constant column is an intercept.
    assert own.scale == pytest.approx(results.centered_tss, rel=2e-3)
    alone = api.OLS(REAL, np.ones(N)).fit()
    assert dg.certify(alone).relative_gap < 1e-9
    results.remove_data()
    with pytest.raises(ValueError, match="weights and offsets were removed with the data"):
        dg.certify(results, api.add_constant(X), REAL)


def test_columns_that_depend_on_each_other():
    """Exactly: nothing bounds their coefficients, and the proof does without. Nearly: a warning."""
    api = library("statsmodels.api")
    results = quietly(api.OLS(REAL, np.c_[X, X[:, 0]]).fit)
    assert dg.certify(results).relative_gap < 1e-10
    nearly = X[:, 0] + 1e-12 * X[:, 1]
    results = quietly(api.OLS(REAL, np.c_[X, nearly]).fit)
    with pytest.warns(ConvergenceWarning, match="the optimum is known up to"):
        proof = dg.certify(results)
    assert proof.gap >= proof.primal - results.ssr >= -1e-9


def test_intercepts_that_skglm_drops():
    skglm = library("skglm")
    model = quietly(skglm.SparseLogisticRegression(alpha=0.05, tol=1e-10).fit, X, THREE)
    assert not np.any(model.intercept_)
    proof = dg.certify(model, X, THREE)
    assert len(proof.parts) == 3
    assert proof.relative_gap > 0.01


def test_subclasses_count_as_what_they_derive_from():
    celer = library("celer")

    class MyLasso(celer.Lasso):
        pass

    model = quietly(MyLasso(0.1, tol=1e-12, weights=FEATURE).fit, X, REAL)
    assert dg.certify(model, X, REAL).relative_gap < 1e-9
