"""Products of all pairs of rows, for few rows."""

import numpy as np
import pytest

from dualgap.linalg import dense
from dualgap.linalg.matrices import Dense
from dualgap.linalg.row_products import centred_row_products
from dualgap.linalg.small_products import times_in_blocks

rng = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 1), (2, 255), (5, 256), (7, 700)])
def test_products_of_centred_rows(shape, dtype):
    n, p = shape
    X = (5.0 + rng.standard_normal(shape)).astype(dtype)
    X.flags.writeable = False
    root = rng.random(n)
    for shares in (rng.dirichlet(np.ones(n)), np.zeros(n)):
        mean, out = np.full(p, np.nan), np.empty((n, n))
        centred_row_products(X, shares, root, mean, out)
        expected = shares @ X.astype(float)
        rows = root[:, None] * (X - expected)
        np.testing.assert_allclose(mean, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(out, rows @ rows.T, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (4, 20), (11, 7), (9, 21)])
def test_norms_of_short_rows(shape, dtype):
    X = rng.standard_normal(shape).astype(dtype)
    X.flags.writeable = False
    rows, columns = dense.measure(Dense(X))
    squares = X.astype(float) ** 2
    np.testing.assert_allclose(rows, squares.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(columns, squares.sum(axis=0), rtol=1e-14)


@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_products_with_long_rows(constant):
    X = rng.standard_normal((3, 2500))
    for used in (2500, 157, 156, 3, 0):  # of which few are gathered
        w, out = rng.standard_normal(2500 + (constant > 0.0)), np.empty(3)
        w[rng.permutation(2500)[used:]] = 0.0
        getattr(times_in_blocks, "py_func", times_in_blocks)(X, constant, w, out)
        last = constant * w[-1] if constant else 0.0
        np.testing.assert_allclose(out, X @ w[:2500] + last, rtol=1e-12, atol=1e-12)
