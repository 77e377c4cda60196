"""What code that was written for scikit-learn does with estimators, beyond fit and predict."""

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

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


def test_a_fold_of_the_other_class_without_an_intercept():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    folds = [(np.flatnonzero(y == 1), np.arange(len(y))), (np.arange(len(y)), np.arange(len(y)))]
    model = dg.LogisticRegressionCV(Cs=3, cv=folds, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.scores_[1][0], np.mean(y == 1))
