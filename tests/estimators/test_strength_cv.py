"""Strengths chosen by cross-validation, against scikit-learn's grid search over our estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, KFold

import dgcheck
import dualgap as dg

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)) * [1.0, 3.0, 0.5, 1.0] + [0.0, 1.0, 0.0, 0.0]
Z = X @ [0.5, -0.2, 0.4, 0.0] + 0.5 * RNG.standard_normal(60)
COUNTS = RNG.poisson(np.exp(Z)).astype(float)
THREE = np.array(["a", "b", "c"])[np.digitize(Z, [-0.4, 0.4])]
WEIGHTS = RNG.integers(0, 3, 60).astype(float)
GRID = [1e-3, 0.1, 1.0]
FOLDS = KFold(4, shuffle=True, random_state=0)
PINBALL = make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.3)
CASES = {
    "poisson": (dg.PoissonRegressorCV(alphas=GRID), dg.PoissonRegressor(), COUNTS,
                "neg_mean_poisson_deviance"),
    "svc": (dg.LinearSVCCV(Cs=GRID, class_weight="balanced"), dg.LinearSVC(class_weight="balanced"),
            THREE, None),
    "svr": (dg.LinearSVRCV(Cs=GRID, epsilon=0.1), dg.LinearSVR(epsilon=0.1), Z, None),
    "quantile": (dg.QuantileRegressorCV(alphas=GRID, quantile=0.3),
                 dg.QuantileRegressor(quantile=0.3), Z, PINBALL),
}  # fmt: skip


@pytest.mark.parametrize("scoring", [None, "given"])
@pytest.mark.parametrize("name", CASES)
def test_the_choice_is_that_of_a_grid_search(name, scoring):
    ours, plain, y, usual = CASES[name]
    if scoring:
        scoring = usual = "accuracy" if name == "svc" else "neg_mean_absolute_error"
    ours = clone(ours).set_params(cv=FOLDS, scoring=scoring, tol=1e-9).fit(X, y)
    strength = ours._strength
    plain = clone(plain).set_params(tol=1e-9)
    found = GridSearchCV(plain, {strength: GRID}, cv=FOLDS, scoring=usual).fit(X, y)
    assert getattr(ours, f"{strength}_") == found.best_params_[strength]
    np.testing.assert_array_equal(getattr(ours, f"{strength}s_"), GRID)
    for k in range(4):
        split = found.cv_results_[f"split{k}_test_score"]
        np.testing.assert_allclose(ours.scores_[k], split, atol=1e-3)
    np.testing.assert_allclose(ours.coef_, found.best_estimator_.coef_, atol=1e-3)
    assert np.max(ours.dual_gap_) >= 0.0
    np.testing.assert_array_equal(ours.predict(X), clone(ours).fit(X, y).predict(X))


@pytest.mark.parametrize("name", CASES)
def test_weights_are_repeated_samples(name):
    ours, _, y, _ = CASES[name]
    train = np.arange(60) % 2 == 0
    counts = WEIGHTS.astype(int)
    owner = np.repeat(np.arange(60), counts)
    ours = clone(ours).set_params(tol=1e-9)
    split = [(np.flatnonzero(train), np.flatnonzero(~train))]
    again = [(np.flatnonzero(train[owner]), np.flatnonzero(~train[owner]))]
    one = clone(ours).set_params(cv=split).fit(X, y, sample_weight=WEIGHTS)
    two = clone(ours).set_params(cv=again).fit(X[owner], y[owner])
    np.testing.assert_allclose(one.scores_, two.scores_, atol=1e-3)


@pytest.mark.parametrize("name", CASES)
def test_frames_sparse_data_threads_pickles_and_proofs(name, tmp_path, capsys):
    ours, _, y, _ = CASES[name]
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = clone(ours).fit(frame, pd.Series(y), sample_weight=WEIGHTS + 0.5)
    assert list(fitted.feature_names_in_) == list("abcd")
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(frame), fitted.predict(frame))
    sparse = clone(ours).set_params(n_jobs=2).fit(sp.csr_array(X), y, sample_weight=WEIGHTS + 0.5)
    np.testing.assert_allclose(sparse.scores_, fitted.scores_, atol=0.05)
    fitted.save_proof(tmp_path / "model.dgp")
    np.savez(tmp_path / "data.npz", X=X, y=y, sample_weight=WEIGHTS + 0.5)
    if name != "svc":  # its weights are those of classes, too, for each class others
        code = dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "model.dgp")])
        assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", ["svr", "quantile"])
def test_offsets_lower_the_targets(name):
    ours, _, y, _ = CASES[name]
    offset = X[:, 1]
    ours = clone(ours).set_params(scoring="neg_mean_absolute_error", tol=1e-10)
    if name == "svr":  # whose intercept is unique with squares
        ours.set_params(loss="squared_epsilon_insensitive")
    one = clone(ours).fit(X, y + offset, offset=offset)
    two = clone(ours).fit(X, y)
    np.testing.assert_allclose(one.scores_, two.scores_, atol=1e-4)
    with pytest.raises(ValueError, match="LinearSVCCV takes no offset"):
        dg.LinearSVCCV().fit(X, THREE, offset=offset)


def test_grids_of_their_own():
    poisson = dg.PoissonRegressorCV(alphas=3).fit(X, COUNTS)
    np.testing.assert_allclose(poisson.alphas_, [1e4, 1.0, 1e-4])
    for fit_intercept in (True, False):
        model = dg.QuantileRegressorCV(alphas=3, quantile=0.3, fit_intercept=fit_intercept)
        most = model.fit(X, Z).alphas_[0]
        plain = dg.QuantileRegressor(quantile=0.3, fit_intercept=fit_intercept)
        assert not plain.set_params(alpha=1.01 * most).fit(X, Z).coef_.any()
        assert plain.set_params(alpha=0.7 * most).fit(X, Z).coef_.any()


@pytest.mark.parametrize("wrong", [0, -1.0, [], [0.0], [-1.0, 1.0], [np.inf], "many"])
def test_wrong_grids_are_refused(wrong):
    with pytest.raises(ValueError, match="alphas"):
        dg.PoissonRegressorCV(alphas=wrong).fit(X, COUNTS)
