"""Ordinal logistic regression: optimum, certificate, proof file, classes in their order."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit
from statsmodels.miscmodels.ordinal_model import OrderedModel
from statsmodels.tools.numdiff import approx_hess

import dgcheck
import dualgap as dg

RNG = np.random.default_rng(1)
X = RNG.normal(size=(90, 3))
SCORE = X @ [1.0, -0.5, 0.0] + RNG.logistic(size=90)
Y = np.digitize(SCORE, [-1.0, 0.2, 1.5])
WEIGHTS = np.arange(90) % 3 + 0.5


def likelihood(w, thresholds, X, y, s, offset):
    """−Σ s log P(y), by definition."""
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    z = X @ w + offset
    p = expit(ends[y + 1] - z) - expit(ends[y] - z)
    return -np.sum(s * np.log(np.maximum(p, 1e-300)))


def optimum(X, y, s, offset, C):
    """By BFGS on logarithms of gaps."""
    p, K = X.shape[1], int(y.max()) + 1

    def value(v):
        thresholds = np.cumsum(np.append(v[p], np.exp(v[p + 1 :])))
        return likelihood(v[:p], thresholds, X, y, s, offset) + 0.5 * v[:p] @ v[:p] / C

    found = minimize(value, np.zeros(p + K - 1), method="BFGS", options={"gtol": 1e-8})
    return found.fun


@pytest.mark.parametrize(
    ("C", "weights", "offset", "dtype"),
    [
        (1.0, None, None, np.float64),
        (np.inf, WEIGHTS, None, np.float64),
        (0.1, WEIGHTS, RNG.normal(size=90), np.float32),
    ],
)
def test_optimum_and_proof(tmp_path, C, weights, offset, dtype):
    data = X.astype(dtype)
    s = np.ones(90) if weights is None else weights
    o = np.zeros(90) if offset is None else offset
    model = dg.OrdinalLogisticRegression(C=C, tol=1e-10).fit(data, Y, weights, offset)
    best = optimum(data.astype(float), Y, s, o, C)
    w, thresholds = model.coef_.astype(float), model.thresholds_.astype(float)
    mine = likelihood(w, thresholds, data.astype(float), Y, s, o) + 0.5 * w @ w / C
    total = np.sum(s * np.where((Y == 0) | (Y == 3), 1, 2))
    certificate = model.certificate_
    assert mine / total == pytest.approx(certificate.primal, rel=1e-12)
    assert mine == pytest.approx(best, rel=1e-9 if dtype == np.float64 else 1e-7)
    assert certificate.dual <= best / total * (1 + 1e-14)
    assert certificate.relative_gap <= (1e-10 if dtype == np.float64 else 1e-6)
    more = {} if weights is None else {"sample_weight": weights}
    np.savez(tmp_path / "data.npz", X=data, y=Y, **more)
    model.save_proof(tmp_path / "proof.dgp")
    assert dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "proof.dgp")]) == 0


def test_probabilities():
    model = dg.OrdinalLogisticRegression().fit(sp.csr_array(X), Y)
    z, ends = model.linear_predictor(X), np.concatenate([[-np.inf], model.thresholds_, [np.inf]])
    expected = np.diff(expit(ends - z[:, None]), axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-14)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(expected), atol=1e-10)
    assert (model.predict(X) == model.decision_function(X).argmax(axis=1)).all()
    assert model.score(X, Y) == np.mean(model.predict(X) == Y)
    np.testing.assert_array_equal(model.intercept_, -model.thresholds_)
    exact = dg.OrdinalLogisticRegression(tol=1e-12).fit(X, Y)
    moved = dg.OrdinalLogisticRegression(tol=1e-12).fit(X + 3.0, Y)
    np.testing.assert_allclose(moved.coef_, exact.coef_, atol=1e-5)
    away = moved.thresholds_ - exact.thresholds_
    np.testing.assert_allclose(away, 3.0 * exact.coef_.sum(), atol=1e-4)
    away = np.abs(exact.linear_predictor(X) - z)
    assert (away <= model.decision_radius(X)).all()
    assert model.support_certified_.shape == model.coef_.shape == (3,)


def test_two_classes_are_logistic_regression(tmp_path):
    model = dg.OrdinalLogisticRegression().fit(X, np.where(Y > 1, "yes", "no"))
    other = dg.LogisticRegression().fit(X, np.where(Y > 1, "yes", "no"))
    np.testing.assert_array_equal(model.coef_, other.coef_[0])
    np.testing.assert_array_equal(model.intercept_, other.intercept_)
    assert model.certificate_.gap == other.certificate_.gap
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-14)


def test_the_order_of_a_categorical_counts():
    names = np.array(["low", "medium", "high", "extreme"])
    y = pd.Series(pd.Categorical(names[Y], categories=[*names, "beyond"], ordered=True))
    model = dg.OrdinalLogisticRegression(tol=1e-8).fit(X, y)
    plain = dg.OrdinalLogisticRegression(tol=1e-8).fit(X, Y)
    assert model.classes_.tolist() == [*names, "beyond"]
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.thresholds_.tolist() == [*plain.thresholds_, np.inf]
    assert (model.predict_proba(X)[:, 4] == 0.0).all()
    assert model.predict(X).tolist() == names[plain.predict(X)].tolist()


def test_classes_without_weight_have_no_probability():
    model = dg.OrdinalLogisticRegression().fit(X, Y, sample_weight=(Y != 1) * 1.0)
    others = dg.OrdinalLogisticRegression().fit(X[Y != 1], Y[Y != 1])
    np.testing.assert_allclose(model.coef_, others.coef_, atol=1e-5)
    assert model.thresholds_[0] == model.thresholds_[1]
    assert (model.predict_proba(X)[:, 1] == 0.0).all()
    with pytest.raises(ValueError, match="one class"):
        dg.OrdinalLogisticRegression().fit(X, Y, sample_weight=(Y == 1) * 1.0)


def test_class_weights_warm_starts_and_many_columns():
    balanced = dg.OrdinalLogisticRegression(class_weight="balanced", tol=1e-9).fit(X, Y)
    s = (90 / 4 / np.bincount(Y))[Y]
    same = dg.OrdinalLogisticRegression(tol=1e-9).fit(X, Y, sample_weight=s)
    np.testing.assert_allclose(balanced.coef_, same.coef_, atol=1e-6)
    warm = dg.OrdinalLogisticRegression(warm_start=True, tol=1e-9).fit(X, Y)
    cold = warm.n_iter_
    assert warm.fit(X, Y).n_iter_ < cold
    wide = sp.random_array((60, 2500), density=0.02, rng=RNG, format="csr")
    found = dg.OrdinalLogisticRegression(tol=1e-8).fit(wide, Y[:60])
    assert found.certificate_.relative_gap <= 1e-8


def test_pickles_and_small_models():
    model = dg.OrdinalLogisticRegression().fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(copy.decision_radius(X), model.decision_radius(X))
    assert len(pickle.dumps(model.without_proof())) < 1500
    with pytest.raises(ValueError, match="training data"):
        copy.save_proof("nowhere.dgp")


@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_thresholds_and_classes_within_their_bounds(shift):
    exact = dg.OrdinalLogisticRegression(tol=1e-13).fit(X + shift, Y)
    seen = False
    for tol in (1e-2, 1e-4, 1e-6):
        y = pd.Categorical.from_codes(2 * Y, categories=range(9), ordered=True)
        model = dg.OrdinalLogisticRegression(tol=tol).fit(X + shift, y)
        own = model.threshold_radius_
        away = np.abs(model.thresholds_[[0, 2, 4]] - exact.thresholds_)
        assert (away <= own[[0, 2, 4]] + exact.threshold_radius_).all()
        assert (own[:6:2] == own[1:6:2]).all()
        assert (own[6:] == 0.0).all()
        proven = model.predict_certified(X + shift)
        same = model.predict(X + shift) == 2 * exact.predict(X + shift)
        assert same[proven].all()
        seen |= not proven.all()
    assert seen
    assert proven.all()
    model.thresholds_ = model.thresholds_ + 1.0
    with pytest.raises(ValueError, match="changed after the fit"):
        model.predict_certified(X)
    assert not dg.OrdinalLogisticRegression(C=np.inf).fit(X, Y).predict_certified(X).any()


@pytest.mark.filterwarnings("ignore:Maximum Likelihood")
@pytest.mark.parametrize("offset", [None, RNG.normal(size=90)])
def test_standard_errors_and_certificates_of_statsmodels(offset):
    reference = OrderedModel(Y, X, distr="logit", offset=offset)
    clusters = np.arange(90) % 15
    model = dg.OrdinalLogisticRegression(C=np.inf, tol=1e-13).fit(X, Y, offset=offset)
    start = np.concatenate([model.coef_, model.thresholds_[:1], np.log(np.diff(model.thresholds_))])
    kinds = {"nonrobust": ("model", {}), "HC0": ("HC0", {}), "cluster": ("cluster", clusters)}
    for theirs, (ours, groups) in kinds.items():
        more = {} if theirs != "cluster" else {"cov_kwds": {"groups": clusters}}
        found = reference.fit(start, method="newton", disp=0, cov_type=theirs, **more)
        # They have the first threshold and logarithms of gaps.
        turn = np.eye(6)
        turn[3:, 3:] = np.tri(3) * np.append(1.0, np.exp(found.params[4:]))
        errors = np.sqrt(np.diag(turn @ found.cov_params() @ turn.T))
        table = model.summary(ours, groups=groups if len(groups) else None)
        np.testing.assert_allclose(table.std_error, errors, rtol=2e-6)
    thresholds = reference.transform_threshold_params(found.params)[1:-1]
    np.testing.assert_allclose(table.coef, np.append(found.params[:3], thresholds), atol=1e-6)
    assert table.names == ("x0", "x1", "x2", "0/1", "1/2", "2/3")
    certificate = dg.certify(found)
    assert certificate.primal == pytest.approx(-found.llf, rel=1e-12)
    assert certificate.relative_gap < 1e-9
    poor = OrderedModel(Y, X, distr="logit", offset=offset).fit(0.9 * start, maxiter=0, disp=0)
    bound = dg.certify(poor, X, Y)
    assert bound.gap >= -poor.llf + found.llf
    assert bound.dual <= -found.llf * (1 + 1e-14)
    with pytest.raises(ValueError, match="logit"):
        dg.certify(OrderedModel(Y, X, distr="probit").fit(disp=0))


def test_penalised_standard_errors_are_those_of_the_shrunken_coefficients():
    """With H and Λ: the covariance is A⁻¹ H A⁻¹, A = H + Λ; H by finite differences."""
    model = dg.OrdinalLogisticRegression(C=0.5, tol=1e-13).fit(X, Y, WEIGHTS)
    point = np.append(model.coef_, model.thresholds_)

    def value(v):
        return likelihood(v[:3], v[3:], X, Y, WEIGHTS, 0.0)

    H = approx_hess(point, value)
    A = H + np.diag([2.0] * 3 + [0.0] * 3)
    expected = np.linalg.inv(A) @ H @ np.linalg.inv(A)
    table = model.summary()
    np.testing.assert_allclose(table.covariance, expected, rtol=1e-4, atol=1e-6)
    assert "Penalised" in str(table)
    l1 = dg.OrdinalLogisticRegression(penalty_weight=[0.0, 1.0, 1.0]).fit(X, Y)
    assert l1.summary().std_error[0] > model.summary().std_error[0]
