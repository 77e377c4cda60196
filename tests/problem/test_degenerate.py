"""Data with nothing, or next to nothing, to learn from: a proven fit or an error in words."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import dualgap as dg
from dualgap import estimators, losses

pytestmark = pytest.mark.usefixtures("interpreted")

rng = np.random.default_rng(0)
N = 20
MATRICES = {
    "any": rng.standard_normal((N, 3)),
    "one feature": rng.standard_normal((N, 1)),
    "zeros": np.zeros((N, 2)),
    "a constant": np.column_stack([np.full(N, 3.0), rng.standard_normal(N)]),
    "twins": np.repeat(rng.standard_normal((N, 2)), 2, axis=1),
    "wide": rng.standard_normal((N, 30)),
}
REGRESSORS = {
    "ridge": estimators.Ridge(),
    "ridge without penalty": estimators.Ridge(alpha=0.0),
    "lasso": estimators.Lasso(alpha=0.1),
    "elastic net": estimators.ElasticNet(alpha=0.1),
    "huber": estimators.HuberRegression(),
    "median": estimators.QuantileRegressor(),
    "median without intercept": estimators.QuantileRegressor(fit_intercept=False),
    "quantile": estimators.QuantileRegressor(quantile=0.9, alpha=1e-3),
    "svr": estimators.LinearSVR(),
    "svr, penalised intercept": estimators.LinearSVR(intercept_penalty="l2"),
    "squared svr": estimators.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    "poisson": estimators.PoissonRegressor(),
    "lasso cv": estimators.LassoCV(cv=2, alphas=3),
    "ridge cv": estimators.RidgeCV(),
    "certified": estimators.CertifiedRegressor(),
}
only_one = np.zeros(N)
only_one[7] = 2.0


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", REGRESSORS)
def test_targets_of_zero(name, matrix):
    """P(0) is 0, to which everything used to be compared."""
    if name == "poisson":
        pytest.skip("its optimum is not attained: see below")
    model = REGRESSORS[name].fit(MATRICES[matrix], np.zeros(N))
    np.testing.assert_allclose(model.predict(MATRICES[matrix]), 0.0, atol=1e-12)
    assert model.certificate_.gap == 0.0


@pytest.mark.parametrize("constant", [0.0, 1.0, 5.0, 1e6, 1e-9])
@pytest.mark.parametrize("name", [name for name in REGRESSORS if "without intercept" not in name])
def test_constant_targets(name, constant):
    X = MATRICES["any"]
    model = REGRESSORS[name].fit(X, np.full(N, constant))
    certificate = model.certificate_
    assert certificate.gap <= 1e-4 * certificate.scale
    if "penalised intercept" not in name:
        np.testing.assert_allclose(model.predict(X), constant, rtol=1e-2, atol=0.11)


@pytest.mark.parametrize("loss", ["quantile", "epsilon-insensitive", "huber", "squared", "poisson"])
@pytest.mark.parametrize("method", ["newton", "prox-point", "working-set", "cd-permutation", "afg"])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_origin_is_optimal(loss, method, intercept):
    """Also where the least loss is not 0: of counts, all of them 1."""
    y = np.full(N, float(loss == "poisson"))
    problem = dg.Problem(MATRICES["any"], y, loss, "elastic-net", 0.1, intercept=intercept)
    if dg.methods.METHODS[method].refusal(problem):
        pytest.skip("not for this problem")
    solution = dg.solve(problem, method)
    assert solution.converged
    np.testing.assert_allclose(solution.coef, 0.0, atol=1e-6)
    assert 0.0 <= solution.certificate.relative_gap <= 1e-4


def test_a_callback_a_warm_start_and_a_checkpoint_at_the_optimum(tmp_path):
    problem = dg.Problem(MATRICES["any"], np.zeros(N), "quantile", "l1", 0.1, intercept=True)
    file = tmp_path / "run"
    first = dg.solve(problem, callback=lambda snapshot: False, checkpoint=file)
    again = dg.solve(problem, checkpoint=file)
    warm = dg.solve(problem, warm_start=np.ones(3))
    for solution in (first, again, warm):
        assert solution.converged
        assert solution.certificate.gap == 0.0
        np.testing.assert_array_equal(solution.coef, 0.0)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("name", [name for name in REGRESSORS if "cv" not in name])
def test_one_sample_and_two(name, n):
    X = MATRICES["any"][:n]
    model = REGRESSORS[name].fit(X, np.arange(1.0, n + 1))
    assert model.certificate_.gap <= 1e-4 * model.certificate_.scale
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("name", [name for name in REGRESSORS if "cv" not in name])
def test_one_sample_has_all_the_weight(name):
    X, y = MATRICES["any"], np.abs(rng.standard_normal(N))
    model = REGRESSORS[name].fit(X, y, sample_weight=only_one)
    alone = REGRESSORS[name].fit(X[7:8], y[7:8])
    assert model.certificate_.gap <= 1e-4 * model.certificate_.scale
    assert model.certificate_.primal == pytest.approx(alone.certificate_.primal, abs=1e-3)


def test_cross_validation_without_weights_to_go_by_is_refused_in_words():
    X, y = MATRICES["any"], rng.standard_normal(N)
    early = np.repeat([1.0, 0.0], N // 2)
    for model in (estimators.LassoCV(cv=2), estimators.ElasticNetCV(cv=2)):
        with pytest.raises(ValueError, match="zero for every sample that fold 0 is"):
            model.fit(X, y, sample_weight=early)
    with pytest.raises(ValueError, match="zero for every sample that fold 0 is fitted to"):
        estimators.RidgeCV(cv=2).fit(X, y, sample_weight=early)
    with pytest.raises(ValueError, match="zero for every sample that fold"):
        estimators.LogisticRegressionCV(cv=2).fit(X, np.arange(N) % 2, sample_weight=only_one)
    with pytest.raises(ValueError, match="there is only one"):
        estimators.RidgeCV().fit(X, y, sample_weight=only_one)
    with pytest.raises(ValueError, match="n_samples=1"):
        estimators.RidgeCV().fit(X[:1], y[:1])


def test_folds_that_are_fitted_to_one_class_predict_it():
    X, y = MATRICES["any"], np.arange(N) >= N // 2
    model = estimators.LogisticRegressionCV(cv=KFold(2)).fit(X, y)
    assert model.certificate_.gap >= 0.0
    assert all((scores == 0.0).all() for scores in model.scores_.values())


@pytest.mark.parametrize("seed", range(6))
def test_the_radius_of_a_float32_fit_is_made_in_float64(seed):
    """Sums beyond the range of float32 used to be compared with a limit that was one."""
    own = np.random.default_rng(seed)
    X = own.integers(-5, 6, (3, 8)).astype(np.float32)
    model = estimators.PoissonRegressor(alpha=1e-8).fit(X, own.integers(0, 4, 3))
    assert model.intercept_.dtype == np.float32
    assert (model.decision_radius(X) >= 0.0).all()


# --- classes without weight ---------------------------------------------------------------------

LABELS = np.arange(N) % 3
SPREAD = MATRICES["any"] + LABELS[:, None]
CLASSIFIERS = {
    "softmax": estimators.LogisticRegression(),
    "softmax, l1": estimators.LogisticRegression(penalty="elasticnet", l1_ratio=1.0),
    "softmax, no penalty": estimators.LogisticRegression(C=np.inf, tol=1e-3),
    "one-vs-rest": estimators.LogisticRegression(multi_class="ovr"),
    "svc": estimators.LinearSVC(),
    "svc, hinge": estimators.LinearSVC(loss="hinge"),
    "ridge": estimators.RidgeClassifier(),
    "certified": estimators.CertifiedClassifier(loss=losses.Softmax()),
}


@pytest.mark.parametrize("by", ["sample_weight", "class_weight"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_class_without_weight(name, by):
    """Its intercept falls for ever, if nothing penalises it: the optimum is approached."""
    model = CLASSIFIERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        if by == "sample_weight":
            model.set_params(class_weight=None)
            model.fit(SPREAD, LABELS, sample_weight=(LABELS != 1).astype(float))
        else:
            model.set_params(class_weight={0: 1.0, 1: 0.0, 2: 1.0})
            model.fit(SPREAD, LABELS)
    proofs = np.ravel(model.certificate_)
    assert all(proof.gap <= model.tol * proof.scale for proof in proofs)
    assert sum(np.ravel(model.n_iter_)) < 200
    if name != "svc, hinge":  # one class against a rest that has weights says nothing of others
        assert set(model.predict(SPREAD)) == {0, 2}


def test_the_others_are_fitted_as_if_it_were_not_there():
    present = LABELS != 1
    model = estimators.LogisticRegression(tol=1e-9)
    with_it = model.fit(SPREAD, LABELS, sample_weight=present.astype(float))
    coef, intercept = with_it.coef_, with_it.intercept_
    objective = with_it.certificate_.primal
    probabilities = with_it.predict_proba(SPREAD)
    problem = dg.Problem(
        SPREAD[present], LABELS[present], "softmax", "l2", 1.0 / present.sum(), intercept=True
    )
    without = dg.solve(problem, tol=1e-9)
    np.testing.assert_allclose(coef[[0, 2]], without.coef.T, atol=1e-6)
    np.testing.assert_allclose(coef[1], 0.0, atol=1e-12)
    assert intercept[0] + intercept[2] == pytest.approx(0.0, abs=1e-9)
    assert intercept[2] - intercept[0] == pytest.approx(without.intercept @ [-1.0, 1.0], abs=1e-6)
    assert objective == pytest.approx(without.certificate.primal, rel=1e-9)
    assert (probabilities[:, 1] == 0.0).all()
