"""All alphas of a fold in one run: the answers of scikit-learn, whatever the data look like."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, ShuffleSplit

import dualgap as dg
from dualgap.estimators import ElasticNetCV, LassoCV, RidgeCV
from dualgap.estimators.selection import lasso_cv, ridge_cv
from dualgap.estimators.selection.paths import enet_path, lasso_path
from dualgap.run import known_solution
from dualgap.steps.path.column_path import ColumnPath
from dualgap.steps.path.moments import DataMoments

TIGHT = {"tol": 1e-9}
THEIRS = {"tol": 1e-12, "max_iter": 1_000_000}


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    w = np.zeros(d)
    w[:4] = [3.0, -2.0, 1.0, 0.5]
    return X, X @ w + rng.standard_normal(n) + 2.0


TALL, WIDE = data(60, 8), data(30, 50)
WEIGHTS = np.random.default_rng(1).random(60)


def assert_same(ours, theirs):
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-3)


@pytest.fixture
def no_solve(monkeypatch):
    """Points that a run leaves would go to ``follow``."""

    def refuse(*args):
        raise AssertionError("a point was left to the general method")

    monkeypatch.setattr(lasso_cv, "follow", refuse)
    monkeypatch.setattr(ridge_cv, "follow", refuse)


@pytest.mark.parametrize("storage", [np.array, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("setting", [{}, {"positive": True}, {"fit_intercept": False}], ids=str)
def test_every_kind_of_data_is_solved_by_shared_runs(storage, shape, setting, no_solve):
    X, y = shape
    setting = {"eps": 1e-2, "cv": 3, "l1_ratio": [0.4, 1.0], **setting}
    ours = ElasticNetCV(**setting, alphas=9, **TIGHT).fit(storage(X), y)
    assert_same(ours, linear_model.ElasticNetCV(**setting, alphas=9, **THEIRS).fit(X, y))
    assert ours.dual_gap_ <= 1e-9 * ours.certificate_.scale


def test_weights_of_zero_in_a_fold_and_unscaled_columns(no_solve):
    X, y = TALL
    weights = WEIGHTS.copy()
    weights[20:30] = 0.0
    X = X * np.logspace(-3, 3, X.shape[1]) + 1e3
    setting = {"eps": 1e-2, "cv": 3}
    ours = LassoCV(**setting, alphas=9, **TIGHT).fit(X, y, sample_weight=weights)
    theirs = linear_model.LassoCV(**setting, alphas=9, **THEIRS).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    with pytest.raises(ValueError, match="zero for every sample"):
        LassoCV(cv=KFold(6)).fit(*TALL, sample_weight=weights)


@pytest.mark.parametrize("storage", [np.array, sp.csr_array])
def test_columns_that_are_constant_in_a_fold(storage, no_solve):
    X, y = (part.copy() for part in TALL)
    X[:, 0] = 3.25
    X[:, 1] = 0.0
    X[:5, 1] = 2.0  # only the first test has it
    setting = {"eps": 1e-2, "cv": KFold(12)}
    ours = LassoCV(**setting, alphas=6, **TIGHT).fit(storage(X), y)
    theirs = linear_model.LassoCV(**setting, alphas=6, **THEIRS).fit(X, y)
    assert_same(ours, theirs)
    assert ours.coef_[0] == 0.0


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(3, test_size=0.7, random_state=0),
        [(np.r_[0:30, 0:30], np.r_[20:60]), (np.arange(60) < 20, np.arange(60) >= 40)],
    ],
    ids=["small", "repeated"],
)
def test_folds_that_are_not_a_partition(cv, no_solve):
    X, y = TALL
    ours = LassoCV(cv=cv, alphas=5, eps=0.1, **TIGHT).fit(X, y, sample_weight=WEIGHTS)
    theirs = linear_model.LassoCV(cv=cv, alphas=5, eps=0.1, **THEIRS)
    assert_same(ours, theirs.fit(X, y, sample_weight=WEIGHTS))


def test_a_column_that_is_nearly_constant_in_a_fold_is_left_to_the_general_method():
    X, y = (part.copy() for part in TALL)
    X[:20, 0] *= 1e6
    moments = DataMoments(X, y, None, True)
    folds = list(KFold(3).split(X))
    assert [moments.of_fold(*fold) is None for fold in folds] == [True, False, False]
    ours = LassoCV(cv=folds, alphas=[0.5, 0.1], **TIGHT).fit(X, y)
    theirs = linear_model.LassoCV(cv=folds, alphas=[0.5, 0.1], **THEIRS).fit(X, y)
    np.testing.assert_allclose(ours.mse_path_[:, 0], theirs.mse_path_[:, 0], rtol=1e-4)


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
def test_one_alpha_unsorted_alphas_and_alpha_zero(shape):
    X, y = shape
    assert LassoCV(alphas=1, cv=2).fit(X, y).mse_path_.shape == (2,)
    given = LassoCV(alphas=[0.1, 2.0, 0.5], cv=2).fit(X, y)
    assert given.alphas_.tolist() == [2.0, 0.5, 0.1]
    same = LassoCV(alphas=[0.1, 0.5, 0.5, 2.0], cv=2).fit(X, y)
    np.testing.assert_allclose(same.mse_path_[[0, 1, 3]], given.mse_path_, rtol=1e-3)
    some = ElasticNetCV(l1_ratio=0.5, alphas=[0.5, 0.0], cv=2).fit(*TALL)
    assert np.isfinite(some.mse_path_).all()


def test_nan_is_refused_in_words():
    X, y = (part.copy() for part in TALL)
    X[3, 3] = np.nan
    for model in (LassoCV(), ElasticNetCV(), RidgeCV(), RidgeCV(cv=3)):
        with pytest.raises(ValueError, match="NaN"):
            model.fit(X, y)


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
def test_points_that_miss_tol_are_counted(shape):
    X, y = shape
    with warnings.catch_warnings(record=True) as caught:  # another one is about the refit
        warnings.simplefilter("always", ConvergenceWarning)
        LassoCV(alphas=5, cv=2, max_iter=0).fit(X, y)
    words = str(caught[0].message)
    assert "of 10 points are not solved; the worst of them: objective" in words
    assert "Target gap" in words


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
def test_the_refit_starts_from_the_path_and_has_a_proof(shape, no_solve):
    X, y = shape
    model = LassoCV(alphas=20, cv=3, eps=1e-2).fit(X, y)
    assert model.solution_.method == "path"
    problem = dg.Problem(X, y, "squared", "l1", model.alpha_, intercept=True)
    best = dg.solve(problem, tol=1e-12).certificate
    own = problem.primal(np.append(model.coef_, model.intercept_))
    assert own - best.dual <= model.dual_gap_ + 1e-12
    assert model.certificate_.dual <= best.primal
    assert model.dual_gap_ <= 1e-4 * best.primal


def test_copies_of_a_problem_know_what_it_knew():
    problem = dg.Problem(*WIDE, "squared", "l1", 1.0)
    known = problem.features, problem.small_rows
    other = problem.with_lam(0.5)
    assert other.features is known[0]
    assert other.small_rows is known[1]
    assert (problem.lam, other.lam) == (1.0, 0.5)


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
def test_threads_change_no_bit(shape):
    X, y = shape
    one, two = (LassoCV(cv=4, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.mse_path_, two.mse_path_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_float32_is_read_in_float64(no_solve):
    X, y = TALL
    X = X.astype(np.float32)
    single = LassoCV(alphas=5, cv=3, **TIGHT).fit(X, y)
    double = LassoCV(alphas=5, cv=3, **TIGHT).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(single.mse_path_, double.mse_path_, rtol=1e-6)
    assert single.coef_.dtype == np.float32


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
def test_gaps_of_a_path_are_those_of_its_coefficients(shape, l1_ratio):
    X, y = shape
    alphas, coefs, gaps, rounds = enet_path(
        X, y, l1_ratio=l1_ratio, alphas=20, return_n_iter=True, sample_weight=WEIGHTS[: len(y)]
    )
    penalty = dg.penalties.ElasticNet(l1_ratio)
    for alpha, coef, gap in zip(alphas, coefs.T, gaps):
        problem = dg.Problem(X, y, "squared", penalty, alpha, WEIGHTS[: len(y)])
        best = dg.solve(problem, tol=1e-12)
        assert problem.primal(coef) - best.certificate.dual <= gap + 1e-12 * problem.scale
        assert gap <= 1e-4 * max(best.certificate.primal, 1e-3 * problem.scale)
    assert len(rounds) == 20


def test_a_point_whose_proof_falls_short_is_solved(monkeypatch):
    X, y = TALL
    usual = lasso_path(X, y, alphas=6)
    usual_search = known_solution.find_proof
    monkeypatch.setattr(
        known_solution,
        "find_proof",
        lambda problem, w, *rest: usual_search(problem, np.full(problem.d, 1e3), None),
    )
    again = lasso_path(X, y, alphas=6)
    np.testing.assert_allclose(again[1], usual[1], atol=0.05)
    assert np.isfinite(again[2]).all()


def test_wide_paths_give_up_where_float64_cannot_know_the_gap():
    X, y = WIDE
    problem = dg.Problem(X, y, "squared", "l1", 1.0, intercept=True)
    points = list(ColumnPath(problem, 1.0, False).points(np.array([0.5, 0.1]), 1e-300, 100))
    assert [point.solved for point in points] == [False, False]


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("storage", [np.array, sp.csr_array])
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
def test_ridge_is_solved_by_its_decomposition(shape, storage, cv, targets, no_solve):
    X, y = shape
    y = y if targets == 1 else np.column_stack([y, -y, y**2])
    setting = {"alphas": [30.0, 0.1, 1.0], "cv": cv}
    # With folds, scikit-learn also scores with weights.
    weights = WEIGHTS[: len(y)] if cv is None else None
    ours = RidgeCV(**setting, **TIGHT).fit(storage(X), y, sample_weight=weights)
    theirs = linear_model.RidgeCV(**setting).fit(X, y, sample_weight=weights)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-8)
    assert np.max(ours.dual_gap_) <= 1e-8
    assert np.min(ours.n_iter_) == 1


def test_ridge_without_a_penalty_and_a_refit_that_reports():
    X, y = TALL
    model = RidgeCV(alphas=[0.0, 1e4], cv=3, tol=1e-10).fit(X, y)
    assert model.alpha_ == 0.0
    np.testing.assert_allclose(model.coef_, linear_model.LinearRegression().fit(X, y).coef_, 1e-4)
    seen = []
    RidgeCV(callback=lambda snapshot: seen.append(snapshot.gap)).fit(X, y)
    assert seen


def test_ridge_with_hopeless_eigenvalues_has_an_svd():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 6)) * np.logspace(0, -7, 6)
    y = X @ np.logspace(0, 7, 6) + 0.1 * rng.standard_normal(40)
    ours = RidgeCV(alphas=[1e-15, 1e-13]).fit(X, y)
    theirs = linear_model.RidgeCV(alphas=[1e-15, 1e-13], gcv_mode="svd").fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-4)
