"""Cross-validation: the choices and scores of scikit-learn at tight tolerance, with a proof."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import linear_model
from sklearn.base import clone
from sklearn.metrics import check_scoring, get_scorer, make_scorer, max_error
from sklearn.model_selection import GridSearchCV, KFold

import dualgap as dg
from dualgap.estimators import ElasticNetCV, LassoCV, LogisticRegressionCV, RidgeCV
from dualgap.estimators.selection.leave_one_out import LeaveOneOut

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 6)) + 1.0
X[rng.random(X.shape) < 0.2] = 0.0
y = X @ [2.0, -1.0, 0.5, 0.0, 0.0, 0.0] + rng.standard_normal(40) + 3.0
WEIGHTS = rng.random(40) + 0.2
TWO = np.where(y > np.median(y), "yes", "no")
THREE = np.digitize(y, np.quantile(y, [0.3, 0.7]))
TIGHT = {"tol": 1e-10}
THEIRS = {"tol": 1e-12, "max_iter": 100_000}


def assert_same_choice(ours, theirs):
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-10)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-10)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-4)
    assert ours.mse_path_.shape == theirs.mse_path_.shape


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_lasso_chooses_as_scikit_learn(weights):
    ours = LassoCV(alphas=8, eps=1e-2, **TIGHT).fit(X, y, sample_weight=weights)
    theirs = linear_model.LassoCV(alphas=8, eps=1e-2, **THEIRS).fit(X, y, sample_weight=weights)
    assert_same_choice(ours, theirs)
    problem = dg.Problem(X, y, "squared", "l1", ours.alpha_, weights, intercept=True)
    proof = dg.certify(problem, ours.coef_, intercept=ours.intercept_)
    assert ours.dual_gap_ == ours.certificate_.gap <= 1e-10 * problem.scale
    assert proof.dual <= ours.certificate_.primal


def test_lasso_takes_sparse_data_threads_and_folds_of_its_own():
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    dense = LassoCV(n_alphas=5, eps=1e-2, cv=folds, **TIGHT).fit(X, y)
    assert dense.mse_path_.shape == (5, 3)
    for storage in (sp.csr_array, sp.csc_array):
        sparse = LassoCV(alphas=5, eps=1e-2, cv=folds, n_jobs=2, **TIGHT).fit(storage(X), y)
        np.testing.assert_allclose(sparse.mse_path_, dense.mse_path_, rtol=1e-5)
        assert sparse.alpha_ == pytest.approx(dense.alpha_)


def test_positive_coefficients():
    ours = LassoCV(alphas=5, eps=1e-2, positive=True, **TIGHT).fit(X, y)
    theirs = linear_model.LassoCV(alphas=5, eps=1e-2, positive=True, **THEIRS).fit(X, y)
    assert_same_choice(ours, theirs)


@pytest.mark.parametrize("alphas", [6, [0.01, 0.3, 0.1]])
def test_elastic_net_chooses_as_scikit_learn(alphas):
    setting = {"alphas": alphas, "eps": 1e-2, "l1_ratio": [0.3, 0.8]}
    ours = ElasticNetCV(**setting, **TIGHT).fit(X, y)
    theirs = linear_model.ElasticNetCV(**setting, **THEIRS).fit(X, y)
    assert_same_choice(ours, theirs)
    assert ours.l1_ratio_ == theirs.l1_ratio_


def test_no_grid_without_l1():
    with pytest.raises(ValueError, match="alphas yourself"):
        ElasticNetCV(l1_ratio=0.0).fit(X, y)
    assert ElasticNetCV(l1_ratio=0.0, alphas=[1.0, 0.1]).fit(X, y).alpha_ in (1.0, 0.1)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(12, 4), (5, 8)])
@pytest.mark.parametrize("intercept", [True, False])
def test_leave_one_out_is_leaving_out_one_by_one(storage, shape, intercept):
    rng = np.random.default_rng(1)
    A = rng.standard_normal(shape) + 2.0
    Y = rng.standard_normal((shape[0], 2))
    weights = rng.random(shape[0]) + 0.1
    weights[1] = 0.0
    for alpha in (1e-5, 0.3, 20.0):
        left_out = LeaveOneOut(storage(A), weights, intercept).residuals(Y, np.array([alpha]))[
            :, :, 0
        ]
        for i in range(shape[0]):
            rest = np.arange(shape[0]) != i
            model = linear_model.Ridge(alpha, fit_intercept=intercept, solver="svd")
            model.fit(A[rest], Y[rest], sample_weight=weights[rest])
            want = Y[i] - model.predict(A[[i]])[0]
            np.testing.assert_allclose(left_out[i], want, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_ridge_chooses_as_scikit_learn_by_leave_one_out(weights, scoring):
    setting = {"alphas": [0.1, 1.0, 10.0, 100.0], "scoring": scoring, "store_cv_results": True}
    ours = RidgeCV(**setting, **TIGHT).fit(X, y, sample_weight=weights)
    theirs = linear_model.RidgeCV(**setting).fit(X, y, sample_weight=weights)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.dual_gap_ == ours.certificate_.gap


def test_ridge_with_folds_and_with_targets_of_their_own_strength():
    setting = {"alphas": [0.1, 1.0, 30.0], "cv": 4}
    ours = RidgeCV(**setting, **TIGHT).fit(X, y)
    theirs = linear_model.RidgeCV(**setting).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-5)
    Y = np.column_stack([y, rng.standard_normal(len(y))])
    for apart in (False, True):
        setting = {"alphas": [0.1, 1.0, 300.0], "alpha_per_target": apart}
        ours = RidgeCV(**setting, **TIGHT).fit(X, Y)
        theirs = linear_model.RidgeCV(**setting).fit(X, Y)
        np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
        np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    with pytest.raises(ValueError, match="leave-one-out"):
        RidgeCV(cv=3, store_cv_results=True).fit(X, y)
    with pytest.raises(ValueError, match="alphas"):
        RidgeCV(alphas=[0.0, 1.0]).fit(X, y)


def theirs_logistic(**setting):
    given = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 10_000}
    given.update(scoring="neg_log_loss", use_legacy_attributes=True)
    return linear_model.LogisticRegressionCV(**{**given, **setting})


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("legacy", [True, False])
def test_logistic_regression_chooses_as_scikit_learn(labels, legacy):
    setting = {
        "Cs": [10.0, 0.1, 1.0],
        "l1_ratios": (0.0,),
        "class_weight": "balanced",
        "scoring": "neg_log_loss",
        "use_legacy_attributes": legacy,
    }
    ours = LogisticRegressionCV(**setting, **TIGHT).fit(X, labels, sample_weight=WEIGHTS)
    theirs = theirs_logistic(**setting).fit(X, labels, sample_weight=WEIGHTS)
    for name in ("C_", "Cs_", "l1_ratio_", "l1_ratios_", "classes_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    assert np.shape(ours.n_iter_) == np.shape(theirs.n_iter_)
    if not legacy:
        np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-4)
        np.testing.assert_allclose(ours.coefs_paths_, theirs.coefs_paths_, atol=5e-3)
        return
    assert list(ours.scores_) == list(theirs.scores_)
    for label, scores in theirs.scores_.items():
        np.testing.assert_allclose(ours.scores_[label], scores, rtol=1e-4)
        assert ours.coefs_paths_[label].shape == theirs.coefs_paths_[label].shape


def test_logistic_regression_chooses_a_share_of_l1_and_averages():
    setting = {"Cs": [0.1, 1.0], "l1_ratios": np.array([0.2, 1.0]), "refit": False}
    ours = LogisticRegressionCV(**setting, scoring="accuracy", **TIGHT).fit(X, TWO)
    theirs = theirs_logistic(**setting, scoring="accuracy", solver="saga").fit(X, TWO)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.C_, theirs.C_)
    np.testing.assert_allclose(ours.l1_ratio_, theirs.l1_ratio_)
    np.testing.assert_allclose(ours.scores_["yes"], theirs.scores_["yes"])
    plain = LogisticRegressionCV(Cs=2).fit(X, TWO)
    assert plain.scores_["yes"].shape == (5, 2)
    assert plain.score(X, TWO) == np.mean(plain.predict(X) == TWO)


def test_a_class_that_a_fold_lacks():
    labels = THREE.copy()
    labels[0] = 7
    folds = [(np.arange(1, 40), np.arange(0, 5)), (np.arange(0, 30), np.arange(30, 40))]
    model = LogisticRegressionCV(Cs=[0.1, 1.0], cv=folds).fit(X, labels)
    assert model.coefs_paths_[7].shape == (2, 2, 7)
    assert (model.coefs_paths_[7][0, :, -1] == -np.inf).all()
    assert np.isfinite(model.coefs_paths_[7][1]).all()


def test_a_mean_of_folds_keeps_no_proof_of_an_earlier_fit():
    model = LogisticRegressionCV(Cs=2, cv=2).fit(X, TWO)
    assert model.decision_radius(X).shape == TWO.shape
    model.set_params(refit=False).fit(X, TWO)
    for name in ("certificate_", "dual_gap_", "dual_coef_", "support_certified_", "solution_"):
        assert not hasattr(model, name)
    for question in (model.decision_radius, model.predict_certified):
        with pytest.raises(ValueError, match="refit=True"):
            question(X)


def test_a_scorer_gets_the_weights_of_its_fold():
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("r2").set_score_request(sample_weight=True)
        ours = RidgeCV(cv=3, scoring=scorer, **TIGHT).set_fit_request(sample_weight=True)
        theirs = linear_model.RidgeCV(cv=3, scoring=scorer).set_fit_request(sample_weight=True)
        ours.fit(X, y, sample_weight=WEIGHTS)
        theirs.fit(X, y, sample_weight=WEIGHTS)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-6)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", make_scorer(max_error)])
def test_ridge_scores_folds_with_weights_if_the_score_can(scoring):
    ours = RidgeCV(alphas=[3.0], cv=3, scoring=scoring, **TIGHT).fit(X, y, sample_weight=WEIGHTS)
    score, scores = check_scoring(ours, scoring=scoring), []
    for train, test in KFold(3).split(X):
        model = linear_model.Ridge(alpha=3.0).fit(X[train], y[train], WEIGHTS[train])
        own = {} if callable(scoring) else {"sample_weight": WEIGHTS[test]}
        scores.append(score(model, X[test], y[test], **own))
    assert ours.best_score_ == pytest.approx(np.mean(scores), rel=1e-6)


def test_callbacks_see_the_refit(capsys):
    seen = []
    LassoCV(alphas=2, cv=2, callback=seen.append).fit(X, y)
    assert seen
    callback = pytest.importorskip("sklearn.callback")
    model = LassoCV(alphas=2, cv=2)
    clone(model).set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "Lasso - fit" in capsys.readouterr().out
    search = GridSearchCV(model, {"eps": [0.1, 0.2]}, cv=2).set_callbacks(callback.ProgressBar())
    search.fit(X, y)
    assert "GridSearchCV - fit" in capsys.readouterr().out
