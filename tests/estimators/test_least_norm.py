"""Without a penalty, the coefficients of features that depend on each other are of least norm."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model

import dualgap as dg

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 4)) + 2.0
X = np.hstack([X, X[:, :2]])
Z = X[:, 0] - 2.0 + RNG.normal(size=80)
TARGETS = {
    "counts": RNG.poisson(np.exp(0.3 * Z)).astype(float),
    "labels": Z > 0.0,
    "classes": np.digitize(Z, [-0.5, 0.5]),
}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (dg.PoissonRegressor(alpha=0.0, tol=1e-8), "counts"),
        (dg.HuberRegression(alpha=0.0, tol=1e-8), "counts"),
        (dg.LogisticRegression(C=np.inf, tol=1e-8), "labels"),
        (dg.LogisticRegression(C=np.inf, tol=1e-8), "classes"),
    ],
    ids=["poisson", "huber", "logistic", "softmax"],
)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_coefficients_of_repeated_features_are_the_same(model, y, intercept, storage):
    model.set_params(fit_intercept=intercept).fit(storage(X), TARGETS[y])
    coef = np.atleast_2d(model.coef_)
    np.testing.assert_allclose(coef[:, :2], coef[:, 4:], rtol=1e-9)
    once = model.__class__(**model.get_params()).fit(X[:, :4], TARGETS[y])
    others = np.atleast_2d(once.coef_).copy()
    others[:, :2] /= 2.0
    np.testing.assert_allclose(coef[:, :4], others, rtol=1e-2, atol=1e-3)
    assert model.certificate_.relative_gap <= 1e-8


def test_they_are_those_of_scikit_learn():
    ours = dg.PoissonRegressor(alpha=0.0, tol=1e-10).fit(X, TARGETS["counts"])
    theirs = linear_model.PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=10_000)
    np.testing.assert_allclose(ours.coef_, theirs.fit(X, TARGETS["counts"]).coef_, atol=1e-6)


def test_a_penalty_leaves_nothing_open():
    ours = dg.PoissonRegressor(alpha=1e-3, tol=1e-10).fit(X, TARGETS["counts"])
    free = dg.PoissonRegressor(alpha=0.0, tol=1e-10).fit(X, TARGETS["counts"])
    assert np.abs(ours.coef_ - free.coef_).max() > 1e-5
