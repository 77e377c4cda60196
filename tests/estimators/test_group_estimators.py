"""Estimators on groups against those of celer and skglm, and certificates of theirs."""

import warnings

import celer
import numpy as np
import pandas as pd
import pytest
import skglm
from skglm.datafits import LogisticGroup, QuadraticGroup
from skglm.penalties import WeightedGroupL2, WeightedL1GroupL2
from skglm.solvers import GroupBCD, GroupProxNewton
from sklearn.linear_model import (
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
)
from sklearn.model_selection import KFold

import dualgap as dg

pytestmark = pytest.mark.usefixtures("interpreted")

GROUPS = [[0, 9], [3, 4, 5], [1], [2, 6, 7, 8], [10, 11]]
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.standard_normal((60, 12)) + 0.3)
y = X[:, :4] @ [1.0, -2.0, 0.5, 1.0] + rng.standard_normal(60) + 3.0
Y = np.column_stack([y, X[:, 0] - y, rng.standard_normal(60)])


def quietly(fit, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*args)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("groups", [3, [2, 4, 1, 5], GROUPS])
def test_the_group_lasso_is_that_of_celer(groups, intercept):
    weights = WEIGHTS if groups is GROUPS else None
    ours = dg.GroupLasso(groups, 0.1, weights=weights, fit_intercept=intercept, tol=1e-10).fit(X, y)
    theirs = celer.GroupLasso(groups, 0.1, weights=weights, fit_intercept=intercept, tol=1e-12)
    quietly(theirs.fit, X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    proof = dg.certify(theirs, X, y)
    assert proof.gap <= 1e-6 * proof.scale
    assert proof.primal == pytest.approx(ours.certificate_.primal, rel=1e-7)


@pytest.mark.parametrize("positive", [False, True])
def test_groups_of_one_feature_are_a_lasso(positive):
    weights = np.linspace(0.5, 2.0, 12)
    model = dg.GroupLasso(1, 0.1, weights=weights, positive=positive, tol=1e-10).fit(X, y)
    penalty = dg.penalties.GroupLasso(1, weights, positive=positive)
    grouped = dg.solve(dg.Problem(X, y, "squared", penalty, 0.1, intercept=True), tol=1e-10)
    np.testing.assert_allclose(model.coef_, grouped.coef, atol=1e-6)
    assert model.certificate_.primal == pytest.approx(grouped.certificate.primal, rel=1e-8)
    with pytest.raises(ValueError, match="weights must have one entry for each of the 12"):
        dg.GroupLasso(1, 0.1, weights=weights[1:]).fit(X, y)


def test_positive_coefficients_and_unpenalised_groups_are_those_of_skglm():
    for options in ({"positive": True}, {"weights": WEIGHTS * (WEIGHTS < 2.0)}):
        ours = dg.GroupLasso(GROUPS, 0.1, tol=1e-10, **options).fit(X, y)
        theirs = quietly(skglm.GroupLasso(GROUPS, 0.1, tol=1e-10, **options).fit, X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        proof = dg.certify(theirs, X, y)
        assert proof.primal == pytest.approx(ours.certificate_.primal, rel=1e-7)
        assert proof.gap <= 1e-6 * proof.scale


def test_models_of_several_targets_are_certified():
    models = (
        skglm.MultiTaskLasso(0.1, tol=1e-10),
        MultiTaskLasso(0.1, tol=1e-10),
        MultiTaskElasticNet(0.1, l1_ratio=0.4, tol=1e-10),
    )
    for model in models:
        quietly(model.fit, X, Y)
        ratio = 0.4 if type(model) is MultiTaskElasticNet else 1.0
        ours = dg.MultiTaskElasticNet(0.1, l1_ratio=ratio, tol=1e-10).fit(X, Y)
        np.testing.assert_allclose(ours.coef_, model.coef_, atol=1e-5)
        proof = dg.certify(model, X, Y)
        assert proof.gap <= 1e-6 * proof.scale
        assert proof.primal == pytest.approx(ours.certificate_.primal, rel=1e-7)
        model.coef_ = 1.01 * model.coef_
        worse = dg.certify(model, X, Y)
        assert worse.gap >= worse.primal - ours.certificate_.upper > 0.0


def test_models_of_skglm_made_of_parts_are_certified():
    order = np.concatenate(GROUPS).astype(np.int32)
    ends = np.cumsum([0, *map(len, GROUPS)]).astype(np.int32)
    group = WeightedGroupL2(0.1, WEIGHTS, ends, order)
    ones = np.ones(12)
    sparse = WeightedL1GroupL2(0.05, WEIGHTS, ones, ends, order)
    signs = np.where(y > 3.0, 1.0, -1.0)
    cases = (
        (QuadraticGroup(ends, order), group, GroupBCD, y),
        (QuadraticGroup(ends, order), sparse, GroupBCD, y),
        (LogisticGroup(ends, order), group, GroupProxNewton, signs),
    )
    for datafit, penalty, solver, target in cases:
        run = solver(tol=1e-9, fit_intercept=False)
        if penalty is sparse:
            run.ws_strategy = "fixpoint"
        model = skglm.GeneralizedLinearEstimator(datafit, penalty, run)
        quietly(model.fit, X, target)
        proof = dg.certify(model, X, target)
        assert proof.gap <= 1e-6 * proof.scale


def test_the_sparse_group_lasso_lies_between():
    lasso = dg.Lasso(0.1, tol=1e-10).fit(X, y)
    group = dg.GroupLasso(GROUPS, 0.1, tol=1e-10).fit(X, y)
    ends = [dg.SparseGroupLasso(GROUPS, 0.1, tau=tau, tol=1e-10).fit(X, y) for tau in (1.0, 0.0)]
    np.testing.assert_allclose(ends[0].coef_, lasso.coef_, atol=1e-6)
    np.testing.assert_allclose(ends[1].coef_, group.coef_, atol=1e-6)


def test_frames_weights_and_warm_starts():
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    weights = rng.integers(0, 3, 60)
    model = dg.GroupLasso(GROUPS, 0.1, tol=1e-10, warm_start=True)
    model.fit(frame, y, sample_weight=weights)
    repeated = np.repeat(np.arange(60), weights)
    same = dg.GroupLasso(GROUPS, 0.1, tol=1e-10).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-7)
    assert model.feature_names_in_[0] == "x0"
    assert model.fit(frame, y, sample_weight=weights).n_iter_ == 0
    assert (model.coef_[model.support_certified_] == 0.0).all()
    assert dg.GroupLasso(GROUPS, 0.0).fit(X, y).certificate_.relative_gap <= 1e-4


def test_a_model_with_groups_is_saved_and_loaded(tmp_path):
    problem = dg.Problem(X, y, "squared", dg.penalties.SparseGroupLasso(GROUPS, 0.3), 0.1)
    solution = dg.solve(problem)
    dg.save_model(tmp_path / "model.json", problem, solution)
    model = dg.load_model(tmp_path / "model.json")
    again = dg.certify(model.problem(X, y), model.coef)
    assert again.primal == pytest.approx(solution.certificate.primal, rel=1e-14)


def test_cross_validation_of_groups_is_that_of_celer():
    ours = dg.GroupLassoCV(GROUPS, n_alphas=8, eps=0.05, tol=1e-9).fit(X, y)
    for k, (train, test) in enumerate(KFold(5).split(X)):
        for alpha, error in zip(ours.alphas_[1::3], ours.mse_path_[1::3, k]):
            theirs = celer.GroupLasso(GROUPS, alpha, tol=1e-10)
            quietly(theirs.fit, np.asfortranarray(X[train]), y[train])
            expected = np.mean((y[test] - theirs.predict(X[test])) ** 2)
            assert error == pytest.approx(expected, rel=1e-4)
    assert ours.alpha_ == ours.alphas_[ours.mse_path_.mean(axis=1).argmin()]
    mixed = dg.SparseGroupLassoCV(GROUPS, tau=[0.0, 0.7], n_alphas=5, eps=0.1).fit(X, y)
    assert mixed.mse_path_.shape == (2, 5, 5)
    assert mixed.tau_ in (0.0, 0.7)


def test_cross_validation_of_targets_is_that_of_scikit_learn():
    theirs = MultiTaskLassoCV(alphas=8, eps=0.05, tol=1e-10, max_iter=100_000).fit(X, Y)
    ours = dg.MultiTaskLassoCV(alphas=8, eps=0.05, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-5)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    ratios = {"l1_ratio": [0.3, 0.9], "alphas": 4, "eps": 0.1}
    theirs = MultiTaskElasticNetCV(**ratios, tol=1e-10, max_iter=100_000).fit(X, Y)
    ours = dg.MultiTaskElasticNetCV(**ratios, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-5)
    assert ours.l1_ratio_ == theirs.l1_ratio_
