"""Errors of folds, where sums over all samples are a poor start for those of a fold."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.linear_model import Ridge
from sklearn.model_selection import ShuffleSplit

import dualgap as dg


def data(n=100, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return rng, X, X @ np.linspace(1.0, 0.0, p) + rng.normal(size=n)


def both(X, y, Xs=None, **params):
    fit = params.pop("fit", {})
    ours = dg.LassoCV(tol=1e-7, **params).fit(X if Xs is None else Xs, y, **fit)
    theirs = linear_model.LassoCV(tol=1e-9, max_iter=100_000, **params).fit(X, y, **fit)
    return ours.mse_path_, theirs.mse_path_


def test_training_samples_that_repeat_and_span_as_much_as_they_count():
    rng, X, y = data()
    drawn = np.sort(rng.integers(0, 100, 100))
    drawn[[0, -1]] = 0, 99
    cv = [(drawn, np.setdiff1d(np.arange(100), drawn)), (np.arange(50), np.arange(50, 100))]
    np.testing.assert_allclose(*both(X, y, alphas=[0.3, 0.1, 0.01], cv=cv), rtol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_shuffled_training_samples(seed):
    _, X, y = data(60)
    cv = ShuffleSplit(3, test_size=0.6, random_state=seed)
    np.testing.assert_allclose(*both(X, y, alphas=[0.3, 0.03], cv=cv), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # rounding errors
@pytest.mark.parametrize("weight", [1e8, 1e12, 1e16, 1e17])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_sample_that_outweighs_all_others(weight, form):
    _, X, y = data(60)
    X[0], y[0] = 0.0, 5.0
    s = np.ones(60)
    s[0] = weight
    ours, theirs = both(X, y, form(X), alphas=[10.0, 0.3], cv=3, fit={"sample_weight": s})
    # The first fold leaves that sample out, and its test is that sample.
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_target_that_outweighs_all_others(form):
    _, X, y = data(60)
    X[0], y[0] = 0.0, 1e9
    ours, theirs = both(X, y, form(X), alphas=[10.0, 0.3], cv=3)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_leaving_one_out_of_wide_data_far_from_0(alpha, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 30))
    y = X[:, 2:].sum(axis=1) + 0.3 * rng.normal(size=20)
    X[:, 0] *= 1e5
    if form is np.asarray:
        X[:, 1] += 1e8
    s = rng.uniform(0.5, 2.0, 20)
    model = dg.RidgeCV(alphas=[alpha], store_cv_results=True).fit(form(X), y, sample_weight=s)
    errors = []
    for i in range(20):
        rest = np.arange(20) != i
        other = Ridge(alpha=alpha, solver="svd").fit(X[rest], y[rest], sample_weight=s[rest])
        errors.append(s[i] * (y[i] - other.predict(X[i : i + 1])[0]) ** 2)
    np.testing.assert_allclose(np.ravel(model.cv_results_), errors, rtol=1e-3, atol=1e-8)


def test_ridge_on_folds_of_sparse_data_without_a_penalty():
    X = sp.random_array((40, 5), density=0.5, rng=np.random.default_rng(0), format="csr")
    y = np.arange(40.0)
    ours = dg.RidgeCV(alphas=[0.0, 1.0], cv=2, scoring="r2").fit(X, y)
    theirs = linear_model.RidgeCV(alphas=[1e-12, 1.0], cv=2, scoring="r2").fit(X.toarray(), y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-6)
