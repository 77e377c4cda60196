"""Gamma, Tweedie and negative binomial regression against scikit-learn and statsmodels."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as theirs
import statsmodels.api as sm
from sklearn.base import clone

import dgcheck
import dualgap as dg

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3)) * [1.0, 20.0, 0.1] + [0.0, 3.0, 0.0]
MEAN = np.exp(0.4 * X[:, 0] + 0.02 * X[:, 1])
POSITIVE = RNG.gamma(2.0, MEAN)
CLAIMS = POSITIVE * (RNG.random(90) < 0.7)
COUNTS = RNG.poisson(3.0 * POSITIVE)
WEIGHTS = RNG.integers(0, 3, 90)
QUIET = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}
MODELS = {
    "gamma": (dg.GammaRegressor(alpha=0.1), POSITIVE),
    "tweedie": (dg.TweedieRegressor(power=1.6, alpha=0.1), CLAIMS),
    "negative binomial": (dg.NegativeBinomialRegressor(alpha=0.1, dispersion=0.5), COUNTS),
}


@pytest.mark.parametrize(
    ("ours", "other", "y"),
    [
        (dg.GammaRegressor(alpha=0.1), theirs.GammaRegressor(alpha=0.1, **QUIET), POSITIVE),
        *(
            (
                dg.TweedieRegressor(power=power, alpha=0.1),
                theirs.TweedieRegressor(power=power, alpha=0.1, **QUIET),
                POSITIVE if power == 2 else CLAIMS,
            )
            for power in (0, 1, 1.2, 1.5, 1.9, 2)
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_model_is_scikit_learns(ours, other, y, fit_intercept, weights):
    mine = clone(ours).set_params(tol=1e-12, fit_intercept=fit_intercept)
    mine.fit(X, y, sample_weight=weights)
    other = clone(other).set_params(fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), rtol=1e-5)
    expected = other.score(X, y, sample_weight=weights)
    assert mine.score(X, y, sample_weight=weights) == pytest.approx(expected, abs=1e-6)
    assert np.shape(mine.intercept_) == np.shape(other.intercept_)
    assert mine.certificate_.relative_gap <= 1e-9


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_negative_binomial_regression_is_statsmodels(weights):
    mine = dg.NegativeBinomialRegressor(alpha=0.0, dispersion=0.5, tol=1e-12)
    mine.fit(X, COUNTS, sample_weight=weights)
    family = sm.families.NegativeBinomial(alpha=0.5)
    model = sm.GLM(COUNTS, sm.add_constant(X), family, freq_weights=weights)
    other = model.fit(tol=1e-13, tol_criterion="params", maxiter=1000)
    np.testing.assert_allclose(mine.predict(X), other.fittedvalues, rtol=1e-5)
    explained = 1.0 - other.deviance / other.null_deviance
    assert mine.score(X, COUNTS, sample_weight=weights) == pytest.approx(explained, abs=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_frames_weights_pickles_certify_and_proofs(name, tmp_path, capsys):
    model, y = MODELS[name]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = clone(model).fit(frame, pd.Series(y), sample_weight=WEIGHTS)
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    repeated = clone(model).set_params(tol=1e-10).fit(X.repeat(WEIGHTS, 0), y.repeat(WEIGHTS))
    np.testing.assert_allclose(fitted.predict(frame), repeated.predict(X), rtol=1e-2)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(frame), fitted.predict(frame))
    assert np.isfinite(fitted.decision_radius(frame)).all()
    fitted.save_proof(tmp_path / "model.dgp")
    np.savez(tmp_path / "data.npz", X=X, y=y, sample_weight=WEIGHTS.astype(float))
    code = dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "model.dgp")])
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", MODELS)
def test_an_offset_is_the_logarithm_of_an_exposure(name):
    model, y = MODELS[name]
    exposure = 1.0 + (np.arange(90) % 3)
    model = clone(model).set_params(tol=1e-10)
    own = clone(model).fit(X, y, sample_weight=WEIGHTS, offset=np.log(exposure))
    assert own.certificate_.relative_gap <= 1e-9
    means = own.predict(X, offset=np.log(exposure))
    np.testing.assert_allclose(means, exposure * own.predict(X))
    # A constant offset only moves the intercept.
    plain = clone(model).fit(X, y)
    moved = clone(model).fit(X, y, offset=np.full(90, 0.7))
    np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-4)
    assert moved.intercept_ == pytest.approx(plain.intercept_ - 0.7, abs=1e-4)
    shift = np.full(90, 0.7)
    assert moved.score(X, y, offset=shift) == pytest.approx(plain.score(X, y), abs=1e-4)


@pytest.mark.parametrize("name", ["gamma", "tweedie"])
def test_certify_reads_scikit_learns_models(name):
    ours, y = MODELS[name]
    other = getattr(theirs, type(ours).__name__)(alpha=0.1, **QUIET)
    other.set_params(**({"power": 1.6} if name == "tweedie" else {}))
    other.fit(X, y, sample_weight=WEIGHTS)
    found = dg.certify(other, X, y, sample_weight=WEIGHTS)
    best = clone(ours).set_params(tol=1e-10).fit(X, y, sample_weight=WEIGHTS).certificate_
    assert found.primal == pytest.approx(best.primal, rel=1e-9)
    assert found.relative_gap <= 1e-8
    with pytest.raises(ValueError, match="power=3 has no certificate"):
        dg.certify(theirs.TweedieRegressor(power=3).fit(X, POSITIVE), X, POSITIVE)


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (dg.GammaRegressor(), CLAIMS, "y has zeros; Gamma needs numbers > 0: use Tweedie"),
        (dg.TweedieRegressor(power=3), POSITIVE, "power=3 has no certificate.*not convex"),
        (dg.TweedieRegressor(power=0.5), POSITIVE, "power=0.5 has no certificate"),
        (dg.TweedieRegressor(power=-1), POSITIVE, "use power=0, or a power from 1 to 2"),
        (dg.TweedieRegressor(link="log"), POSITIVE, 'not convex; use link="identity"'),
        (dg.TweedieRegressor(power=1, link="identity"), POSITIVE, 'use link="log"'),
        (dg.TweedieRegressor(link="logit"), POSITIVE, "link"),
        (dg.NegativeBinomialRegressor(dispersion=0.0), COUNTS, "for 0 use PoissonRegressor"),
        (dg.NegativeBinomialRegressor(dispersion=-1.0), COUNTS, "dispersion must be positive"),
        (dg.NegativeBinomialRegressor(), -COUNTS, "needs counts"),
    ],
)
def test_what_is_refused(model, y, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
