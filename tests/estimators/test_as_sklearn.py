"""What code that was written for scikit-learn does with estimators, beyond fit and predict."""

import pickle
import pickletools

import numpy as np
import pytest
import sklearn
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer

import dualgap as dg
from dualgap import losses

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def by_hand(model, fitted):
    model.coef_, model.intercept_, model.classes_ = (
        fitted.coef_,
        fitted.intercept_,
        fitted.classes_,
    )
    return model


@pytest.mark.parametrize(
    "model",
    [
        dg.LogisticRegression(),
        dg.LogisticRegressionCV(),
        dg.CertifiedClassifier(losses.Softmax()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_multiclass_model_set_by_hand_has_softmax_probabilities(model):
    X, y = IRIS
    fitted = linear_model.LogisticRegression(max_iter=1000).fit(X, y)
    model = by_hand(model, fitted)
    np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(
        model.predict_log_proba(X), np.log(fitted.predict_proba(X)), rtol=1e-9
    )


def test_a_one_vs_rest_model_set_by_hand_keeps_its_probabilities():
    X, y = IRIS
    fitted = dg.LogisticRegression(multi_class="ovr").fit(X, y)
    model = by_hand(dg.LogisticRegression(multi_class="ovr"), fitted)
    np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X), rtol=1e-14)


@pytest.mark.parametrize("name", ["Lasso", "ElasticNet", "PoissonRegressor"])
def test_a_warm_start_needs_coefficients_only(name):
    X, y = DIABETES
    warm = getattr(dg, name)(warm_start=True)
    warm.coef_ = np.zeros(X.shape[1])
    cold = getattr(dg, name)().fit(X, y)
    np.testing.assert_allclose(warm.fit(X, y).coef_, cold.coef_, rtol=1e-2, atol=1e-2)


def test_a_warm_start_of_several_targets_needs_coefficients_only():
    X, Y = DIABETES[0], np.stack([DIABETES[1], DIABETES[1][::-1]], axis=1)
    cold = dg.MultiTaskLasso(tol=1e-8).fit(X, Y)
    warm = dg.MultiTaskLasso(tol=1e-8, warm_start=True)
    warm.coef_ = np.zeros((2, X.shape[1]))
    np.testing.assert_allclose(warm.fit(X, Y).coef_, cold.coef_, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["LogisticRegression", "Lasso"])
def test_numbers_in_strings_are_refused_in_predict(name):
    X, y = IRIS
    model = getattr(dg, name)().fit(X, y)
    with pytest.raises(ValueError, match="strings"):
        model.predict(X.astype(str))
    np.testing.assert_allclose(model.predict(X.astype(object)), model.predict(X))
    np.testing.assert_allclose(model.predict(X.astype(int)), model.predict(X.astype(int) * 1.0))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fold_of_one_class_predicts_that_class(classes):
    X, y = load_breast_cancer(return_X_y=True) if classes == 2 else IRIS
    X, y = X[np.argsort(y)], np.sort(y)
    first, half = np.flatnonzero(y == 0)[:30], np.arange(len(y)) % 2 == 0
    folds = [(first, np.flatnonzero(half)), (np.flatnonzero(half), np.flatnonzero(~half))]
    model = dg.LogisticRegressionCV(Cs=3, cv=folds, tol=1e-6).fit(X, y)
    scores = model.scores_[classes - 1]
    np.testing.assert_allclose(scores[0], np.mean(y[half] == 0))
    losses = dg.LogisticRegressionCV(Cs=3, cv=folds, scoring="neg_log_loss").fit(X, y)
    assert (losses.scores_[classes - 1][0] < -1.0).all()  # certain, and wrong about most samples


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fold_of_one_class_of_a_support_vector_machine(classes):
    X, y = IRIS
    X, y = X[: 50 * classes], y[: 50 * classes]
    folds = [(np.flatnonzero(y == 1), np.arange(len(y))), (np.arange(len(y)), np.arange(len(y)))]
    model = dg.LinearSVCCV(Cs=[0.01, 1.0], cv=folds).fit(X, y)
    np.testing.assert_allclose(model.scores_[0], np.mean(y == 1))
    assert (model.scores_[1] > 0.8).all()


def test_a_fold_of_the_other_class_without_an_intercept():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    folds = [(np.flatnonzero(y == 1), np.arange(len(y))), (np.arange(len(y)), np.arange(len(y)))]
    model = dg.LogisticRegressionCV(Cs=3, cv=folds, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.scores_[1][0], np.mean(y == 1))


# --- parameters and attributes --------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        dg.Lasso(selection="cyclical"),
        dg.ElasticNetCV(selection="cyclical"),
        dg.LassoCV(precompute="always"),
        dg.Ridge(solver="choleski"),
        dg.RidgeClassifier(solver="choleski"),
        dg.RidgeCV(gcv_mode="eigh"),
        dg.LogisticRegression(solver="lbfsg"),
        dg.LogisticRegressionCV(solver="lbfsg"),
        dg.PoissonRegressor(solver="newton"),
        dg.QuantileRegressor(solver="high"),
        dg.LinearSVC(dual="maybe"),
        dg.LinearSVR(dual=None),
    ],
    ids=lambda model: type(model).__name__,
)
def test_misspelt_words_are_refused_although_they_change_nothing(model):
    X, y = IRIS
    with pytest.raises(ValueError, match="is unknown"):
        model.fit(X, y)


def test_words_of_scikit_learn_are_accepted():
    X, y = IRIS
    dg.Lasso(selection="random", precompute=X.T @ X).fit(X, y)
    dg.LinearSVC(dual=np.True_).fit(X, y)
    dg.RidgeCV(gcv_mode="svd").fit(X, y)
    assert dg.Ridge(solver="svd").fit(X, y).solver_ == "svd"
    with pytest.raises(ValueError, match="did you mean 'cyclic'"):
        dg.lasso_path(X, y, selection="cycle")


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("name", ["Ridge", "Lasso", "ElasticNet", "LinearRegression"])
def test_regressors_without_an_intercept_have_a_zero(name, targets):
    X, y = DIABETES
    y = y if targets == 1 else np.stack([y, -y], axis=1)
    model = getattr(dg, name)(fit_intercept=False).fit(X, y)
    assert np.shape(model.intercept_) == ()
    assert model.intercept_ == 0.0
    assert model.predict(X).shape == model.decision_radius(X).shape == y.shape
    model.set_params(warm_start=True).fit(X, y)


@pytest.mark.parametrize("name", ["LinearSVC", "RidgeClassifier", "LogisticRegression"])
@pytest.mark.parametrize("classes", [2, 3])
def test_classifiers_without_an_intercept_have_a_zero(name, classes):
    X, y = IRIS
    y = np.minimum(y, classes - 1)
    model = getattr(dg, name)(fit_intercept=False).fit(X, y)
    rows = name == "LogisticRegression"  # as in scikit-learn
    assert np.shape(model.intercept_) == ((len(model.coef_),) if rows else ())
    assert not np.any(model.intercept_)
    assert model.decision_function(X).shape == model.decision_radius(X).shape
    assert model.predict_certified(X).shape == y.shape


def test_rounds_of_svms_are_one_number():
    assert isinstance(dg.LinearSVC().fit(*IRIS).n_iter_, int)


def test_intercepts_are_numbers_of_numpy():
    X, y = DIABETES
    assert isinstance(dg.Ridge().fit(X, y).intercept_, np.float64)
    assert dg.Ridge().fit(X.astype(np.float32), y).intercept_.dtype == np.float32
    for model in (dg.Ridge(fit_intercept=False), dg.LinearSVC(fit_intercept=False)):
        assert type(model.fit(*IRIS).intercept_) is float  # SHAP takes np.float64 for an array


def test_the_lasso_has_paths_and_does_not_mind_check_input():
    X, y = DIABETES
    X = np.asfortranarray(X)
    alphas, coefs, _ = dg.ElasticNet.path(X, y, l1_ratio=0.7, alphas=[1.0, 0.1], tol=1e-10)
    theirs = linear_model.ElasticNet.path(X, y, l1_ratio=0.7, alphas=[1.0, 0.1], tol=1e-10)
    np.testing.assert_allclose(coefs, theirs[1], rtol=1e-4)
    np.testing.assert_array_equal(alphas, theirs[0])
    assert dg.LassoCV.path is dg.lasso_path
    fitted = dg.Lasso().fit(X, y, check_input=False)
    np.testing.assert_array_equal(fitted.coef_, dg.Lasso().fit(X, y).coef_)


@pytest.mark.parametrize("kind", ["lasso", "enet"])
def test_paths_of_several_targets_are_those_of_scikit_learn(kind):
    X, Y = DIABETES[0], np.stack([DIABETES[1], DIABETES[1] ** 1.1 + DIABETES[1][::-1]], axis=1)
    ours, theirs = (getattr(place, f"{kind}_path") for place in (dg, linear_model))
    alphas, coefs, gaps = ours(X, Y, n_alphas=4, eps=0.05, tol=1e-10)
    other = theirs(X, Y, alphas=alphas, tol=1e-12, max_iter=100_000)[1]
    np.testing.assert_allclose(coefs, other, atol=1e-3 * np.abs(other).max())
    share = {"lasso": 1.0, "enet": 0.5}[kind]
    model = dg.MultiTaskElasticNet(alphas[-1], l1_ratio=share, fit_intercept=False, tol=1e-10)
    np.testing.assert_allclose(coefs[:, :, -1], model.fit(X, Y).coef_, rtol=1e-3, atol=1e-3)
    assert (gaps >= 0.0).all()
    assert dg.MultiTaskLassoCV.path is dg.enet_path
    one = ours(X, Y[:, :1], alphas=alphas[2:3], coef_init=np.zeros((1, 10)))[1]
    np.testing.assert_allclose(one[0], ours(X, Y[:, 0], alphas=alphas[2:3])[1], atol=0.1)
    with pytest.raises(ValueError, match="alphas > 0"):
        ours(X, Y, alphas=[1.0, 0.0])


def test_weights_of_celer_are_factors_of_the_penalty():
    X, y = DIABETES
    weights = np.arange(1.0, 11.0)
    celer = dg.Lasso(0.1, weights=weights).fit(X, y)
    np.testing.assert_array_equal(
        celer.coef_, dg.Lasso(0.1, penalty_weight=weights).fit(X, y).coef_
    )
    grid = {"n_alphas": 3, "cv": 3}
    chosen = dg.LassoCV(**grid, weights=weights).fit(X, y)
    assert chosen.alpha_ == dg.LassoCV(**grid, penalty_weight=weights).fit(X, y).alpha_
    with pytest.raises(ValueError, match="only one"):
        celer.set_params(penalty_weight=weights).fit(X, y)
    rows = dg.MultiTaskLasso(0.1, penalty_weight=weights).fit(X, np.stack([y, y], axis=1))
    np.testing.assert_allclose(rows.coef_[0], rows.coef_[1], atol=1e-6)
    with pytest.raises(ValueError, match="one target"):
        rows.set_params(bounds=(-1, 1)).fit(X, np.stack([y, y], axis=1))


def test_folds_do_not_search_for_digits_that_float64_lacks():
    X, y = DIABETES
    with pytest.warns(ConvergenceWarning) as told:
        fine = dg.LassoCV(tol=1e-30, n_alphas=5, cv=3).fit(X, y)
    assert len(told) == 1  # about the refit: all points on folds are solved
    np.testing.assert_allclose(
        fine.mse_path_, dg.LassoCV(tol=1e-12, n_alphas=5, cv=3).fit(X, y).mse_path_, rtol=1e-14
    )


def test_paths_of_float32_are_float32_and_their_gaps_those_of_the_rounded_numbers():
    X, y = DIABETES
    X = X.astype(np.float32)
    alphas, coefs, gaps = dg.lasso_path(X, y, n_alphas=5, tol=1e-12, max_iter=20)
    assert coefs.dtype == np.float32
    for alpha, coef, gap in zip(alphas, coefs.T, gaps):
        problem = dg.Problem(X, y, "squared", "l1", alpha)
        best = dg.solve(problem, tol=1e-13, max_epochs=100).certificate.dual
        assert problem.primal(coef.astype(np.float64)) - best <= gap * (1 + 1e-9)
        assert gap > 0.0


# --- models without a proof -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [dg.LogisticRegression(), dg.LinearSVC(), dg.RidgeClassifier(), dg.LassoCV()]
)
def test_a_model_without_a_proof_predicts_and_is_small(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    y = (X[:, 0] + 0.1 * rng.normal(size=5000) > 0.0).astype(int)
    predicted, gap = model.fit(X, y).predict(X), model.dual_gap_
    assert model.without_proof() is model
    stored = pickle.dumps(model)
    assert len(stored) < 10_000
    words = [word for _, word, _ in pickletools.genops(stored) if isinstance(word, str)]
    types = {word for word in words if word.startswith("dualgap.")}
    assert types == {type(model).__module__}  # all that skops has to trust
    np.testing.assert_array_equal(pickle.loads(stored).predict(X), predicted)
    assert model.dual_gap_ == gap
    with pytest.raises(ValueError, match="without_proof"):
        model.decision_radius(X)
    assert (model.fit(X, y).decision_radius(X) >= 0.0).all()


# --- metadata routing -----------------------------------------------------------------------------


def test_the_score_of_logistic_regression_takes_weights_only_if_its_scorer_asks_for_them():
    X, y = IRIS
    weights = np.where(y == 0, 0.0, 1.0)
    plain = dg.LogisticRegressionCV(Cs=2, cv=3).fit(X, y)
    assert plain.score(X, y, sample_weight=weights) < plain.score(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = get_scorer("accuracy").set_score_request(sample_weight=True)
        weighted = dg.LogisticRegressionCV(Cs=2, cv=3, scoring=asks).fit(X, y)
        np.testing.assert_allclose(
            weighted.score(X, y, sample_weight=weights), plain.score(X[50:], y[50:])
        )
        weighted.scoring = get_scorer("accuracy").set_score_request(sample_weight=False)
        with pytest.raises(TypeError, match="not routed"):
            weighted.score(X, y, sample_weight=weights)
