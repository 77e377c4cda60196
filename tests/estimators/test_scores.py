"""Scores of plain arrays are scikit-learn's, and so are refusals."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

from dualgap.estimators.scores import accuracy, r_squared

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kind", [int, bool, str, np.int8])
def test_accuracy(kind):
    y, predicted = (RNG.integers(0, 2, 40).astype(kind) for _ in range(2))
    weights = RNG.random(40)
    for own in (None, weights):
        want = accuracy_score(y, predicted, sample_weight=own)
        assert accuracy(y, predicted, own) == pytest.approx(want, rel=1e-14)


def test_r_squared():
    y, predicted = RNG.standard_normal((2, 40))
    for own in (None, RNG.random(40)):
        want = r2_score(y, predicted, sample_weight=own)
        assert r_squared(y, predicted, own) == pytest.approx(want, rel=1e-12)
    assert r_squared(np.ones(5), np.ones(5), None) == 1.0  # a constant, as scikit-learn sees it
    assert r_squared(np.ones(5), np.zeros(5), None) == 0.0


@pytest.mark.parametrize("bad", [np.array([0.0, np.nan]), np.zeros(3), np.array(["a", "b"])])
def test_what_cannot_be_scored_is_refused(bad):
    with pytest.raises((ValueError, TypeError)):
        r_squared(bad, np.array([0.5, 1.0]), None)


def test_labels_that_cannot_be_compared_are_refused():
    with pytest.raises((ValueError, TypeError)):
        accuracy(np.array([0, 1, 1]), np.array([0, 1]), None)
    with pytest.raises((ValueError, TypeError)):
        accuracy(np.array([0.5, 1.5]), np.array([0, 1]), None)
