"""A class that features without a penalty separate from all others: its bound is a theorem too."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

import dualgap as dg
from dualgap.proof.exact_balance import exactly_feasible


def data(far=0, n=60):
    """Three classes; ``far`` is away from the two others, which overlap."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, 2)) + np.where(y == (far + 1) % 3, 0.7, 0.0)[:, None]
    X[y == far] += 20.0
    return X, y


def least_of_two(X, y, far):
    """The infimum: the far class costs nothing, and the others are a logistic regression."""
    kept = y != far
    A = np.column_stack([X[kept], np.ones(kept.sum())])
    signs = np.where(y[kept] == (far + 1) % 3, 1.0, -1.0)

    def objective(w):
        margins = signs * (A @ w)
        slopes = -signs / (1.0 + np.exp(margins))
        return np.sum(np.logaddexp(0.0, -margins)) / len(y), A.T @ slopes / len(y)

    return minimize(objective, np.zeros(3), jac=True, options={"gtol": 1e-10}).fun


@pytest.mark.parametrize("far", [0, 1, 2])
def test_the_bound_is_that_of_the_other_classes_and_exactly_balanced(far):
    X, y = data(far)
    nothing = dg.penalties.Weighted(dg.penalties.L2(), np.zeros(2))
    problem = dg.Problem(X, y, "softmax", nothing, 1.0, intercept=True)
    solution = dg.solve(problem)
    assert solution.converged
    infimum = least_of_two(X, y, far)
    assert solution.certificate.dual <= infimum * (1.0 + 1e-9)
    assert solution.certificate.dual == pytest.approx(infimum, rel=2e-4)
    dual = solution.dual
    assert not dual[:, far].any()
    assert not dual[y == far].any()
    a, repairs = exactly_feasible(problem, dual.ravel())
    exact = [[Fraction(v) for v in row] for row in a.tolist()]
    for place, value in repairs.items():
        exact[place // 3][place % 3] = value
    for row, own in zip(exact, y.tolist()):
        row[own] = -sum(v for k, v in enumerate(row) if k != own)
        assert 0 <= row[own] <= 1
    columns = [[1] * len(y), *([Fraction(x) for x in column] for column in X.T.tolist())]
    for column in columns:
        for k in range(3):
            assert sum(row[k] * x for row, x in zip(exact, column)) == 0


def test_an_estimator_without_a_penalty():
    X, y = data()
    model = dg.LogisticRegression(C=np.inf).fit(X, y)
    assert model.solution_.converged
    two = dg.LogisticRegression(C=np.inf).fit(X[y < 2] - 20.0 * (y[y < 2] == 0)[:, None], y[y < 2])
    assert two.solution_.converged
