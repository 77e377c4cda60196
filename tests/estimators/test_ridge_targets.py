"""Several targets of a ridge regression: each has the optimum and a proof of its own."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model

import dualgap as dg
from dualgap.estimators import ridge_targets

RNG = np.random.default_rng(5)


def data(n, p, targets=3):
    X = RNG.standard_normal((n, p)) * np.geomspace(0.1, 10.0, p)
    X[RNG.random(X.shape) < 0.3] = 0.0
    return X, X[:, :2] @ RNG.standard_normal((2, targets)) + RNG.standard_normal((n, targets))


@pytest.mark.parametrize("shape", [(60, 8), (20, 45), (25, 25)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("alpha", [0.7, [0.01, 5.0, 5.0]])
def test_targets_have_the_optimum_and_proofs(shape, intercept, storage, alpha):
    X, Y = data(*shape)
    weights = RNG.random(len(Y)) + 0.1
    weights[3] = 0.0
    ours = dg.Ridge(alpha, fit_intercept=intercept, tol=1e-10).fit(storage(X), Y, weights)
    theirs = linear_model.Ridge(alpha, fit_intercept=intercept, solver="svd")
    theirs.fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-7)
    for k, certificate in enumerate(ours.certificate_):
        lam = np.broadcast_to(alpha, 3)[k] / weights.sum()
        problem = dg.Problem(X, Y[:, k], "squared", "l2", lam, weights, intercept=intercept)
        proof = dg.certify(problem, ours.coef_[k], intercept=np.broadcast_to(ours.intercept_, 3)[k])
        assert proof.gap <= 2e-10 * max(proof.dual, 1e-3 * problem.scale)
        assert certificate.dual <= proof.primal * (1.0 + 1e-12)
        assert certificate.gap <= 1e-10 * max(certificate.dual, 1e-3 * problem.scale)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_far_from_zero_and_constant_ones(dtype):
    X, Y = data(50, 6)
    X[:, 2] = 1.0
    X = (X + 1e3).astype(dtype)
    ours = dg.Ridge(2.0).fit(X, Y)
    theirs = linear_model.Ridge(2.0, solver="svd").fit(X.astype(np.float64), Y)
    for k, certificate in enumerate(ours.certificate_):
        residual = Y[:, k] - theirs.predict(X.astype(np.float64))[:, k]
        best = (0.5 * residual @ residual + np.sum(theirs.coef_[k] ** 2)) / len(Y)
        assert certificate.dual <= best * (1.0 + 1e-9)
        assert certificate.primal >= best * (1.0 - 1e-9)
        if dtype == np.float64:
            assert certificate.gap <= 1e-4 * certificate.dual


def test_without_a_penalty_and_with_a_callback_targets_are_solved_one_by_one():
    X, Y = data(40, 5)
    plain = dg.Ridge(0.0, tol=1e-8).fit(X, Y)
    theirs = linear_model.LinearRegression().fit(X, Y)
    np.testing.assert_allclose(plain.coef_, theirs.coef_, rtol=1e-4, atol=1e-4)
    heard = []
    dg.Ridge(1.0, callback=heard.append).fit(X, Y)
    assert heard


def test_a_singular_system_is_left_to_the_general_method(monkeypatch):
    def singular(*_, **__):
        raise ridge_targets.LinAlgError

    X, Y = data(40, 5)
    want = dg.Ridge(1.0, tol=1e-9).fit(X, Y).coef_
    monkeypatch.setattr(ridge_targets, "cho_factor", singular)
    np.testing.assert_allclose(dg.Ridge(1.0, tol=1e-9).fit(X, Y).coef_, want, atol=1e-4)


def test_a_tiny_penalty_has_a_proof_or_a_warning():
    X, Y = data(30, 6)
    X[:, 5] = X[:, 4] * (1.0 + 1e-9)
    model = dg.Ridge(1e-9, tol=1e-6).fit(X, Y)
    for k, certificate in enumerate(model.certificate_):
        best = np.linalg.lstsq(X - X.mean(0), Y[:, k] - Y[:, k].mean(), rcond=None)[1]
        assert certificate.gap <= 1e-6 * max(certificate.dual, 1e-3 * np.var(Y[:, k]))
        assert best.size == 0 or certificate.primal >= 0.5 * best[0] / len(Y) * (1.0 - 1e-9)


def test_labels_of_several_classes_and_one_target_after_another():
    X, Y = data(60, 5)
    y = Y.argmax(axis=1)
    ours = dg.RidgeClassifier(tol=1e-9).fit(X, y)
    theirs = linear_model.RidgeClassifier(solver="svd").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    model = dg.Ridge(warm_start=True, tol=1e-9)
    for targets in (Y, Y[:, 0], Y):
        model.fit(X, targets)
        want = linear_model.Ridge(solver="svd").fit(X, targets)
        np.testing.assert_allclose(model.coef_, want.coef_, atol=1e-5)
    assert not model._starts_solved


def test_threads_do_not_matter():
    X, Y = data(60, 5, 6)
    one, two = dg.Ridge().fit(X, Y), dg.Ridge(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
