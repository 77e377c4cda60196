"""The best model without features, where slopes vanish over an interval."""

import numpy as np
import pytest

import dualgap as dg

LOSSES = (dg.losses.EpsilonInsensitive(0.1), dg.losses.Huber(0.5), dg.losses.Quantile(0.5))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("y", [np.repeat([-3.0, 1.0], 64), np.array([-1.0, 1.0])])
def test_flat_minima(loss, y):
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    problem = dg.Problem(X, y, loss, "l2", 0.1, intercept=True)
    value, b = problem.best_constant
    trials = np.linspace(-4.0, 4.0, 4001)
    best = min(problem.loss_value(np.full(len(y), t)) for t in trials)
    assert value <= best * (1.0 + 2e-3)
    assert value == pytest.approx(problem.loss_value(np.full(len(y), b)), rel=1e-12)
    solution = dg.solve(problem)
    assert solution.converged
    assert np.isfinite(solution.intercept)
