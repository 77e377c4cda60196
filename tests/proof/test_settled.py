"""Samples whose dual variable is 0 in every feasible dual point."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.proof.settled import settled_samples


def problem(X, y, loss, weights=None):
    penalty = dg.penalties.Weighted(dg.penalties.L2(), np.zeros(X.shape[1]))
    return dg.Problem(X, y, loss, penalty, 1.0, weights, intercept=True)


X = np.array(
    [  # a, b, c: levels; the last is a number
        [1, 0, 0, 0.5],
        [1, 0, 0, -1.0],
        [1, 1, 0, 2.0],
        [0, 1, 0, 1.0],
        [0, 0, 1, 3.0],
        [0, 0, 1, -2.0],
        [0, 0, 0, 1.5],
    ]
)


def settled(X, y, loss, weights=None):
    one = problem(X, np.array(y, float), loss, weights)
    found = settled_samples(one, one.free_places)
    return None if found is None else np.flatnonzero(found).tolist()


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_levels_without_events(make):
    assert settled(make(X), [0, 0, 0, 2, 0, 1, 3], "poisson") == [0, 1, 2]
    assert settled(make(X), [1, 0, 0, 2, 0, 1, 3], "poisson") is None
    assert settled(make(X), [-1, -1, -1, -1, -1, 1, 1], "logistic") == [0, 1, 2, 3]
    assert settled(make(X), [1, -1, -1, 1, -1, 1, 1], "logistic") is None
    assert settled(make(X), [0, 0, 0, 2, 0, 1, 3], "squared") is None


def test_settled_samples_settle_others():
    # Without sample 2, which the first level settles, the second level has one class.
    assert settled(X, [-1, -1, -1, 1, -1, 1, 1], "logistic") == [0, 1, 2, 3]
    assert settled(X[:, 1:], [-1, -1, -1, 1, -1, 1, 1], "logistic") is None


def test_weights_of_0_do_not_count():
    weights = np.array([0.0, 1, 1, 1, 1, 1, 1])
    assert settled(X, [5, 0, 0, 2, 0, 1, 3], "poisson", weights) == [1, 2]


def test_numbers_with_both_signs_settle_nothing():
    assert settled(X[:, 3:], [0, 0, 0, 0, 0, 0, 1], "poisson") is None


def test_all_samples_can_be_settled():
    """Each level has one class alone: no dual variable may differ from 0, and the bound is D(0)."""
    X = np.repeat(np.eye(2), 3, axis=0)
    y = np.repeat([1.0, -1.0], 3)
    penalty = dg.penalties.Weighted(dg.penalties.L2(), np.zeros(2))
    found = dg.solve(dg.Problem(X, y, "logistic", penalty, 0.1, intercept=True), max_epochs=50)
    assert found.certificate.dual == pytest.approx(0.0, abs=1e-12)
    assert found.certificate.primal >= 0.0
