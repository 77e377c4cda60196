"""Passes over dense matrices: any shape, order and dtype, and the same bits with any threads."""

import numpy as np
import pytest

from dualgap.linalg import dense, parallel, storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.gram import gram
from dualgap.linalg.matrices import Dense

rng = np.random.default_rng(0)
SHAPES = [(1, 1), (5, 3000), (3000, 5), (40, 1025), (1025, 40)]


@pytest.fixture
def small_parts(monkeypatch):
    """Whatever is small counts as large."""
    tuning = parallel.TUNING._replace(worthwhile=1, dense_speed=1, products_per_number=1)
    monkeypatch.setattr(parallel, "TUNING", tuning)
    monkeypatch.setattr("dualgap.linalg.gram._SHARED_FROM", 1)


def matrix_of(shape, dtype, order):
    return np.asarray(rng.standard_normal(shape), dtype=dtype, order=order)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_and_norms(shape, dtype, order, small_parts):
    """Float32 entries are multiplied as float64 numbers."""
    X = matrix_of(shape, dtype, order)
    exact, data = X.astype(np.float64), DesignMatrix(X)
    w, a = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    a[1::3] = 0.0
    found = []
    for threads in (1, 2, 5):
        with parallel.at_most(threads):
            own = DesignMatrix(X)
            norms = own.row_squares, own.column_squares
            found.append((data.times(w, 1), data.summed(a, 1), *norms, gram(data, a)))
    expected = exact @ w, exact.T @ a, (exact**2).sum(1), (exact**2).sum(0), (exact.T * a) @ exact
    for one, other in zip(found[0], expected):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-11)
    for more in found[1:]:
        assert all((one == other).all() for one, other in zip(found[0], more))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(203, 1), (401, 50), (202, 64), (301, 65)])
def test_sums_over_rows_of_which_some_weigh_nothing(shape, share):
    X = matrix_of(shape, np.float32, "C")
    a = rng.standard_normal(shape[0]) * (rng.random(shape[0]) < share)
    np.testing.assert_allclose(
        DesignMatrix(X).summed(a, 1), a @ X.astype(float), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_chosen_rows_are_rows_in_memory(order):
    X, places = matrix_of((20, 6), np.float32, order), np.array([3, 3, 19, 0])
    for given in (X, X[:, ::2]):
        found = storage.chosen_rows(given, places)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, given[places])


@pytest.mark.parametrize("used", range(10))
def test_rows_of_weight_zero_are_passed_over(used):
    """Sums take four rows at a time, and those that are left one by one."""
    rng = np.random.default_rng(used)
    X, weights = rng.standard_normal((9, 3)), np.zeros(9)
    weights[rng.permutation(9)[:used]] = rng.standard_normal(used)
    X[weights == 0.0] = np.finfo(float).max
    out = np.empty(3)
    dense.scatter(Dense(storage.read_only(X)), weights, out)
    np.testing.assert_allclose(out, X[weights != 0.0].T @ weights[weights != 0.0], atol=1e-14)


def test_few_coefficients_are_multiplied_alone():
    X, w = rng.standard_normal((30, 600)), np.zeros(600)
    w[[3, 599]] = 2.0, -1.0
    np.testing.assert_allclose(DesignMatrix(X).times(w, 1), 2.0 * X[:, 3] - X[:, 599], rtol=1e-14)


@pytest.mark.parametrize("shape", [(7, 5000), (5000, 7)])
def test_one_pass_finds_norms_of_rows_and_columns(shape):
    X = rng.standard_normal(shape)
    own, other = dense.measure(DesignMatrix(X).stored_rows)
    np.testing.assert_allclose(own, (X**2).sum(1), rtol=1e-13)
    np.testing.assert_allclose(other, (X**2).sum(0), rtol=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_entries_that_are_not_finite_are_found(bad):
    X = rng.standard_normal((50, 4))
    X[41, 2] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        DesignMatrix(X)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_matrices_with_weights_of_both_signs(dtype, constant):
    X, weights = matrix_of((900, 6), dtype, "C"), rng.standard_normal(900)
    bordered = np.c_[X.astype(np.float64), np.ones(900)] if constant else X.astype(np.float64)
    found = gram(DesignMatrix(X, constant), weights)
    np.testing.assert_allclose(found, bordered.T @ (weights[:, None] * bordered), atol=1e-11)
    assert (found == found.T).all()
