"""Offsets of estimators: fits, predictions, cross-validation, metadata routing."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.linear_model
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.linear_model import RidgeCV as SklearnRidgeCV
from sklearn.metrics import d2_tweedie_score, mean_absolute_error
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import dgcheck
import dualgap as dg


@pytest.fixture(scope="module")
def claims():
    """X, counts, exposures and weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)) * [1.0, 20.0, 0.1, 1.0] + [0.0, 100.0, 0.0, 3.0]
    exposure = rng.uniform(0.05, 3.0, size=150)
    mean = exposure * np.exp(0.4 * X[:, 0] + 0.02 * (X[:, 1] - 100.0) - 0.5)
    return X, rng.poisson(mean).astype(float), exposure, rng.uniform(0.5, 2.0, size=150)


@pytest.fixture(scope="module")
def classes():
    """X, labels of two classes, of three, and offsets for both."""
    rng = np.random.default_rng(1)
    X, o = rng.normal(size=(120, 3)), rng.normal(size=(120, 3))
    three = np.array(["a", "b", "c"])[
        (X @ rng.normal(size=(3, 3)) + o + rng.gumbel(size=o.shape)).argmax(axis=1)
    ]
    return X, np.where(three == "c", "yes", "no"), three, o[:, 2], o


def test_poisson_rates_are_those_of_statsmodels(claims):
    sm = pytest.importorskip("statsmodels.api")
    X, y, exposure, _ = claims
    model = dg.PoissonRegressor(alpha=0.0, tol=1e-12).fit(X, y, offset=np.log(exposure))
    family = sm.families.Poisson()
    expected = sm.GLM(y, sm.add_constant(X), family=family, exposure=exposure).fit(tol=1e-12)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), expected.params, rtol=1e-6)
    np.testing.assert_allclose(
        model.predict(X, offset=np.log(exposure)), expected.fittedvalues, rtol=1e-6
    )
    np.testing.assert_allclose(model.predict(X), expected.fittedvalues / exposure, rtol=1e-6)


def test_standard_errors_know_offsets(claims, classes):
    sm = pytest.importorskip("statsmodels.api")
    X, y, exposure, _ = claims
    model = dg.PoissonRegressor(alpha=0.0, tol=1e-12).fit(X, y, offset=np.log(exposure))
    expected = sm.GLM(y, sm.add_constant(X), sm.families.Poisson(), exposure=exposure).fit()
    errors = np.sqrt(np.diag(model.summary().covariance))
    np.testing.assert_allclose(errors, np.roll(expected.bse, -1), rtol=1e-5)
    X, two, three, o, rows = classes
    model = dg.LogisticRegression(C=np.inf, tol=1e-12).fit(X, two, offset=o)
    binomial = sm.families.Binomial()
    expected = sm.GLM((two == "yes") * 1.0, sm.add_constant(X), binomial, offset=o).fit()
    errors = np.sqrt(np.diag(model.summary().covariance))
    np.testing.assert_allclose(errors, np.roll(expected.bse, -1), rtol=1e-5)
    # Offsets that are constant for each class move the intercepts alone.
    one = dg.LogisticRegression(C=1.0, tol=1e-12).fit(X, three)
    moved = dg.LogisticRegression(C=1.0, tol=1e-12).fit(X, three, offset=np.tile(rows[0], (120, 1)))
    np.testing.assert_allclose(moved.summary().covariance, one.summary().covariance, atol=1e-6)


def test_offsets_are_rates_weighted_by_exposure(claims):
    """t·e^z − y·z is t·(e^z − (y/t)·z)."""
    X, y, t, s = claims
    one = dg.PoissonRegressor(alpha=0.1, tol=1e-11).fit(X, y, s, offset=np.log(t))
    mean = np.sum(s * t) / np.sum(s)
    other = dg.PoissonRegressor(alpha=0.1 / mean, tol=1e-11).fit(X, y / t, s * t)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)
    assert one.score(X, y, offset=np.log(t)) == pytest.approx(
        d2_tweedie_score(y, t * other.predict(X), power=1), rel=1e-6
    )


def test_weights_with_offsets_repeat_samples(claims):
    X, y, t, _ = claims
    s = np.random.default_rng(2).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), s)
    for model, o in (
        (dg.PoissonRegressor(tol=1e-11), np.log(t)),
        (dg.HuberRegression(tol=1e-11), t),
        (dg.LinearSVR(tol=1e-11, loss="squared_epsilon_insensitive"), t),
    ):
        one = clone(model).fit(X, y, s.astype(float), offset=o)
        two = clone(model).fit(X[rows], y[rows], offset=o[rows])
        np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-5, atol=1e-8)


REGRESSORS = [
    dg.Ridge(), dg.Lasso(alpha=0.1), dg.ElasticNet(alpha=0.1), dg.HuberRegression(),
    dg.QuantileRegressor(alpha=0.01), dg.LinearSVR(), dg.LassoCV(cv=3), dg.ElasticNetCV(cv=3),
    dg.RidgeCV(), dg.RidgeCV(cv=3, scoring="neg_mean_squared_error"),
    dg.CertifiedRegressor("squared"), dg.Ridge(fit_intercept=False), dg.Lasso(positive=True),
]  # fmt: skip


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: repr(model)[:30])
def test_offsets_of_residual_losses_lower_targets(model, claims):
    X, y, t, s = claims
    one = clone(model).fit(X, y, s, offset=pd.Series(t))
    two = clone(model).fit(X, y - t, s)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.predict(X, offset=t), two.predict(X) + t, rtol=1e-9)
    assert one.dual_gap_ == pytest.approx(two.dual_gap_, rel=1e-3, abs=1e-12)
    if not isinstance(model, (dg.LassoCV, dg.ElasticNetCV)):
        assert one.score(X, y, offset=t) == pytest.approx(
            sklearn.metrics.r2_score(y, two.predict(X) + t), rel=1e-9
        )


@pytest.mark.parametrize("cv", [None, 3])
def test_scores_of_ridge_cv_are_those_of_predictions_with_offsets(cv, claims):
    X, y, t, _ = claims
    alphas = np.logspace(-2, 3, 6)
    model = dg.RidgeCV(alphas, cv=cv, scoring="neg_mean_absolute_error")
    model.fit(X, y, offset=t)
    folds = KFold(len(y) if cv is None else cv).split(X)
    found, predicted = [], np.empty((len(alphas), len(y)))
    for train, test in folds:
        for k, alpha in enumerate(alphas):
            own = SklearnRidgeCV([alpha]).fit(X[train], (y - t)[train])
            predicted[k, test] = own.predict(X[test]) + t[test]
        found.append([-mean_absolute_error(y[test], line[test]) for line in predicted])
    mean = np.mean(found, axis=0)
    assert model.alpha_ == alphas[np.argmax(mean)]
    assert model.best_score_ == pytest.approx(mean.max(), rel=1e-6)


def test_several_targets(claims):
    X, y, t, _ = claims
    Y, own = np.column_stack([y, y + t]), np.column_stack([t, -t])
    for offset in (t, own):
        model = dg.Ridge().fit(X, Y, offset=offset)
        columns = np.column_stack([offset, offset]) if offset.ndim == 1 else offset
        expected = dg.Ridge().fit(X, Y - columns)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.predict(X, offset), expected.predict(X) + columns)


def test_logistic_regression_of_two_classes(classes):
    X, y, _, o, _ = classes
    model = dg.LogisticRegression(C=2.0, tol=1e-12).fit(X, y, offset=o)
    sign = np.where(y == "yes", 1.0, -1.0)

    def objective(v):
        return 0.5 * v[:3] @ v[:3] + 2.0 * np.logaddexp(0, -sign * (X @ v[:3] + v[3] + o)).sum()

    best = minimize(objective, np.zeros(4), options={"gtol": 1e-9})
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), best.x, atol=1e-6)
    z = X @ best.x[:3] + best.x[3] + o
    np.testing.assert_allclose(model.decision_function(X, offset=o), z, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X, offset=o)[:, 1], 1 / (1 + np.exp(-z)), 1e-4)
    np.testing.assert_array_equal(model.predict(X, o), np.where(z > 0, "yes", "no"))
    assert model.score(X, y, offset=o) == np.mean(model.predict(X, o) == y)
    proven = model.predict_certified(X, offset=o)
    assert proven.any()
    np.testing.assert_array_equal(
        proven, np.abs(model.decision_function(X, o)) > model.decision_radius(X, o)
    )


def test_softmax_has_an_offset_for_each_class(classes):
    X, _, y, _, o = classes
    model = dg.LogisticRegression(C=2.0, tol=1e-12).fit(X, y, offset=o)
    codes = np.searchsorted(["a", "b", "c"], y)

    def objective(v):
        z = X @ v[:9].reshape(3, 3) + v[9:] + o
        losses = logsumexp(z, axis=1) - z[np.arange(120), codes]
        return 0.5 * v[:9] @ v[:9] + 2.0 * losses.sum()

    best = minimize(objective, np.zeros(12), options={"gtol": 1e-8}).x
    np.testing.assert_allclose(model.coef_, best[:9].reshape(3, 3).T, atol=1e-5)
    expected = softmax(X @ best[:9].reshape(3, 3) + best[9:] + o, axis=1)
    np.testing.assert_allclose(model.predict_proba(X, offset=o), expected, atol=1e-5)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X, o)), expected, atol=1e-5)
    assert model.predict_certified(X, offset=o).any()


@pytest.mark.parametrize("model", [dg.LinearSVC(), dg.RidgeClassifier()], ids=repr)
def test_one_vs_rest_has_an_offset_for_each_class(model, classes):
    X, _, y, _, o = classes
    together = clone(model).set_params(tol=1e-10).fit(X, y, offset=o)
    for k, label in enumerate("abc"):
        own = clone(model).set_params(tol=1e-10).fit(X, y == label, offset=o[:, k])
        np.testing.assert_allclose(together.coef_[k], own.coef_[0], atol=1e-6)
    assert together.decision_function(X, offset=o).shape == (120, 3)
    assert together.predict_certified(X, offset=o).shape == (120,)


def test_logistic_regression_cv_scores_predictions_with_offsets(classes):
    X, two, three, o, rows = classes
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    for y, offset in ((two, o), (three, rows)):
        for scoring in (None, "neg_log_loss"):
            model = dg.LogisticRegressionCV(cv=folds, Cs=[0.01, 1.0], scoring=scoring, tol=1e-8)
            model.fit(X, y, offset=offset)
            scores = np.zeros((4, 2))
            for i, (train, test) in enumerate(folds):
                for k, C in enumerate([0.01, 1.0]):
                    one = dg.LogisticRegression(C=C, tol=1e-8)
                    one.fit(X[train], y[train], offset=offset[train])
                    if scoring is None:
                        scores[i, k] = one.score(X[test], y[test], offset=offset[test])
                    else:
                        chances = one.predict_log_proba(X[test], offset[test])
                        codes = np.searchsorted(one.classes_, y[test])
                        scores[i, k] = np.mean(chances[np.arange(len(test)), codes])
            np.testing.assert_allclose(model.scores_[model.classes_[-1]], scores, atol=1e-4)
            assert model.C_[0] == [0.01, 1.0][np.argmax(scores.sum(axis=0))]
            refit = dg.LogisticRegression(C=model.C_[0], tol=1e-8).fit(X, y, offset=offset)
            np.testing.assert_allclose(model.coef_, refit.coef_, atol=1e-4)
            if scoring is None:
                assert model.score(X, y, offset=offset) == refit.score(X, y, offset=offset)


def test_metadata_routing_brings_offsets_to_folds(claims):
    X, y, t, _ = claims
    o = np.log(t)
    with sklearn.config_context(enable_metadata_routing=True):
        model = dg.PoissonRegressor(tol=1e-8).set_fit_request(offset=True)
        model.set_score_request(offset=True)
        scores = cross_val_score(model, X, y, params={"offset": o}, cv=KFold(3))
        search = GridSearchCV(model, {"alpha": [1e-3, 10.0]}, cv=KFold(3)).fit(X, y, offset=o)
    expected = []
    for train, test in KFold(3).split(X):
        own = dg.PoissonRegressor(tol=1e-8).fit(X[train], y[train], offset=o[train])
        expected.append(own.score(X[test], y[test], offset=o[test]))
    np.testing.assert_allclose(scores, expected)
    best = dg.PoissonRegressor(alpha=search.best_params_["alpha"], tol=1e-8).fit(X, y, offset=o)
    np.testing.assert_allclose(search.best_estimator_.coef_, best.coef_)


def test_proofs_and_pickles_of_fits_with_offsets(tmp_path, claims, classes):
    X, y, t, s = claims
    model = dg.PoissonRegressor().fit(X, y, s, offset=np.log(t))
    np.savez(tmp_path / "data.npz", X=X, y=y)
    assert dgcheck.main([str(tmp_path / "data.npz"), str(model.save_proof(tmp_path / "a"))]) == 0
    X, two, three, o, rows = classes
    for labels, offset in ((two, o), (three, rows)):
        for kind in (dg.LogisticRegression, dg.LinearSVC):
            model = kind().fit(X, labels, offset=offset)
            np.savez(tmp_path / "data.npz", X=X, y=labels)
            proof = model.save_proof(tmp_path / "b")
            assert dgcheck.main([str(tmp_path / "data.npz"), str(proof)]) == 0
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(
                again.predict_certified(X, offset), model.predict_certified(X, offset)
            )


def test_a_warm_start_keeps_its_offsets(claims):
    X, y, t, _ = claims
    model = dg.PoissonRegressor(warm_start=True, tol=1e-6).fit(X, y, offset=np.log(t))
    first = model.coef_.copy()
    model.fit(X, y, offset=np.log(t))
    np.testing.assert_allclose(model.coef_, first, rtol=1e-3)


def test_certify_takes_the_offsets_of_glum_and_of_named_objectives(claims):
    X, y, t, s = claims
    o = np.log(t)
    model = dg.PoissonRegressor(alpha=0.1, tol=1e-10).fit(X, y, s, offset=o)
    named = {"loss": "poisson", "penalty": "l2", "lam": 0.1, "sample_weight": s}
    proof = dg.certify(X, y, model.coef_, model.intercept_, offset=o, **named)
    assert proof.gap <= 1e-8
    assert dg.certify(X, y, model.coef_, model.intercept_, **named).gap > 1e-3
    glum = pytest.importorskip("glum")
    theirs = glum.GeneralizedLinearRegressor(
        family="poisson", alpha=0.1, l1_ratio=0.0, gradient_tol=1e-10
    )
    theirs.fit(X, y, sample_weight=s, offset=o)
    found = dg.certify(theirs, X, y, s, offset=o)
    assert found.gap <= 1e-8
    assert found.primal == pytest.approx(model.certificate_.primal, rel=1e-7)
    linear = sklearn.linear_model.Ridge().fit(X, y)
    with pytest.raises(ValueError, match="offset: no Ridge of sklearn is fitted with one"):
        dg.certify(linear, X, y, offset=o)


def test_refusals(claims, classes):
    X, y, t, _ = claims
    for offset in (t[:-1], t.reshape(-1, 2), np.where(t > 1, np.nan, t)):
        with pytest.raises(ValueError, match="offset"):
            dg.PoissonRegressor().fit(X, y, offset=offset)
    model = dg.PoissonRegressor().fit(X, y, offset=t)
    with pytest.raises(ValueError, match=r"offset must have shape \(150,\)"):
        model.predict(X, offset=t[:3])
    X, _, three, o, _ = classes
    with pytest.raises(ValueError, match=r"offset must have shape \(120, 3\)"):
        dg.LogisticRegression().fit(X, three, offset=o)
