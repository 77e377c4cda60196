"""Intervals for left-out samples contain what fits without them say."""

import numpy as np
import pytest

import dualgap as dg
from dualgap import penalties
from dualgap.choices import leave_one_out

RNG = np.random.default_rng(13)
N = 24
X = RNG.standard_normal((N, 3)) + 2.0
SCORES = X @ np.array([1.0, -1.0, 0.5]) - 1.0 + RNG.standard_normal(N)
SIGNS = np.where(SCORES > 0.0, 1.0, -1.0)
WEIGHTS = RNG.uniform(0.5, 2.0, N)


def left_out(problem, j, fixed):
    """The decision value of a sample at the optimum without it."""
    kept = np.arange(N) != j
    lam = problem.lam if fixed == "mean" else problem.lam / (1.0 - problem.c[j])
    weights = None if problem.s is None else problem.s[kept]
    offset = None if problem.offset is None else problem.offset[kept]
    own = problem.loss.targets if problem.offset is None else problem.given_loss.targets
    y = SIGNS if own == "binary" else SCORES
    other = dg.Problem(
        X[kept], y[kept], problem.given_loss, problem.feature_penalty, lam, weights,
        problem.intercept, offset=offset,
    )  # fmt: skip
    found = dg.solve(other, tol=1e-12, max_epochs=3000)
    return X[j] @ found.coef + found.intercept


@pytest.mark.parametrize("fixed", ["mean", "sum"])
@pytest.mark.parametrize(
    ("loss", "penalty", "intercept", "weights"),
    [
        ("squared", penalties.L2(), True, None),
        ("logistic", penalties.L2(), True, WEIGHTS),
        ("logistic", penalties.ElasticNet(0.3), "penalised", None),
        ("hinge", penalties.L2(), True, None),
        ("hinge", penalties.L2(), False, WEIGHTS),
        ("squared-hinge", penalties.L2(), True, None),
    ],
)
def test_intervals_contain_the_truth(loss, penalty, intercept, weights, fixed):
    y = SCORES if loss == "squared" else SIGNS
    problem = dg.Problem(X, y, loss, penalty, 0.05, weights, intercept)
    for tol in (1e-2, 1e-9):
        solution = dg.solve(problem, tol=tol)
        found = leave_one_out(solution, fixed=fixed)
        for j in range(0, N, 3):
            truth = left_out(problem, j, fixed)
            assert found.low[j] - 1e-6 <= truth <= found.high[j] + 1e-6


def test_for_least_squares_they_are_exact():
    problem = dg.Problem(X, SCORES, "squared", "l2", 0.1, intercept=True)
    found = leave_one_out(dg.solve(problem, tol=1e-12), fixed="sum")
    assert (found.high - found.low).max() < 1e-4
    low, high = found.squared_error
    truth = np.array([left_out(problem, j, "sum") for j in range(N)])
    assert low <= np.mean((SCORES - truth) ** 2) <= high
    moved = np.abs(truth - found.fitted)
    assert (found.moves.low - 1e-7 <= moved).all()
    assert (moved <= found.moves.high + 1e-7).all()


@pytest.mark.parametrize(
    "model",
    [
        dg.LogisticRegression(tol=1e-9),
        dg.LinearSVC(loss="hinge", C=0.1, tol=1e-7),
        dg.RidgeClassifier(tol=1e-9),
    ],
    ids=lambda model: type(model).__name__,
)
def test_mistakes_of_an_estimator_are_bounded_by_refits(model):
    model.fit(X, SIGNS)
    found = leave_one_out(model, refits=N)
    wrong = 0
    for j in range(N):
        kept = np.arange(N) != j
        other = type(model)(**model.get_params()).fit(X[kept], SIGNS[kept])
        wrong += int(other.predict(X[j : j + 1])[0] != SIGNS[j])
    least, most = found.mistakes
    assert least <= wrong <= most
    assert most - least <= 1
    assert "labels are wrong" in str(found)


def test_an_offset_belongs_to_the_problem():
    offset = RNG.standard_normal(N)
    problem = dg.Problem(X, SIGNS, "logistic", "l2", 0.1, intercept=True, offset=offset)
    found = leave_one_out(dg.solve(problem, tol=1e-10))
    for j in (0, 5):
        truth = left_out(problem, j, "mean")
        assert found.low[j] - 1e-6 <= truth <= found.high[j] + 1e-6


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (dg.Problem(X, SCORES, "squared", "l1", 0.1), "strongly convex"),
        (dg.Problem(X, np.arange(N) % 3, "softmax", "l2", 0.1), "one decision value"),
    ],
)
def test_what_has_no_bounds_is_refused(problem, words):
    with pytest.raises(ValueError, match=words):
        leave_one_out(dg.solve(problem))
