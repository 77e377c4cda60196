"""Factors of the penalty and bounds, column by column, in the ordinary estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear, minimize
from sklearn.base import clone
from sklearn.model_selection import KFold

import dgcheck
import dualgap as dg

FACTORS = np.array([0.0, 1.0, 4.0, np.inf, 0.25])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5)) * [1.0, 10.0, 0.3, 1.0, 2.0] + [0.0, 50.0, 0.0, 1.0, 0.0]
    z = X @ [0.5, 0.05, -1.0, 0.4, 0.3] - 2.5
    return X, z + rng.normal(size=90), rng.poisson(np.exp(0.3 * z)).astype(float)


def objective_of(model, X, y, v):
    """Our mean of losses plus the penalty with ``FACTORS`` of weights v, b."""
    w, b = v[:-1], v[-1]
    z = X @ w + b
    kept = np.isfinite(FACTORS)
    square, size = FACTORS[kept] @ w[kept] ** 2, FACTORS[kept] @ np.abs(w[kept])
    kind = type(model).__name__
    if kind == "Ridge":
        return np.sum((y - z) ** 2) + model.alpha * square
    if kind == "PoissonRegressor":
        return np.mean(np.exp(z) - y * z) + 0.5 * model.alpha * square
    if kind == "HuberRegression":
        r = np.abs(y - z)
        d = model.delta
        losses = np.where(r <= d, 0.5 * r * r, d * r - 0.5 * d * d)
        return np.mean(losses) + 0.5 * model.alpha * square
    if kind == "ElasticNet":
        ratio = model.l1_ratio
        return 0.5 * np.mean((y - z) ** 2) + model.alpha * (
            ratio * size + 0.5 * (1 - ratio) * square
        )
    sign = np.where(y > np.median(y), 1.0, -1.0)
    if kind == "LinearSVC":
        return model.C * np.sum(np.maximum(0.0, 1.0 - sign * z) ** 2) + 0.5 * square
    return model.C * np.sum(np.logaddexp(0.0, -sign * z)) + 0.5 * square


@pytest.mark.parametrize(
    "model",
    [
        dg.Ridge(alpha=20.0), dg.PoissonRegressor(alpha=0.5), dg.HuberRegression(alpha=0.3),
        dg.ElasticNet(alpha=0.1), dg.LogisticRegression(C=0.1), dg.LinearSVC(C=0.02),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_factors_are_those_of_an_independent_optimum(model, data):
    X, real, counts = data
    y = counts if isinstance(model, dg.PoissonRegressor) else real
    labels = y > np.median(y) if hasattr(model, "C") else y
    model.set_params(tol=1e-12, penalty_weight=FACTORS).fit(X, labels)
    found = np.append(np.ravel(model.coef_), model.intercept_)
    assert found[3] == 0.0
    if isinstance(model, dg.ElasticNet):
        w = np.linspace(-1.0, 1.0, 21)[:, None] * 1e-4
        for j in (0, 1, 2, 4, 5):  # a minimum along each coordinate
            moved = found + w * np.eye(6)[j]
            own = objective_of(model, X, y, found)
            assert min(objective_of(model, X, y, v) for v in moved) >= own - 1e-11
        return
    free = [0, 1, 2, 4, 5]

    def objective(v):
        full = np.zeros(6)
        full[free] = v
        return objective_of(model, X, y, full)

    best = minimize(objective, found[free] + 0.01, method="BFGS", options={"gtol": 1e-8})
    assert objective(found[free]) <= best.fun * (1 + 1e-7)
    np.testing.assert_allclose(found[free], best.x, atol=2e-5)


@pytest.mark.parametrize(
    "kind", [dg.Lasso, dg.ElasticNet, dg.QuantileRegressor, dg.LinearSVR, dg.Ridge]
)
def test_a_factor_is_a_scaled_column(kind, data):
    """A penalty ω|w| or ω²w²/2 on x·w is one on v = ωw and x/ω."""
    X, y, _ = data
    scales = np.array([1.0, 2.0, 4.0, 0.5, 0.25])
    square = kind in (dg.LinearSVR, dg.Ridge)
    model = kind(tol=1e-12).set_params(penalty_weight=scales**2 if square else scales)
    if kind is dg.ElasticNet:
        model.set_params(l1_ratio=1.0)
    if not square:
        model.set_params(alpha=0.05)
    other = clone(model).set_params(penalty_weight=None).fit(X / scales, y)
    model.fit(X, y)
    np.testing.assert_allclose(model.coef_ * scales, other.coef_, atol=1e-5)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-9)


def test_bounds_are_those_of_scipy(data):
    X, y, _ = data
    centred, target = X - X.mean(axis=0), y - y.mean()
    low, high = np.array([-1.0, 0.0, -0.5, 0.5, -2.0]), np.array([0.1, 0.02, 0.5, 0.6, 2.0])
    model = dg.Ridge(alpha=0.0, bounds=(low, high), tol=1e-12).fit(X, y)
    best = lsq_linear(centred, target, (low, high), tol=1e-14)
    np.testing.assert_allclose(model.coef_, best.x, atol=1e-6)
    one = dg.Lasso(alpha=0.01, bounds=(0, None), tol=1e-12).fit(X, y)
    two = dg.Lasso(alpha=0.01, positive=True, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-9)
    three = dg.Lasso(alpha=0.01, positive=True, bounds=(-1, 0.02), tol=1e-12).fit(X, y)
    assert (three.coef_ >= 0.0).all()
    assert three.coef_.max() == 0.02


def test_columns_by_name(data):
    X, y, counts = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = {"a": 0.0, "c": 4.0, "d": np.inf, "e": 0.25}
    for model, target in (
        (dg.PoissonRegressor(alpha=0.5), counts), (dg.Lasso(alpha=0.1), y),
        (dg.LassoCV(cv=3), y), (dg.LogisticRegression(), counts > 0),
    ):  # fmt: skip
        one = clone(model).set_params(penalty_weight=named).fit(frame, target)
        two = clone(model).set_params(penalty_weight=FACTORS).fit(X, target)
        np.testing.assert_allclose(one.coef_, two.coef_)
        assert clone(one).get_params()["penalty_weight"] == named
    one = dg.Ridge(bounds={"b": (0, None), "e": (-0.1, 0.1)}).fit(frame, y)
    two = dg.Ridge(bounds={1: (0, None), 4: (-0.1, 0.1)}).fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_)
    assert abs(one.coef_[4]) <= 0.1


def test_several_classes_and_targets_share_factors_and_bounds(data):
    X, y, _ = data
    classes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    for model in (dg.LogisticRegression(), dg.LinearSVC(), dg.RidgeClassifier()):
        model.set_params(penalty_weight=FACTORS, bounds=(-0.2, 0.2), tol=1e-8)
        model.fit(X, classes)
        assert not model.coef_[:, 3].any()
        assert np.abs(model.coef_).max() == 0.2
        assert np.max(model.dual_gap_) < 1e-4
    several = dg.Ridge(penalty_weight=FACTORS).fit(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(several.coef_[0], dg.Ridge(penalty_weight=FACTORS).fit(X, y).coef_)


@pytest.mark.parametrize("kind", [dg.LassoCV, dg.ElasticNetCV])
def test_grids_and_errors_of_cross_validation_know_factors(kind, data):
    X, y, _ = data
    factors = np.array([0.0, 1.0, 4.0, 2.0, 0.25])
    model = kind(cv=KFold(3), alphas=8, eps=0.01, penalty_weight=factors, tol=1e-8).fit(X, y)
    single = dg.Lasso if kind is dg.LassoCV else dg.ElasticNet
    top = single(alpha=model.alphas_[0] * 1.001, penalty_weight=factors, tol=1e-10).fit(X, y)
    assert not top.coef_[1:].any()
    below = single(alpha=model.alphas_[0] * 0.99, penalty_weight=factors, tol=1e-10).fit(X, y)
    assert below.coef_[1:].any()
    errors = np.zeros((8, 3))
    for k, (train, test) in enumerate(KFold(3).split(X)):
        for i, alpha in enumerate(model.alphas_):
            own = single(alpha=alpha, penalty_weight=factors, tol=1e-8).fit(X[train], y[train])
            errors[i, k] = np.mean((y[test] - own.predict(X[test])) ** 2)
    np.testing.assert_allclose(model.mse_path_, errors, rtol=1e-3)
    best = single(alpha=model.alpha_, penalty_weight=factors, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-3)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_leave_one_out_of_ridge_knows_factors(storage, data):
    X, y, _ = data
    factors, alphas = np.array([2.0, 1.0, 4.0, np.inf, 0.25]), [0.1, 10.0, 1000.0]
    model = dg.RidgeCV(alphas, penalty_weight=factors, store_cv_results=True).fit(storage(X), y)
    for k, alpha in enumerate(alphas):
        for i in (0, 17, 89):
            rest = np.delete(np.arange(90), i)
            own = dg.Ridge(alpha=alpha, penalty_weight=factors, tol=1e-12).fit(X[rest], y[rest])
            error = (y[i] - own.predict(X[i : i + 1])[0]) ** 2
            assert model.cv_results_[i, k] == pytest.approx(error, rel=1e-5)
    best = dg.Ridge(alpha=model.alpha_, penalty_weight=factors, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-5)
    for changed in ({"penalty_weight": FACTORS}, {"bounds": (0, 1)}):
        with pytest.raises(ValueError, match="give folds, such as cv=5"):
            dg.RidgeCV(alphas, **changed).fit(X, y)
        folded = dg.RidgeCV(alphas, cv=3, **changed).fit(X, y)
        best = dg.Ridge(alpha=folded.alpha_, **changed).fit(X, y)
        np.testing.assert_allclose(folded.coef_, best.coef_, atol=1e-3)


def test_logistic_regression_cv_and_paths_know_factors(data):
    X, y, _ = data
    labels = y > np.median(y)
    factors = np.array([0.0, 1.0, 4.0, 2.0, 0.25])
    model = dg.LogisticRegressionCV(cv=3, Cs=[0.01, 1.0], penalty_weight=factors, tol=1e-8)
    model.fit(X, labels)
    own = dg.LogisticRegression(C=model.C_[0], penalty_weight=factors, tol=1e-8).fit(X, labels)
    np.testing.assert_allclose(model.coef_, own.coef_, atol=1e-4)
    alphas, coefs, _ = dg.enet_path(X, y, penalty_weight=factors, n_alphas=4, tol=1e-9)
    for alpha, coef in zip(alphas, coefs.T):
        own = dg.ElasticNet(alpha=alpha, fit_intercept=False, penalty_weight=factors, tol=1e-9)
        np.testing.assert_allclose(coef, own.fit(X, y).coef_, atol=1e-3)
    _, coefs, _ = dg.logistic_path(X, labels, [0.1, 1.0], l1_ratio=0.0, bounds=(-0.1, 0.1))
    own = dg.LogisticRegression(C=1.0, bounds=(-0.1, 0.1)).fit(X, labels)
    np.testing.assert_allclose(coefs[:-1, 1], own.coef_[0], atol=1e-3)


def test_dgcheck_verifies_factors_and_bounds(data, tmp_path):
    X, _, counts = data
    model = dg.PoissonRegressor(alpha=0.1, penalty_weight=FACTORS, bounds=(-0.3, 0.1), tol=1e-8)
    proof = model.fit(X, counts, offset=X[:, 4]).save_proof(tmp_path / "proof.dgp")
    np.savez(tmp_path / "data.npz", X=X, y=counts)
    assert dgcheck.main([str(tmp_path / "data.npz"), str(proof)]) == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"penalty_weight": [1.0, 2.0]}, "a number for each of the 5 columns"),
        ({"penalty_weight": -np.ones(5)}, "must be >= 0"),
        ({"penalty_weight": np.full(5, np.nan)}, "must be >= 0"),
        ({"penalty_weight": {"a": 1.0}}, "the columns of X have no names"),
        ({"penalty_weight": {7: 1.0}}, "positions"),
        ({"penalty_weight": {1: [1.0, 2.0]}}, "one number for each column"),
        ({"bounds": 1.0}, "a pair"),
        ({"bounds": (1.0, 0.0)}, "lower bound exceeds"),
        ({"bounds": {0: 1.0}}, "a pair"),
        ({"bounds": (np.zeros(3), None)}, "for each of the 5 columns"),
        ({"bounds": (0.0, None), "penalty_weight": FACTORS}, "one side only"),
    ],
)
def test_refusals(settings, words, data):
    X, y, _ = data
    with pytest.raises(ValueError, match=words):
        dg.Ridge(**settings).fit(X, y)


def test_an_unknown_column_of_a_dataframe_is_named(data):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=["age", "power", "region", "density", "bonus"])
    with pytest.raises(ValueError, match=r"'powr' is unknown .did you mean 'power'"):
        dg.Lasso(penalty_weight={"powr": 0.0}).fit(frame, y)
