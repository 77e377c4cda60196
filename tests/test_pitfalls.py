"""Where other libraries fell: a test for each, on the estimators."""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from dualgap import estimators

CLASSIFIERS = {
    "LinearSVC": estimators.LinearSVC,
    "LogisticRegression": estimators.LogisticRegression,
    "RidgeClassifier": estimators.RidgeClassifier,
}
REGRESSORS = {
    "Ridge": lambda: estimators.Ridge(alpha=0.5),
    "Lasso": lambda: estimators.Lasso(alpha=0.05),
    "ElasticNet": lambda: estimators.ElasticNet(alpha=0.05),
    "LinearSVR": lambda: estimators.LinearSVR(epsilon=0.1),
    "HuberRegression": lambda: estimators.HuberRegression(alpha=0.01),
    "QuantileRegressor": lambda: estimators.QuantileRegressor(alpha=0.02),
    "PoissonRegressor": lambda: estimators.PoissonRegressor(alpha=0.1),
}
ALL = {**CLASSIFIERS, **REGRESSORS}


def problem_for(name, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    z = X @ [1.0, -0.5, 0.0, 0.3] + 0.5 * rng.standard_normal(n)
    if name in CLASSIFIERS:
        return X, (z > 0.2).astype(int)
    return X, rng.poisson(np.exp(0.5 * z)) if name == "PoissonRegressor" else z


def tight(name):
    return ALL[name]().set_params(tol=1e-11)


def same(one, other, atol=1e-4):
    scale = np.abs(other.coef_).max()
    np.testing.assert_allclose(one.coef_, other.coef_, atol=atol * scale)
    np.testing.assert_allclose(one.intercept_, other.intercept_, atol=10.0 * atol)


# --- certificates and stopping -------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_warning_if_and_only_if_the_gap_is_too_large(name):
    X, y = problem_for(name)
    for rounds in (1, 1000):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ALL[name]().set_params(max_iter=rounds, tol=1e-6).fit(X, y)
        warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
        assert warned == (model.certificate_.relative_gap > 1e-6)


def test_a_warning_says_how_far_it_got_and_what_helps():
    X, y = problem_for("LinearSVC")
    with pytest.warns(ConvergenceWarning) as caught:
        model = estimators.LinearSVC(loss="hinge", max_iter=2, tol=1e-9).fit(X, y)
    words = str(caught[0].message)
    for part in ("objective", "no model can do better than", "gap", "passes", "tol", "max_iter"):
        assert part in words
    assert f"{model.dual_gap_:.1e}" in words


@pytest.mark.parametrize("name", ["Lasso", "LinearSVR", "Ridge", "QuantileRegressor"])
def test_tol_knows_no_units(name):
    """y in other units: the same gap, relative to the objective at zero, and the same model."""
    X, y = problem_for(name)
    unit = 2.0**40
    strength = {
        "Lasso": {"alpha": 0.05 * unit},
        "Ridge": {},
        "LinearSVR": {"C": unit, "epsilon": 0.1 * unit},
        "QuantileRegressor": {},
    }[name]
    one = ALL[name]().set_params(tol=1e-9).fit(X, y)
    other = ALL[name]().set_params(tol=1e-9, **strength).fit(X, unit * y)
    np.testing.assert_allclose(other.coef_ / unit, one.coef_, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_the_gap_never_grows(name):
    X, y = problem_for(name)
    gaps = ALL[name]().set_params(tol=1e-9).fit(X, y).history_.gap
    assert (np.diff(gaps) <= 1e-12).all()


def test_ends_of_ranges():
    X, y = problem_for("Lasso")
    ridge = estimators.Ridge(alpha=0.05 * len(y), tol=1e-12).fit(X, y)
    same(estimators.ElasticNet(alpha=0.05, l1_ratio=0.0, tol=1e-12).fit(X, y), ridge)
    lasso = estimators.Lasso(alpha=0.05, tol=1e-12).fit(X, y)
    same(estimators.ElasticNet(alpha=0.05, l1_ratio=1.0, tol=1e-12).fit(X, y), lasso)
    squares = np.linalg.lstsq(np.column_stack([X, np.ones(len(y))]), y, rcond=None)[0]
    for model in (estimators.Ridge(alpha=0.0), estimators.Lasso(alpha=0.0)):
        model.set_params(tol=1e-12).fit(X, y)
        np.testing.assert_allclose(model.coef_, squares[:-1], rtol=1e-6)
    median = estimators.QuantileRegressor(quantile=0.5, alpha=0.0, tol=1e-9).fit(X, y)
    below = np.mean(y < median.predict(X) - 1e-6)
    assert below <= 0.5 <= below + 5.0 / len(y) + 1e-9


# --- data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_duplicate_unsorted_and_wide_indices(name):
    X, y = problem_for(name)
    X[np.random.default_rng(2).random(X.shape) < 0.4] = 0.0
    right = tight(name).fit(X, y)
    whole = sp.coo_array(X)
    rows = np.concatenate([whole.coords[0]] * 2)
    columns = np.concatenate([whole.coords[1]] * 2)
    order = np.argsort(rows, kind="stable")[::1]
    indptr = np.searchsorted(rows[order], np.arange(len(X) + 1))
    halves = np.concatenate([0.25 * whole.data, 0.75 * whole.data])[order]
    double = sp.csr_array((halves, columns[order], indptr), shape=X.shape)
    assert not double.has_canonical_format
    before = double.data.copy()
    same(tight(name).fit(double, y), right)
    np.testing.assert_array_equal(double.data, before)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    same(tight(name).fit(wide, y), right)


@pytest.mark.parametrize("name", ["LinearSVC", "Lasso"])
def test_read_only_memory_maps(name, tmp_path):
    X, y = problem_for(name)
    right = tight(name).fit(X, y)
    np.save(tmp_path / "X.npy", X)
    same(tight(name).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y), right, 1e-10)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("scale", [1e100, 1e-100, 1e-300, 1e200])
def test_extreme_scales_are_refused_or_right(name, scale):
    X, y = problem_for(name)
    model = ALL[name]().set_params(max_iter=200)
    if scale in (1e-300, 1e200):  # squares leave the range of float64
        with pytest.raises(ValueError, match="rescale X"):
            model.fit(X * scale, y)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(X * scale, y)
    assert model.certificate_.dual <= model.certificate_.primal
    if model.certificate_.relative_gap > model.tol:
        assert "scale the features" in str(caught[0].message)
    if scale > 1.0:  # next to nothing is left of the penalty
        strength = {"C": 1e9} if hasattr(model, "C") else {"alpha": 1e-9}
        free = ALL[name]().set_params(tol=1e-5, **strength).fit(X, y)
        assert model.certificate_.primal == pytest.approx(free.certificate_.primal, rel=1e-3)
    elif name != "PoissonRegressor":  # nothing is left of the features; its scale is no objective
        assert model.certificate_.primal == pytest.approx(model.certificate_.scale, rel=2e-3)


@pytest.mark.parametrize("name", ALL)
def test_columns_of_very_different_size(name):
    """One next to free, one next to absent, and a proof all the same."""
    X, y = problem_for(name)
    model = ALL[name]().fit(X * [1e12, 1e-12, 1.0, 1.0], y)
    assert model.certificate_.relative_gap <= model.tol
    same = ALL[name]().fit(np.column_stack([1e6 * X[:, 0], X[:, 2:]]), y)
    assert model.certificate_.primal == pytest.approx(same.certificate_.primal, rel=1e-3)


@pytest.mark.parametrize("name", ALL)
def test_constant_columns_and_zero_rows(name):
    X, y = problem_for(name)
    X[5] = 0.0
    right = tight(name).fit(X, y)
    model = tight(name).fit(np.column_stack([X, np.full(len(y), 3.0)]), y)
    # The intercept does for free what the constant column would be charged for.
    assert np.abs(np.ravel(model.coef_)[-1]) < 1e-5
    assert model.certificate_.primal == pytest.approx(right.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("name", ["LinearSVC", "LogisticRegression"])
def test_one_class_is_an_error(name):
    X, _ = problem_for(name)
    with pytest.raises(ValueError, match="class"):
        ALL[name]().fit(X, np.zeros(len(X)))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", REGRESSORS)
def test_one_sample(name):
    model = ALL[name]().fit(np.array([[1.0, 2.0]]), np.array([3.0]))
    np.testing.assert_allclose(model.predict([[1.0, 2.0]]), 3.0, atol=0.11)
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("name", ALL)
def test_more_features_than_samples(name):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 30))
    y = (X[:, 0] > 0).astype(int)
    model = ALL[name]().fit(X, y)
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("make", [estimators.LinearSVC, estimators.LogisticRegression])
def test_extreme_strengths(make, C):
    X, y = problem_for("LinearSVC")
    model = make(C=C).fit(X, y)
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("C", [1e4, 1e8])
def test_a_class_that_stands_apart(C):
    """Its dual variables are so small that no sum over them is balanced to the last digit."""
    X, y = load_iris(return_X_y=True)
    model = estimators.LogisticRegression(C=C).fit(X, y)
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("make", [estimators.LinearSVC, estimators.LogisticRegression])
def test_one_in_ten_thousand(make):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((20_002, 3))
    y = np.zeros(len(X), dtype=int)
    y[:2] = 1
    X[:2] += 2.0
    model = make(tol=1e-6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    balanced = make(tol=1e-6, class_weight="balanced").fit(X, y)
    assert balanced.certificate_.relative_gap <= 1e-6
    assert balanced.predict(X[:2]).all()


def test_single_precision_on_many_rows():
    """Sums over half a million rows, with X in float32 and a mean far from 0."""
    rng = np.random.default_rng(5)
    X = (rng.standard_normal((500_000, 2)) + 100.0).astype(np.float32)
    y = X.astype(np.float64) @ [1.0, -2.0] + 5.0 + rng.standard_normal(len(X))
    model = estimators.Ridge(alpha=1e-3, tol=1e-9).fit(X, y)
    design = np.column_stack([X.astype(np.float64), np.ones(len(X))])
    exact = np.linalg.lstsq(design, y, rcond=None)[0]
    assert model.coef_.dtype == np.float32
    np.testing.assert_allclose(model.coef_, exact[:2], rtol=1e-5)
    np.testing.assert_allclose(model.predict(X[:5]), design[:5] @ exact, rtol=1e-4)


# --- intercept and weights -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_shifting_the_data_moves_the_intercept_only(name):
    X, y = problem_for(name)
    one, other = tight(name).fit(X, y), tight(name).fit(X + 3.0, y)
    moved = one.intercept_ - 3.0 * np.sum(one.coef_, axis=-1)
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-4 * np.abs(one.coef_).max())
    np.testing.assert_allclose(other.intercept_, moved, atol=1e-3)


@pytest.mark.parametrize("name", ALL)
def test_weights_are_repetitions_and_zero_is_absence(name):
    X, y = problem_for(name)
    counts = np.random.default_rng(6).integers(0, 3, len(y))
    weighted = tight(name).fit(X, y, sample_weight=counts)
    same(weighted, tight(name).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)))
    kept = counts > 0
    same(weighted, tight(name).fit(X[kept], y[kept], sample_weight=counts[kept]))


@pytest.mark.parametrize("name", ALL)
def test_order_does_not_matter(name):
    X, y = problem_for(name)
    right = tight(name).fit(X, y)
    rng = np.random.default_rng(7)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    same(tight(name).fit(X[rows], y[rows]), right)
    moved = tight(name).fit(X[:, columns], y)
    scale = np.abs(right.coef_).max()
    np.testing.assert_allclose(moved.coef_, right.coef_[..., columns], atol=1e-4 * scale)


def test_both_kinds_of_intercept():
    """The penalised one is that of a constant column, the other one that of a huge scaling."""
    X, y = problem_for("LinearSVC")
    y = np.where(np.random.default_rng(8).random(len(y)) < 0.8, 1, y)
    constant = np.column_stack([X, np.full(len(y), 2.0)])
    explicit = estimators.LinearSVC(fit_intercept=False, tol=1e-11).fit(constant, y)
    penalised = estimators.LinearSVC(intercept_penalty="l2", intercept_scaling=2.0, tol=1e-11).fit(
        X, y
    )
    np.testing.assert_allclose(penalised.coef_, explicit.coef_[:, :-1], atol=1e-6)
    np.testing.assert_allclose(penalised.intercept_, 2.0 * explicit.coef_[:, -1], atol=1e-6)
    free = estimators.LinearSVC(tol=1e-11).fit(X, y)
    wide = estimators.LinearSVC(intercept_penalty="l2", intercept_scaling=1e4, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(wide.coef_, free.coef_, atol=1e-4)
    np.testing.assert_allclose(wide.intercept_, free.intercept_, atol=1e-4)


# --- runtime -------------------------------------------------------------------------------------


def test_an_interrupt_keeps_the_best_model():
    X, y = problem_for("LinearSVC", n=400)

    def interrupt(snapshot):
        if snapshot.epoch > 2.0:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model = estimators.LinearSVC(
            loss="hinge", method="cd-uniform", intercept_penalty="l2", tol=1e-12, callback=interrupt
        ).fit(X, y)
    assert model.certificate_.gap < model.certificate_.scale
    assert model.score(X, y) > 0.7


def fit_one(seed):
    X, y = problem_for("LinearSVC", seed=seed)
    return estimators.LinearSVC(loss="hinge").fit(X, y).dual_gap_


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork there")
def test_workers_that_are_forks_or_threads():
    from joblib import Parallel, delayed

    alone = [fit_one(seed) for seed in range(4)]
    for backend in ("multiprocessing", "threading"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forks beside threads
            found = Parallel(n_jobs=2, backend=backend)(delayed(fit_one)(s) for s in range(4))
        np.testing.assert_allclose(found, alone, rtol=1e-9)
