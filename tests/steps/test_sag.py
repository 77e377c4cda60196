"""SAG for any smooth loss: the path of the plain algorithm, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.samplings import Importance, Uniform
from dualgap.steps import AverageGradient, Setting
from dualgap.steps.base import Start


def data():
    rng = np.random.default_rng(0)
    X = sp.random(40, 12, density=0.3, format="csr", random_state=rng)
    return X, np.where(rng.random(40) < 0.5, 1.0, -1.0)


SLOPES = {
    "squared": lambda z, y: z - y,
    "smoothed-hinge": lambda z, y: -y * np.clip(1.0 - y * z, 0.0, 1.0),
    "squared-hinge": lambda z, y: -y * np.maximum(1.0 - y * z, 0.0),
}


@pytest.mark.parametrize("loss", SLOPES)
@pytest.mark.parametrize("step", [1.0, 1.0 / 16.0])
def test_the_path_is_that_of_the_plain_algorithm(loss, step):
    X, y = data()
    lam, n = 0.05, len(y)
    weights = np.linspace(0.5, 1.5, n)
    problem = dg.Problem(X, y, loss, "l2", lam, sample_weight=weights)
    run = AverageGradient(step).start(problem, Start(), Setting(Uniform().bind(problem)))
    order = np.random.default_rng(1).integers(n, size=300)
    for part in np.split(order, [7, 150]):
        run.advance(part)

    rows, c = X.toarray(), weights / weights.sum()
    largest = n * np.max(c * (rows**2).sum(axis=1)) + lam
    w, slopes = np.zeros(12), np.zeros(n)
    for i in order:
        seen = w.copy()
        slopes[i] = SLOPES[loss](rows[i] @ w, y[i])
        w = w - step / largest * (rows.T @ (c * slopes) + lam * w)
    # A run averages before a sample looks, so the last average is still to come.
    np.testing.assert_allclose(run.pair().w, seen, atol=1e-12)
    np.testing.assert_allclose(run.pair().a, -slopes, atol=1e-12)


@pytest.mark.parametrize("loss", [*SLOPES, "logistic"])
def test_it_reaches_a_certified_optimum(loss):
    problem = dg.Problem(*data(), loss, "l2", 0.05)
    assert dg.solve(problem, "sag-smooth", tol=1e-8, max_epochs=5000).converged


@pytest.mark.parametrize(
    ("loss", "penalty", "words"),
    [("hinge", "l2", "not smooth"), ("logistic", "l1", "the penalty is not L2")],
)
def test_what_it_cannot_do_is_refused_in_words(loss, penalty, words):
    with pytest.raises(ValueError, match=words):
        dg.solve(dg.Problem(*data(), loss, penalty, 0.05), "sag-smooth")
    problem = dg.Problem(*data(), "squared", "l2", 0.05)
    with pytest.raises(ValueError, match="draws samples uniformly"):
        dg.solve(problem, "sag-smooth", sampling=Importance("smooth"))
    with pytest.raises(ValueError, match="step must be"):
        AverageGradient(0.0)
