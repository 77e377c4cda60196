"""Paths of all folds in one run: the optima of scikit-learn at a tight tolerance, and a proof."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.model_selection import KFold, StratifiedKFold

import dualgap as dg
from dualgap.estimators.selection import logistic_folds
from dualgap.steps.path import fold_paths
from dualgap.steps.path.fold_paths import NewtonPaths

RNG = np.random.default_rng(3)
CS = [10.0, 0.01, 1.0, 100.0]


def data(n, p, classes, offset=0.0):
    X = RNG.standard_normal((n, p)) * np.geomspace(0.3, 3.0, p)
    values = X[:, :3].sum(axis=1) + RNG.standard_normal(n)
    y = np.digitize(values, np.quantile(values, np.arange(1, classes) / classes))
    return X + offset, y


def theirs(X, y, setting, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return linear_model.LogisticRegressionCV(
            solver="newton-cholesky", tol=1e-12, max_iter=1000, use_legacy_attributes=False,
            scoring=setting.get("scoring", "accuracy"), l1_ratios=(0.0,),
            **{key: value for key, value in setting.items() if key != "scoring"},
        ).fit(X, y, sample_weight=weights)  # fmt: skip


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("shape", [(60, 4), (30, 50), (24, 24)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_each_point_of_each_fold_is_the_optimum(classes, shape, weighted, intercept):
    X, y = data(*shape, classes)
    weights = RNG.integers(0, 3, len(y)) + 0.5 if weighted else None
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    setting = {"Cs": CS, "cv": cv, "fit_intercept": intercept, "scoring": "neg_log_loss"}
    ours = dg.LogisticRegressionCV(
        tol=1e-11, use_legacy_attributes=False, l1_ratios=(0.0,), **setting
    ).fit(X, y, sample_weight=weights)
    want = theirs(X, y, setting, weights)
    coefs = want.coefs_paths_
    if classes > 2 and intercept:  # a constant may be added to all intercepts
        coefs = coefs.copy()
        coefs[..., -1] -= coefs[..., -1].mean(axis=-1, keepdims=True)
    np.testing.assert_allclose(ours.coefs_paths_, coefs, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours.scores_, want.scores_, rtol=1e-5)
    assert ours.C_ == want.C_
    weights = np.ones(len(y)) if weights is None else weights
    problem = dg.Problem(
        X, y, "softmax" if classes > 2 else "logistic", "l2", 1.0 / (ours.C_ * weights.sum()),
        weights, intercept=intercept,
    )  # fmt: skip
    assert ours.certificate_.gap <= 1e-11 * max(ours.certificate_.dual, 1e-3 * problem.scale)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(60, 4), (30, 50)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_one_run_finds_what_the_general_method_finds(classes, weighted, shape, dtype, offset):
    X, y = data(*shape, classes)
    X = np.round(X, 1).astype(dtype) + dtype(np.round(offset))
    weights = RNG.random(len(y)) + 0.2 if weighted else None
    setting = {"Cs": CS, "cv": 3, "tol": 1e-7, "use_legacy_attributes": False}
    ours = dg.LogisticRegressionCV(**setting).fit(X, y, sample_weight=weights)
    general = dg.LogisticRegressionCV(method="newton" if classes == 2 else "newton-cg", **setting)
    general.fit(X, y, sample_weight=weights)
    own = ours.coefs_paths_[..., :-1], general.coefs_paths_[..., :-1]
    np.testing.assert_allclose(*own, rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(ours.scores_, general.scores_, atol=0.11)
    if dtype == np.float64:  # coefficients that are rounded to float32 are off the optimum
        assert ours.certificate_.gap <= 1e-7 * max(ours.certificate_.dual, 1e-3)


@pytest.mark.parametrize("shape", [(80, 5), (30, 40)])
@pytest.mark.parametrize("classes", [2, 4])
def test_points_solved_in_one_run_have_small_gaps(shape, classes):
    """Both kinds of steps, judged by certificates of the problems of each fold."""
    X, y = data(*shape, classes, offset=50.0)
    weights = np.stack([RNG.integers(0, 3, len(y)) for _ in range(3)], axis=1).astype(float)
    weights[:classes] = 1.0
    weights[[np.flatnonzero(y == k)[0] for k in range(classes)]] = 1.0
    for direct in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            worth = 0.0 if direct else np.inf
            patch.setattr(fold_paths, "steps_worth_hessians", lambda *_, worth=worth: worth)
            run = NewtonPaths(X, y, classes, weights, True, 1e-6)
        paths, _ = run.follow(np.array([0.01, 1.0, 100.0]), 100)
        assert paths.solved.all()
        for c, C in enumerate((0.01, 1.0, 100.0)):
            for k in range(3):
                own = weights[:, k]
                loss = "softmax" if classes > 2 else "logistic"
                problem = dg.Problem(X, y, loss, "l2", 1.0 / (C * own.sum()), own, intercept=True)
                rows = paths.coefs[:, c, k]
                rows = rows if classes > 2 else rows[:, 0]
                proof = dg.certify(problem, rows[:-1], intercept=rows[-1])
                assert proof.gap <= 2e-6 * max(proof.dual, 1e-3 * problem.scale)


def test_folds_may_repeat_samples_and_lack_classes():
    X, y = data(60, 4, 3)
    train = np.concatenate([np.arange(40), np.arange(20)])
    lacking = np.flatnonzero(y != 2)
    folds = [(train, np.arange(40, 60)), (lacking, np.arange(60)), (np.arange(60) % 2 == 0, [1, 3])]
    model = dg.LogisticRegressionCV(
        Cs=[1.0], cv=folds, tol=1e-10, use_legacy_attributes=False, scoring="neg_log_loss"
    ).fit(X, y)
    alone = dg.LogisticRegression(C=1.0, tol=1e-10).fit(X[train], y[train])
    np.testing.assert_allclose(model.coefs_paths_[0, 0, 0, :, :-1], alone.coef_, atol=1e-4)
    assert model.coefs_paths_[1, 0, 0, 2, -1] == -np.inf
    alone = dg.LogisticRegression(C=1.0, tol=1e-10).fit(X[::2], y[::2])
    np.testing.assert_allclose(model.coefs_paths_[2, 0, 0, :, :-1], alone.coef_, atol=1e-4)


def test_many_folds_are_several_runs(monkeypatch):
    X, y = data(40, 3, 3)
    together = dg.LogisticRegressionCV(Cs=3, cv=KFold(8, shuffle=True, random_state=0)).fit(X, y)
    monkeypatch.setattr(logistic_folds, "_MOST_VALUES", 1000)
    apart = dg.LogisticRegressionCV(Cs=3, cv=KFold(8, shuffle=True, random_state=0)).fit(X, y)
    assert together.C_[0] == apart.C_[0]
    for label in (0, 1, 2):
        np.testing.assert_allclose(
            together.coefs_paths_[label], apart.coefs_paths_[label], rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e160])
def test_data_of_extreme_size_end_with_a_certificate_or_an_error(scale):
    X, y = data(30, 3, 2)
    model = dg.LogisticRegressionCV(Cs=[1e-3, 1.0], cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not 1e-100 < scale < 1e100:
            with pytest.raises(ValueError, match="rescale"):
                model.fit(X * scale, y)
        else:
            model.fit(X * scale, y)
            assert model.certificate_.gap >= 0.0
            assert np.isfinite(model.coef_).all()


def test_threads_and_storage_do_not_matter():
    X, y = data(60, 5, 3)
    one = dg.LogisticRegressionCV(Cs=4, cv=3, tol=1e-8).fit(X, y)
    two = dg.LogisticRegressionCV(Cs=4, cv=3, tol=1e-8, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    for label in one.classes_:
        np.testing.assert_array_equal(one.coefs_paths_[label], two.coefs_paths_[label])
    sparse = dg.LogisticRegressionCV(Cs=4, cv=3, tol=1e-8).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, one.coef_, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("storage", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("direct", [True, False])
def test_sparse_folds_are_those_of_the_same_numbers_as_an_array(
    classes, storage, intercept, direct, monkeypatch
):
    X, y = data(80, 9, classes)
    X[RNG.random(X.shape) < 0.6] = 0.0
    worth = 0.0 if direct else np.inf
    monkeypatch.setattr(fold_paths, "sparse_steps_worth_hessians", lambda *_: worth)
    setting = {"Cs": CS, "cv": 3, "fit_intercept": intercept, "tol": 1e-11}
    weights = RNG.integers(0, 3, len(y)) + 0.5
    made = {"runs": 0}
    sparse_rows = fold_paths.SparseRows

    def counted(*args):
        made["runs"] += 1
        return sparse_rows(*args)

    monkeypatch.setattr(fold_paths, "SparseRows", counted)
    ours = dg.LogisticRegressionCV(**setting).fit(storage(X), y, weights)
    want = dg.LogisticRegressionCV(**setting).fit(X, y, weights)
    assert made["runs"] == 1
    for label, coefs in want.coefs_paths_.items():
        np.testing.assert_allclose(ours.coefs_paths_[label], coefs, rtol=1e-4, atol=1e-4)
    assert ours.C_[0] == want.C_[0]


def test_ctrl_c_ends_the_run_of_all_folds(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    X, y = data(60, 5, 3)
    monkeypatch.setattr(fold_paths, "newton_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        dg.LogisticRegressionCV(Cs=4, cv=3).fit(X, y)


def test_a_callback_hears_of_the_refit():
    X, y = data(60, 5, 2)
    heard = []
    dg.LogisticRegressionCV(Cs=3, cv=3, callback=heard.append).fit(X, y)
    assert heard
