"""Ridge regression with folds, by steps or by a decomposition: the same optimum."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model

import dualgap as dg
from dualgap.estimators.selection import ridge_cv
from dualgap.estimators.selection.ridge_gradients import RidgeGradients

RNG = np.random.default_rng(7)


def data(n, p, offset=0.0):
    X = RNG.standard_normal((n, p)) * np.geomspace(0.1, 10.0, p)
    X[RNG.random(X.shape) < 0.5] = 0.0
    Y = X[:, :2] @ RNG.standard_normal((2, 2)) + RNG.standard_normal((n, 2))
    return X + offset, Y


@pytest.mark.parametrize("shape", [(60, 8), (20, 45)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, np.float32, sp.csr_array])
def test_steps_find_the_optimum_for_each_alpha_and_target(shape, intercept, storage):
    X, Y = data(*shape)
    X = np.round(X, 2)
    weights = RNG.integers(0, 3, len(Y)).astype(float)
    alphas = np.array([0.1, 3.0, 100.0])
    solver = RidgeGradients(storage(X), weights, intercept)
    solver.tol = 1e-13
    coefs, b = solver.solutions(Y, alphas)
    for k, alpha in enumerate(alphas):
        theirs = linear_model.Ridge(alpha, fit_intercept=intercept, solver="svd")
        theirs.fit(np.asarray(storage(X).astype(float).todense() if sp.issparse(storage(X)) else
                              storage(X), float), Y, sample_weight=weights)  # fmt: skip
        np.testing.assert_allclose(coefs[k], theirs.coef_, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(b[k], theirs.intercept_, rtol=1e-4, atol=1e-5)
    assert solver.are_solutions(Y, alphas, coefs, b, 1e-9).all()


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("by_steps", [False, True])
def test_folds_choose_as_scikit_learn(monkeypatch, offset, sparse, by_steps):
    monkeypatch.setattr(ridge_cv, "prefers_gradients", lambda *_: by_steps)
    X, Y = data(60, 6, 0.0 if sparse else offset)
    given = sp.csr_array(X) if sparse else X
    setting = {"alphas": [0.1, 1.0, 30.0], "cv": 4}
    ours = dg.RidgeCV(tol=1e-9, **setting).fit(given, Y)
    theirs = linear_model.RidgeCV(**setting).fit(X, Y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-5)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    for certificate in ours.certificate_:
        assert certificate.gap <= 1e-9 * max(certificate.dual, 1e-3 * certificate.scale)


def test_steps_that_do_not_arrive_are_left_to_the_general_method(monkeypatch):
    X, Y = data(60, 6)
    want = dg.RidgeCV(alphas=[0.1, 3.0], cv=3, tol=1e-8).fit(X, Y)
    monkeypatch.setattr(ridge_cv, "prefers_gradients", lambda *_: True)
    monkeypatch.setattr(RidgeGradients, "_solved", lambda *given: np.zeros_like(given[1]))
    ours = dg.RidgeCV(alphas=[0.1, 3.0], cv=3, tol=1e-8).fit(X, Y)
    assert ours.alpha_ == want.alpha_
    np.testing.assert_allclose(ours.coef_, want.coef_, atol=1e-3)


def test_threads_do_not_matter():
    X, Y = data(300, 200)
    X = sp.csr_array(np.where(RNG.random(X.shape) < 0.05, X, 0.0))
    one = dg.RidgeCV(cv=4).fit(X, Y)
    two = dg.RidgeCV(cv=4, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.best_score_ == two.best_score_


def test_a_strong_penalty_does_not_make_a_model_empty():
    X = sp.random(300, 400, 0.05, format="csr", random_state=0)
    y = X @ np.arange(400.0) + 1.0
    solver = RidgeGradients(X, np.ones(300), True)
    solver.tol = 1e-4
    coefs, _ = solver.solutions(y[:, None], np.array([1e8, 1e12]))
    for alpha, coef in zip((1e8, 1e12), coefs[:, 0]):
        np.testing.assert_allclose(coef, X.T @ (y - y.mean()) / alpha, rtol=1e-4)
