"""Sums in twice the precision, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.linalg import exact

rng = np.random.default_rng(0)


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_are_within_their_bounds(make, dtype):
    """Also where all digits of a float64 cancel."""
    X = rng.standard_normal((40, 3)).astype(dtype)
    a = rng.standard_normal(40)
    X[:, 1] *= 1e12
    weights = rng.random(40)
    # The last feature is such that its sum all but vanishes.
    X[:, 2] = 1.0 / a
    X[1::2, 2] *= -1.0
    y = rng.standard_normal(40)
    problem = dg.Problem(make(X), y, lam=0.3, sample_weight=weights, intercept=True)
    assert problem.by_rows == (make is np.asarray)
    u, error = exact.average(problem, a)
    columns = np.column_stack([X.astype(np.float64), np.ones(40)])
    for j, column in enumerate(columns.T):
        terms = (Fraction(s) * Fraction(b) * Fraction(x) for s, b, x in zip(weights, a, column))
        right = sum(terms) / (Fraction(problem.lam) * sum(map(Fraction, weights)))
        assert abs(Fraction(u[j]) - right) <= Fraction(error[j])
    assert (error <= 1e-14 * np.abs(u) + 1e-25 * np.abs(columns).max(axis=0)).all()


def test_a_proof_for_features_of_any_size():
    """Rounding errors of a float64 sum over the first feature would leave nothing of the bound."""
    X = rng.standard_normal((60, 3)) * [1e12, 1.0, 1e-12]
    y = X @ [1e-12, 1.0, 0.0] + rng.standard_normal(60)
    solution = dg.solve(dg.Problem(X, y, lam=0.05, intercept=True), tol=1e-6)
    assert solution.converged, str(solution)
