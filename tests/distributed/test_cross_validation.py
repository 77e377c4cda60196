"""Strengths chosen over partitions are those that one machine chooses on the same folds."""

import numpy as np
import pytest
import scipy.sparse as sp
from cluster_data import blocks

import dualgap as dg
from dualgap.distributed import LassoCV, LogisticRegressionCV, PoissonRegressorCV, RidgeCV, fit
from dualgap.distributed.data.folds import Fold, Folds

N = 150


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 4)) + 3.0
    z = (X - 3.0) @ np.array([1.0, -1.0, 0.5, 0.0])
    return X, z, z + 0.3 * rng.standard_normal(N) + 2.0


def pairs(count=5, seed=0):
    """Training and test samples of the folds."""
    own = Folds(count, seed, (0,)).of_partition(0, N)
    return [(np.flatnonzero(own != j), np.flatnonzero(own == j)) for j in range(count)]


def test_folds_do_not_depend_on_the_partitions():
    whole = Folds(4, 7, (0,)).of_partition(0, 1000)
    parts = Folds(4, 7, (0, 130, 600))
    sizes = (130, 470, 400)
    apart = np.concatenate([parts.of_partition(k, n) for k, n in enumerate(sizes)])
    np.testing.assert_array_equal(apart, whole)
    assert set(whole) == {0, 1, 2, 3}
    fold, weights = Fold(parts, 2), np.arange(130.0)
    both = fold.training_weights(0, 130, weights) + fold.test_weights(0, 130, weights)
    np.testing.assert_array_equal(both, weights)
    assert fold.test_weights(0, 130, None).sum() == np.count_nonzero(whole[:130] == 2)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_least_squares_choose_from_moments(kind):
    X, _, y = data()
    weights = np.random.default_rng(1).integers(0, 3, N).astype(float)
    parts = [(kind(X[s]), y[s], weights[s]) for s in (slice(0, 60), slice(60, N))]
    one, there = dg.LassoCV(cv=pairs()), LassoCV()
    one.fit(X, y, weights)
    there.fit(parts)
    np.testing.assert_allclose(there.alphas_, one.alphas_, rtol=1e-9)
    np.testing.assert_allclose(there.mse_path_, one.mse_path_, rtol=1e-3)
    assert there.alpha_ == pytest.approx(one.alpha_)
    assert there.certificate_.dual <= one.certificate_.primal
    assert one.certificate_.dual <= there.certificate_.primal
    assert there.dual_gap_ <= 1e-4 * there.certificate_.scale
    one, there = dg.RidgeCV(cv=pairs(3)), RidgeCV(cv=3)
    one.fit(X, y)
    there.fit(blocks(kind(X), y, 3))
    assert there.best_score_ == pytest.approx(one.best_score_, rel=1e-9)
    assert there.alpha_ == one.alpha_


def test_other_models_are_fitted_without_each_fold():
    X, z, _ = data()
    labels = np.array(["a", "b", "c"])[np.digitize(z, [-1.0, 1.0])]
    how = {"Cs": [0.01, 1.0], "class_weight": {"a": 2.0}}
    one, there = dg.LogisticRegressionCV(cv=pairs(2), **how), LogisticRegressionCV(cv=2, **how)
    one.fit(X, labels)
    there.fit(blocks(X, labels, 3))
    np.testing.assert_array_equal(there.C_, one.C_)
    assert set(there.scores_) == set(one.scores_)
    np.testing.assert_allclose(there.scores_["a"], one.scores_["a"], atol=0.02)
    assert there.coefs_paths_["b"].shape == one.coefs_paths_["b"].shape
    np.testing.assert_allclose(there.coef_, one.coef_, atol=0.05)
    counts = np.round(np.exp(0.5 * z))
    one, there = dg.PoissonRegressorCV(cv=pairs(2), alphas=[1.0, 0.01]), PoissonRegressorCV(cv=2)
    there.alphas = [1.0, 0.01]
    one.fit(X, counts)
    there.fit(blocks(X, counts, 3))
    np.testing.assert_allclose(there.scores_, one.scores_, rtol=1e-3)
    assert there.alpha_ == one.alpha_


def test_what_cross_validation_refuses():
    X, z, y = data()
    parts = blocks(X, y, 2)
    for model, words in (
        (dg.QuantileRegressorCV(), "in a way that partitions do not support"),
        (RidgeCV(scoring="r2"), "scoring: over partitions"),
        (RidgeCV(cv=1), "cv must be at least 2"),
        (RidgeCV(cv=[([0], [1])]), "cv must be a whole number"),
        (RidgeCV(cv=N * 10), "has no sample with weight"),
        (LogisticRegressionCV(l1_ratios=[0.0, 1.0]), "only C is chosen"),
        (LogisticRegressionCV(refit=False), "refit=False has no proof"),
    ):
        with pytest.raises(ValueError, match=words):
            fit(model, blocks(X, z > 0.0, 2) if isinstance(model, LogisticRegressionCV) else parts)
