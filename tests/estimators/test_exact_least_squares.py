"""Least squares with hardly a penalty, or none: the optimum itself, of minimum norm."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import lstsq

import dualgap as dg

SHAPES = {"long": (60, 8), "wide": (12, 40), "square": (15, 15), "twice": (50, 10)}


def data(kind, targets=None):
    rng = np.random.default_rng(len(kind))
    n, p = SHAPES[kind]
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    if kind == "twice":
        X[:, p // 2 :] = X[:, : p // 2]
    y = rng.normal(size=n if targets is None else (n, targets)) + 3.0
    return X, y, rng.uniform(0.5, 2.0, size=n)


def minimum_norm(X, y, weights, intercept, alpha=0.0):
    """Coefficients and intercept by LAPACK's least squares."""
    shares = weights / weights.sum()
    means = (shares @ X, shares @ y) if intercept else (np.zeros(X.shape[1]), 0.0 * (shares @ y))
    root = np.sqrt(weights).reshape(-1, 1)
    A, b = root * (X - means[0]), (root if y.ndim > 1 else root[:, 0]) * (y - means[1])
    if alpha:
        U, sizes, V = np.linalg.svd(A, full_matrices=False)
        used = sizes > 1e-12 * sizes[0]
        sizes = sizes[used]
        coef = V[used].T @ np.diag(sizes / (sizes**2 + alpha)) @ (U[:, used].T @ b)
    else:
        coef = lstsq(A, b, cond=1e-12)[0]
    return coef.T, means[1] - means[0] @ coef


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("kind", SHAPES)
def test_linear_regression_has_the_minimum_norm(kind, targets, intercept, weighted):
    X, y, weights = data(kind, targets)
    weights = weights if weighted else np.ones(len(X))
    model = dg.LinearRegression(fit_intercept=intercept)
    model.fit(X, y, sample_weight=weights if weighted else None)
    coef, b = minimum_norm(X, y, weights, intercept)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-10, atol=1e-12)
    null = 0.5 * np.average((y - np.average(y, axis=0, weights=weights)) ** 2, axis=0)
    assert (np.asarray(model.dual_gap_) <= 1e-9 * (null + 9.0)).all()
    assert model.rank_ == np.linalg.matrix_rank(X - X.mean(axis=0) if intercept else X)
    assert len(model.singular_) == min(X.shape)


@pytest.mark.parametrize("alpha", [0.0, 1e-15, 1e-10])
@pytest.mark.parametrize("kind", SHAPES)
def test_ridge_regression_with_hardly_a_penalty(kind, alpha):
    X, y, weights = data(kind)
    coef, b = minimum_norm(X, y, weights, True, alpha)
    for given in (X, sp.csr_array(X)):
        model = dg.Ridge(alpha).fit(given, y, sample_weight=weights)
        np.testing.assert_allclose(model.coef_, coef, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.intercept_, b, rtol=1e-8)
        assert model.dual_gap_ <= 1e-4 * model.certificate_.scale
    chosen = dg.RidgeCV([alpha], cv=3).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(chosen.coef_, coef, rtol=1e-8, atol=1e-10)


def test_folds_without_a_penalty_are_scored_by_the_model_of_minimum_norm():
    X, y, _ = data("wide")
    model = dg.RidgeCV([0.0, 1e3], cv=3, scoring="neg_mean_squared_error").fit(X, y)
    errors = []
    for test in np.split(np.arange(len(X)), 3):
        train = np.setdiff1d(np.arange(len(X)), test)
        coef, b = minimum_norm(X[train], y[train], np.ones(len(train)), True)
        errors.append(np.mean((y[test] - X[test] @ coef - b) ** 2))
    shrunk = dg.RidgeCV([1e3], cv=3, scoring="neg_mean_squared_error").fit(X, y).best_score_
    np.testing.assert_allclose(model.best_score_, max(-np.mean(errors), shrunk), rtol=1e-8)


def test_features_of_very_different_sizes_keep_their_part():
    """A decomposition takes the small one for rounding; what is published is the optimum."""
    rng = np.random.default_rng(0)
    X, sizes = rng.normal(size=(200, 3)), np.array([1e-8, 1.0, 1e8])
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200)
    coef = lstsq(X - X.mean(axis=0), y - y.mean())[0]
    model = dg.LinearRegression().fit(X * sizes, y)
    np.testing.assert_allclose(model.coef_ * sizes, coef, rtol=1e-4)


def test_bounds_without_a_penalty_are_refused():
    X, y, _ = data("long")
    with pytest.raises(ValueError, match="use Ridge"):
        dg.LinearRegression(positive=True).fit(X, y)
