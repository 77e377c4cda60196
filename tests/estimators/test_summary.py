"""Standard errors and intervals against statsmodels and closed forms."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg

sm = pytest.importorskip("statsmodels.api")

RNG = np.random.default_rng(0)
N, P = 300, 4
X = RNG.normal(size=(N, P)) * [1.0, 100.0, 0.01, 1.0] + [0.0, 1e4, 0.0, 3.0]
SLOPES = np.array([1.0, 0.01, 100.0, -0.5])
SIGNAL = (X - X.mean(axis=0)) @ SLOPES
Y = SIGNAL + RNG.normal(size=N)
LABELS = (RNG.random(N) < 1.0 / (1.0 + np.exp(-SIGNAL))).astype(int)
COUNTS = RNG.poisson(np.exp(np.clip(SIGNAL / 3.0, -3.0, 3.0)))
CLASSES = RNG.integers(0, 3, N)
CLUSTERS = RNG.integers(0, 20, N)
WITH_CONSTANT = sm.add_constant(X)


def ols(**options):
    return sm.OLS(Y, WITH_CONSTANT).fit(**options)


def glm(y, family, weights=None, **options):
    return sm.GLM(y, WITH_CONSTANT, family, freq_weights=weights).fit(tol=1e-14, **options)


def assert_same(summary, reference, rtol=1e-6):
    """statsmodels has the constant first."""
    ours = np.roll(np.stack([summary.coef, summary.std_error, summary.p_value]), 1, axis=1)
    np.testing.assert_allclose(ours[0], reference.params, rtol=rtol)
    np.testing.assert_allclose(ours[1], reference.bse, rtol=rtol)
    np.testing.assert_allclose(ours[2], reference.pvalues, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(np.roll(summary.lower, 1), reference.conf_int()[:, 0], rtol=1e-5)


def test_least_squares_has_t_statistics():
    summary = dg.Ridge(alpha=0.0, tol=1e-13).fit(X, Y).summary()
    assert_same(summary, ols())
    assert summary.distribution == "t"
    assert summary.freedom == pytest.approx(N - P - 1)
    assert summary.dispersion == pytest.approx(ols().scale)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_errors_of_least_squares(kind):
    summary = dg.Ridge(alpha=0.0, tol=1e-13).fit(X, Y).summary(kind)
    np.testing.assert_allclose(np.roll(summary.std_error, 1), ols(cov_type=kind).bse, rtol=1e-7)


def test_errors_by_cluster():
    expected = ols(cov_type="cluster", cov_kwds={"groups": CLUSTERS})
    summary = dg.Ridge(alpha=0.0, tol=1e-13).fit(X, Y).summary("cluster", groups=CLUSTERS)
    np.testing.assert_allclose(np.roll(summary.std_error, 1), expected.bse, rtol=1e-7)


def test_logistic_regression():
    model = dg.LogisticRegression(C=np.inf, tol=1e-12).fit(X, LABELS)
    assert_same(model.summary(), glm(LABELS, sm.families.Binomial()))
    assert_same(model.summary("HC0"), glm(LABELS, sm.families.Binomial(), cov_type="HC0"))


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array, sp.csc_array])
def test_poisson_regression_with_frequencies(as_given):
    weights = RNG.integers(1, 4, N)
    model = dg.PoissonRegressor(alpha=0.0, tol=1e-11).fit(as_given(X), COUNTS, weights)
    summary = model.summary()
    assert_same(summary, glm(COUNTS, sm.families.Poisson(), weights))
    assert summary.samples == weights.sum()


def test_offsets_shift_decision_values():
    exposure = RNG.uniform(0.5, 3.0, N)
    counts = RNG.poisson(exposure * np.exp(np.clip(SIGNAL / 3.0, -3.0, 3.0)))
    offset = np.log(exposure)
    model = dg.PoissonRegressor(alpha=0.0, tol=1e-11).fit(X, counts, offset=offset)
    family = sm.families.Poisson()
    assert_same(
        model.summary(), sm.GLM(counts, WITH_CONSTANT, family, offset=offset).fit(tol=1e-14)
    )
    model = dg.LogisticRegression(C=np.inf, tol=1e-12).fit(X, LABELS, offset=offset)
    reference = sm.GLM(LABELS, WITH_CONSTANT, sm.families.Binomial(), offset=offset)
    assert model.summary().fit_error < 1e-4  # of a standard error, all that remains of tol
    assert_same(model.summary(), reference.fit(tol=1e-14), rtol=1e-5)
    many = dg.LogisticRegression(C=np.inf, tol=1e-10).fit(X, CLASSES, offset=np.zeros((N, 3)))
    none = dg.LogisticRegression(C=np.inf, tol=1e-10).fit(X, CLASSES)
    np.testing.assert_allclose(many.summary().std_error, none.summary().std_error, rtol=1e-4)


def positive_targets():
    return np.exp(np.clip(SIGNAL / 3.0, -3.0, 3.0)) * np.random.default_rng(2).gamma(3.0, 1 / 3, N)


def test_gamma_regression_estimates_its_dispersion():
    y = positive_targets()
    model = dg.GammaRegressor(alpha=0.0, tol=1e-12).fit(X, y)
    reference = glm(y, sm.families.Gamma(sm.families.links.Log()))
    summary = model.summary()
    ours = np.roll(np.stack([summary.coef, summary.std_error]), 1, axis=1)
    np.testing.assert_allclose(ours, [reference.params, reference.bse], rtol=1e-4)
    assert summary.dispersion == pytest.approx(reference.scale, rel=1e-6)
    assert summary.distribution == "t"


def test_tweedie_and_negative_binomial_regression():
    y = COUNTS.astype(float)
    families = (
        sm.families.Tweedie(sm.families.links.Log(), 1.5),
        sm.families.NegativeBinomial(alpha=1.0),
    )
    models = (
        dg.TweedieRegressor(power=1.5, link="log"),
        dg.NegativeBinomialRegressor(dispersion=1.0),
    )
    for model, family in zip(models, families):
        summary = model.set_params(alpha=0.0, tol=1e-12).fit(X, y).summary()
        reference = glm(y, family)
        ours = np.roll(np.stack([summary.coef, summary.std_error]), 1, axis=1)
        np.testing.assert_allclose(ours, [reference.params, reference.bse], rtol=1e-4)


@pytest.mark.parametrize("kind", ["model", "HC0", "HC1", "HC2", "HC3"])
def test_a_weight_is_as_many_samples(kind):
    weights = RNG.integers(1, 4, N)
    one = dg.Ridge(alpha=2.0, tol=1e-13).fit(X, Y, weights).summary(kind)
    many = np.repeat(np.arange(N), weights)
    other = dg.Ridge(alpha=2.0, tol=1e-13).fit(X[many], Y[many]).summary(kind)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-7)


def test_differences_of_classes_are_those_of_multinomial_regression():
    model = dg.LogisticRegression(C=np.inf, tol=1e-11).fit(X, CLASSES)
    summary = model.summary()
    reference = sm.MNLogit(CLASSES, sm.add_constant(X - X.mean(axis=0))).fit(disp=0)
    tensor = summary.covariance.reshape(P + 1, 3, P + 1, 3)
    for k in (1, 2):
        of = tensor[:, k, :, k] + tensor[:, 0, :, 0] - tensor[:, k, :, 0] - tensor[:, 0, :, k]
        found = np.sqrt(np.diag(of))[:P]
        np.testing.assert_allclose(found, np.asarray(reference.bse)[1:, k - 1], rtol=1e-6)
    assert summary.names[:2] == ("0: x0", "1: x0")


def test_ridge_regression_scatters_as_its_closed_form():
    alpha = 30.0
    summary = dg.Ridge(alpha=alpha, tol=1e-13).fit(X, Y).summary()
    moved = X - X.mean(axis=0)
    inverse = np.linalg.inv(moved.T @ moved + alpha * np.eye(P))
    hat = moved @ inverse @ moved.T
    residuals = (Y - Y.mean()) - hat @ (Y - Y.mean())
    freedom = N - 1.0 - np.trace(hat)
    expected = residuals @ residuals / freedom * inverse @ moved.T @ moved @ inverse
    np.testing.assert_allclose(summary.covariance[:P, :P], expected, rtol=1e-8)
    assert "Penalised" in str(summary)


def test_intervals_cover():
    """Of 400 intervals of 90 % for each coefficient, between 85 and 95 % hold the truth."""
    rng = np.random.default_rng(1)
    data, truth = rng.normal(size=(80, 3)), np.array([0.5, 0.0, -0.5])
    held = np.zeros(3)
    for _ in range(400):
        y = rng.poisson(np.exp(data @ truth))
        summary = dg.PoissonRegressor(alpha=0.0, tol=1e-10).fit(data, y).summary(confidence=0.9)
        held += (summary.lower[:3] <= truth) & (truth <= summary.upper[:3])
    assert ((held > 340) & (held < 380)).all()


def test_dependent_columns_have_no_standard_error():
    twice = np.column_stack([X, X[:, 0]])
    with_one = dg.Ridge(alpha=0.0).fit(X, Y).summary()
    summary = dg.Ridge(alpha=0.0).fit(twice, Y).summary()
    assert np.isinf(summary.std_error[[0, 4]]).all()
    np.testing.assert_allclose(summary.std_error[[1, 2, 3]], with_one.std_error[[1, 2, 3]])
    assert summary.p_value[0] == 1.0
    assert "do not determine" in str(summary)


def test_a_rough_fit_says_how_far_it_is_from_the_optimum():
    rough = dg.LogisticRegression(C=np.inf, tol=0.05, method="lbfgs").fit(X / X.std(axis=0), LABELS)
    with pytest.warns(UserWarning, match=r"standard errors from the optimum.*fit again with tol="):
        summary = rough.summary()
    exact = dg.LogisticRegression(C=np.inf, tol=1e-12).fit(X / X.std(axis=0), LABELS).summary()
    true = np.max(np.abs(summary.coef - exact.coef)[:P] / exact.std_error[:P])
    assert 0.3 * true < summary.fit_error < 3.0 * true


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (dg.Lasso(alpha=0.01), {}, "not valid for coefficients that a penalty sets to zero"),
        (dg.Ridge(positive=True), {}, "not valid"),
        (dg.QuantileRegressor(alpha=0.0), {"covariance": "HC1"}, "has kinks"),
        (dg.HuberRegression(), {}, 'use covariance="HC0" or "HC1"'),
        (dg.PoissonRegressor(), {"covariance": "HC3"}, "for least squares"),
        (dg.Ridge(), {"covariance": "cluster"}, "groups belongs to"),
        (dg.Ridge(), {"covariance": "robust"}, "HC0"),
        (dg.Ridge(), {"confidence": 95}, "share below 1"),
    ],
)
def test_what_has_no_meaning_is_refused(model, options, words):
    fitted = model.fit(X / X.std(axis=0), COUNTS.astype(float))
    with pytest.raises(ValueError, match=words):
        fitted.summary(**options)


def test_more_coefficients_than_samples_need_a_penalty():
    wide = dg.Ridge(alpha=0.0).fit(X[:4], Y[:4])
    with pytest.raises(ValueError, match="no degrees of freedom"):
        wide.summary()


def test_data_that_have_changed_are_noticed():
    data = X.copy()
    model = dg.Ridge().fit(data, Y)
    data[0] += 100.0
    with pytest.raises(ValueError, match="have changed since the fit"):
        model.summary()


def test_the_table_names_features_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["age", "income", "rate", "<b>"])
    summary = dg.Ridge().fit(frame, Y).summary()
    table = summary.to_frame()
    assert list(table.index) == ["age", "income", "rate", "<b>", "intercept"]
    assert list(table.columns) == ["coef", "std_error", "statistic", "p_value", "lower", "upper"]
    assert "[0.025" in str(summary)
    assert "&lt;b&gt;" in summary._repr_html_()


def test_several_targets_have_a_summary_each():
    both = dg.Ridge().fit(X, np.column_stack([Y, 2.0 * Y])).summary()
    assert len(both) == 2
    np.testing.assert_allclose(both[1].std_error, 2.0 * both[0].std_error)
