"""Many free features of large sparse data: their columns stay in X, and what is proven is true."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.linalg.coded_matrix import CodedMatrix
from dualgap.proof import free_features
from dualgap.proof.free_columns import FreeColumns
from dualgap.proof.tuning import TUNING

SIZES = (6, 4, 5)
STARTS = (2, 8, 12, 17)


@pytest.fixture
def large(monkeypatch):
    """Let small data count as large."""
    monkeypatch.setattr(free_features, "TUNING", replace(TUNING, dense_free_columns=100))


def data(n=500, seed=0, nested=False):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([a + rng.integers(0, k, n) for a, k in zip(STARTS, SIZES)])
    if nested:  # each level of the second column belongs to levels of the first
        codes[:, 1] = STARTS[1] + (codes[:, 0] - STARTS[0]) // 2
    numbers = np.column_stack([rng.normal(size=n), rng.integers(0, 30, n)])
    X = CodedMatrix.of(numbers, codes, STARTS)
    eta = X @ rng.normal(size=17) * 0.3
    return X, rng.poisson(np.exp(eta - eta.mean())).astype(float), rng.random(n)


def unpenalised(X, y, weights, loss="poisson", intercept=True):
    penalty = dg.penalties.Weighted(dg.penalties.L2(), np.zeros(X.shape[1]))
    return dg.Problem(X, y, loss, penalty, 1.0, weights, intercept=intercept)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("kind", ["codes", "csr"])
def test_levels_follow_from_others(large, kind, nested, intercept):
    X, y, weights = data(nested=nested)
    weights[X.codes[:, 2] == STARTS[2]] = 0.0  # a level without any weight
    X = X if kind == "codes" else X.plain()
    free = unpenalised(X, y, weights, intercept=intercept).unpenalised
    assert isinstance(free.X, FreeColumns)
    assert not free.collinear
    columns = X.toarray()[weights > 0.0]
    columns = np.column_stack([columns, np.ones(len(columns))]) if intercept else columns
    assert len(free.features) == np.linalg.matrix_rank(columns)
    assert np.linalg.matrix_rank(columns[:, free.features]) == len(free.features)


def test_a_column_that_follows_only_nearly(large):
    X, y, weights = data()
    X.numbers[:, 1] = (X.codes[:, 0] == 3) + 1e-9 * X.numbers[:, 0]
    assert unpenalised(X, y, weights).unpenalised.collinear
    X.numbers[:, 1] = 0.1 * (X.codes[:, 0] == 3)  # a tenth is no whole number: not provable
    assert unpenalised(X, y, weights).unpenalised.collinear
    X.numbers[:, 1] = 7.0 * (X.codes[:, 0] == 3)
    assert not unpenalised(X, y, weights).unpenalised.collinear


def test_products_are_those_of_dense_columns(large, monkeypatch):
    X, y, weights = data()
    problem = unpenalised(X, y, weights)
    free = problem.unpenalised
    dense = np.column_stack([X.toarray(), np.ones(500)])[:, free.features]
    dense /= np.sqrt(np.sum(dense**2, axis=0))
    rng = np.random.default_rng(1)
    t, v = rng.normal(size=dense.shape[1]), rng.normal(size=500)
    np.testing.assert_allclose(free.X.times(t), dense @ t, atol=1e-12)
    np.testing.assert_allclose(free.X.summed(v), dense.T @ v, atol=1e-12)
    np.testing.assert_allclose(free.X.gram(weights), (dense.T * weights) @ dense, atol=1e-12)
    np.testing.assert_allclose(free.X.rows([3, 8]), dense[[3, 8]], atol=1e-15)


@pytest.mark.parametrize("loss", ["poisson", "logistic", "squared"])
@pytest.mark.parametrize("nested", [True, False])
def test_the_proof_is_that_of_independent_columns(large, loss, nested):
    X, y, weights = data(nested=nested)
    y = np.where(y > 0.0, 1.0, -1.0) if loss == "logistic" else y
    problem = unpenalised(X, y, weights, loss)
    found = dg.solve(problem, tol=1e-8)
    assert found.converged
    assert isinstance(problem.unpenalised.X, FreeColumns)
    kept = [j for j in problem.unpenalised.features if j < 17]
    less = unpenalised(np.ascontiguousarray(X.toarray()[:, kept]), y, weights, loss)
    other = dg.solve(less, tol=1e-10)
    assert other.converged
    one, two = found.certificate, other.certificate
    assert one.dual <= two.upper
    assert two.dual <= one.upper
    assert one.gap <= 1e-7 * max(one.primal, 1e-3)


def test_dense_columns_of_whole_numbers_need_no_fractions():
    X, y, weights = data()
    rows = X.toarray()
    problem = unpenalised(rows, y, weights)
    assert not problem.unpenalised.collinear
    assert len(problem.unpenalised.features) == np.linalg.matrix_rank(rows)
    assert sp.issparse(X)
    rows[:, 1] = rows[:, 2] / 3.0  # no whole numbers: fractions decide
    assert unpenalised(rows, y, weights).unpenalised.collinear
