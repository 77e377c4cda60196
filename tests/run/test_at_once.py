"""A fit that its first round solves is the one that the loop would have found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dualgap import Problem, losses, penalties, solve
from dualgap.run.solution import Solution, Status

LOSSES = [
    losses.Squared(),
    losses.Logistic(),
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.Quantile(0.3),
    losses.Poisson(),
]


def problem(loss: Any, intercept: Any = True, penalty: Any = None, lam: float = 0.02) -> Problem:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 5)) * [1.0, 1.0, 30.0, 0.01, 1.0]
    z = X @ [1.0, -1.0, 0.02, 20.0, 0.0] + 0.5 * rng.standard_normal(60)
    kind = losses.targets.targets_of(loss)
    y = np.where(z > 0.0, 1.0, -1.0) if kind.signs else np.floor(np.exp(np.minimum(z, 3.0)))
    return Problem(X, y, loss, penalty or penalties.L2(), lam, intercept=intercept)


def by_loop(one: Problem, **options: Any) -> Solution:
    """A limit of time that is never reached keeps ``solve`` to the loop."""
    return solve(one, "small-newton", max_seconds=1e9, **options)


def same(one: Solution, other: Solution) -> None:
    np.testing.assert_array_equal(one.coef, other.coef)
    np.testing.assert_array_equal(one.dual, other.dual)
    assert one.intercept == other.intercept
    assert (one.status, one.target, one.passes) == (other.status, other.target, other.passes)
    for bound in ("primal", "dual", "gap", "upper"):
        assert getattr(one.certificate, bound) == getattr(other.certificate, bound)
    timeless = [column for column in one.history.columns if column != "seconds"]
    for column in timeless:
        np.testing.assert_array_equal(one.history[column], other.history[column])


@pytest.mark.parametrize("intercept", [True, False, "penalised"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("tol", [1e-1, 1e-4, 1e-13])
def test_it_is_what_the_loop_finds(loss: Any, intercept: Any, tol: float) -> None:
    one = problem(loss, intercept)
    same(solve(one, "small-newton", tol=tol), by_loop(one, tol=tol))


@pytest.mark.parametrize("penalty", [penalties.L1(), penalties.NonNegative(penalties.L2())])
def test_with_kinks(penalty: Any) -> None:
    one = problem(losses.Logistic(), penalty=penalty)
    same(solve(one, "small-newton"), by_loop(one))


def test_most_fits_need_no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dualgap.run.solve.Loop", None)
    for loss in LOSSES:
        assert solve(problem(loss)).converged


def test_what_is_published_is_what_is_proven() -> None:
    def rounded(one: Problem, w: Any, z: Any = None) -> Any:
        return w.astype(np.float32).astype(np.float64)

    one = problem(losses.Logistic())
    found, looped = solve(one, published=rounded), by_loop(one, published=rounded)
    np.testing.assert_array_equal(found.coef, found.coef.astype(np.float32))
    same(found, looped)
    assert one.primal(np.append(found.coef, found.intercept)) <= found.certificate.upper


def test_nothing_is_found_at_once_where_zero_is_optimal() -> None:
    one = problem(losses.Squared(), penalty=penalties.L1(), lam=1e6)
    same(solve(one, "small-newton"), by_loop(one))


def test_ctrl_c_ends_it_with_a_certified_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("dualgap.run.solve.attempt", interrupted)
    found = solve(problem(losses.Logistic()), "small-newton")
    assert found.status is Status.INTERRUPTED
    assert found.interrupted
    assert found.certificate.gap < np.inf


def test_a_first_round_that_is_not_the_last_counts_once() -> None:
    one = problem(losses.EpsilonInsensitive(0.1))
    same(solve(one, "small-newton", max_epochs=1), by_loop(one, max_epochs=1))
    found = solve(one, "small-newton", max_epochs=1)
    assert found.status is Status.MAX_EPOCHS
    assert found.passes > 0.0
