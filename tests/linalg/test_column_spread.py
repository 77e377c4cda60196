"""How uneven columns are: exact where entries are few, an estimate elsewhere."""

import numpy as np
import pytest
import scipy.sparse as sp

from dualgap.linalg.column_spread import squared_column_counts, squared_column_squares


def rows_of(n, d, filled, decades=0.0):
    rng = np.random.default_rng(4)
    X = sp.csr_matrix(np.where(rng.random((n, d)) < filled, rng.standard_normal((n, d)), 0.0))
    return sp.csr_matrix(X.multiply(10.0 ** rng.uniform(-decades, 0.0, d)))


def exact(X):
    return np.sum(np.asarray(X.multiply(X).sum(axis=0)) ** 2), np.sum(
        np.diff(X.tocsc().indptr) ** 2
    )


@pytest.mark.parametrize("filled", [0.0, 0.1, 1.0])
def test_few_entries_are_all_counted(filled):
    X = rows_of(30, 40, filled, 3.0)
    squares, counts = exact(X)
    assert squared_column_squares(X) == pytest.approx(squares, rel=1e-12)
    assert squared_column_counts(X) == counts


@pytest.mark.parametrize("decades", [0.0, 2.0])
def test_many_entries_are_estimated(decades):
    X = rows_of(2000, 300, 0.2, decades)
    squares, counts = exact(X)
    assert squared_column_squares(X) == pytest.approx(squares, rel=0.3)
    assert squared_column_counts(X) == pytest.approx(counts, rel=0.3)
