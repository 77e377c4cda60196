"""Classification by ridge regression, with alpha chosen by leave-one-out or folds."""

import numpy as np
import pytest
from sklearn import linear_model as theirs
from sklearn.datasets import load_breast_cancer, load_iris, make_multilabel_classification
from sklearn.model_selection import LeaveOneOut, cross_val_score

import dualgap as dg
from dualgap.estimators import RidgeClassifierCV

ALPHAS = np.logspace(-2, 3, 6)
DATA = {
    "two classes": load_breast_cancer(return_X_y=True),
    "three classes": load_iris(return_X_y=True),
    "several labels": make_multilabel_classification(random_state=0),
}


@pytest.mark.parametrize("options", [{}, {"cv": 3}, {"class_weight": "balanced"}], ids=str)
@pytest.mark.parametrize("name", DATA)
def test_it_chooses_and_fits_as_scikit_learn(name, options):
    X, y = DATA[name]
    if y.ndim == 2 and "class_weight" in options:
        options = {}
    own = RidgeClassifierCV(ALPHAS, tol=1e-8, **options).fit(X, y)
    other = theirs.RidgeClassifierCV(ALPHAS, **options).fit(X, y)
    assert own.alpha_ == other.alpha_
    assert own.best_score_ == pytest.approx(other.best_score_, rel=1e-6)
    np.testing.assert_allclose(own.coef_.ravel(), other.coef_.ravel(), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(own.predict(X), other.predict(X))
    assert np.max(own.dual_gap_) <= 1e-7


@pytest.mark.parametrize("name", DATA)
def test_scores_are_those_of_samples_left_out(name):
    X, y = DATA[name]
    X, y = X[::5], y[::5]
    for alpha in (0.1, 100.0):
        model = RidgeClassifierCV([alpha], scoring="accuracy").fit(X, y)
        one = theirs.RidgeClassifier(alpha=alpha)
        expected = cross_val_score(one, X, y, cv=LeaveOneOut()).mean()
        assert model.best_score_ == pytest.approx(expected)


def test_scores_of_decision_values_and_weights():
    X, y = DATA["two classes"]
    model = RidgeClassifierCV(ALPHAS, scoring="roc_auc", store_cv_results=True).fit(X, y)
    assert model.cv_results_.shape == (len(y), 1, len(ALPHAS))
    assert 0.9 < model.best_score_ < 1.0
    weights = np.random.default_rng(0).integers(1, 3, len(y))
    once = RidgeClassifierCV(ALPHAS, tol=1e-9).fit(X, y, weights)
    other = theirs.RidgeClassifierCV(ALPHAS).fit(X, y, weights)
    assert once.alpha_ == other.alpha_
    np.testing.assert_allclose(once.coef_.ravel(), other.coef_.ravel(), rtol=1e-5, atol=1e-5)


def test_what_only_leave_one_out_can_do_is_refused():
    X, y = DATA["three classes"]
    with pytest.raises(ValueError, match="leave-one-out"):
        RidgeClassifierCV(cv=3, store_cv_results=True).fit(X, y)
    with pytest.raises(ValueError, match="leave-one-out"):
        RidgeClassifierCV(cv=3).fit(X, y, offset=np.zeros((len(y), 3)))
    assert isinstance(dg.RidgeClassifierCV(), RidgeClassifierCV)
