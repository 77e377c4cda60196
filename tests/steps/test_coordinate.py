"""The coordinate step: monotone in both views, whatever the loss, however the data is stored."""

import numpy as np
import pytest
import scipy.sparse as sp
from reference import LOSSES, targets

import dualgap as dg
from dualgap.proof.certificate import evaluate
from dualgap.steps.base import Start
from dualgap.steps.coordinate.coordinate import Coordinate


@pytest.mark.parametrize("view", ["dual", "primal"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_no_update_makes_things_worse(loss, view, scale):
    rng = np.random.default_rng(1)
    X = scale * rng.standard_normal((25, 6))
    y = targets(LOSSES[loss], X[:, 0] / scale, rng)
    problem = dg.Problem(X, y, LOSSES[loss], "l2", 0.01)
    step = Coordinate(view)
    if step.refusal(problem):
        assert view == "primal"
        return
    run = step.start(problem, Start())
    last = -np.inf
    for i in rng.integers(run.size, size=60):
        run.advance(np.array([i]))
        proof = evaluate(problem, run.pair())
        now = proof.dual if view == "dual" else -proof.primal
        assert now >= last - 1e-13 * (abs(last) + abs(proof.primal))
        last = now


@pytest.mark.parametrize("loss", [name for name in LOSSES if LOSSES[name].differentiable])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_a_primal_update_minimises_along_its_feature(loss, penalty):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 3))
    problem = dg.Problem(X, targets(LOSSES[loss], X[:, 1], rng), LOSSES[loss], penalty, 0.02)
    run = Coordinate("primal").start(problem, Start())
    run.advance(np.array([1]))
    w = run.view.x.copy()
    best = problem.primal(w)
    start = problem.primal(np.zeros(3))
    move = np.array([0.0, max(abs(w[1]), 1e-3), 0.0])
    for fraction in (-0.5, -0.05, 0.05, 0.5):
        assert problem.primal(w + fraction * move) >= best - 1e-4 * (start - best)


@pytest.mark.parametrize("view", ["dual", "primal"])
def test_dense_and_sparse_take_the_same_steps(view):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8)) * (rng.random((30, 8)) < 0.4)
    y = rng.standard_normal(30)
    order = rng.integers(8, size=50)
    states = []
    for data in (X, sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X)):
        run = Coordinate(view).start(dg.Problem(data, y, "huber", "elastic-net", 0.1), Start())
        run.advance(order)
        states.append(run.view.x)
    for state in states[1:]:
        np.testing.assert_allclose(state, states[0], atol=1e-13)


def test_updates_keep_v_in_step_with_x():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 10))
    run = Coordinate("dual").start(dg.Problem(X, rng.standard_normal(50), lam=0.1), Start())
    run.advance(rng.integers(50, size=100_000))
    drifted = run.view.v.copy()
    run.refresh()
    np.testing.assert_allclose(drifted, run.view.v, rtol=1e-11)


def test_an_update_touches_only_its_own_entries():
    """O(nonzeros of the row): the other features do not change."""
    X = sp.csr_array(np.diag([1.0, 2.0, 3.0, 4.0]))
    run = Coordinate("dual").start(dg.Problem(X, [1.0, 1.0, 1.0, 1.0], lam=0.1), Start())
    run.advance(np.array([2]))
    assert (run.view.v != 0).tolist() == [False, False, True, False]
    assert run.advance(np.array([], dtype=np.int64)) == (0, 0)


def test_zero_rows_are_settled_at_the_start():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0]])
    for loss in ("hinge", "logistic", "smoothed-hinge"):
        problem = dg.Problem(X, [1.0, -1.0, 1.0], loss, "l2", 0.1)
        run = Coordinate("dual").start(problem, Start())
        proof = evaluate(problem, run.pair())
        assert proof.sample_parts[0] == pytest.approx(0.0, abs=1e-16)


def test_bad_view_is_named():
    with pytest.raises(ValueError, match="view"):
        Coordinate("sideways")


@pytest.mark.parametrize(("loss", "penalty"), [("squared", "l1"), ("hinge", "l2")])
def test_a_coordinate_that_was_just_minimised_has_no_residue(loss, penalty):
    """At a kink, rounding errors must not pass for the whole width of the subdifferential."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20))
    y = np.sign(X[:, 0] + rng.standard_normal(60))
    view = "primal" if penalty == "l1" else "dual"
    problem = dg.Problem(X, y, loss, penalty, 0.05)
    run = Coordinate(view).start(problem, Start())
    for _ in range(5):
        run.advance(rng.permutation(run.size))
    inner = 0
    for i in range(run.size):
        run.advance(np.array([i]))
        pair = run.pair()
        score = run.scores(pair, evaluate(problem, pair)).residue[i]
        assert score <= 1e-9
        inner += 0.0 < abs(run.view.x[i]) < (np.inf if view == "primal" else 1.0)
    assert inner > 3  # at the kink, where the residue could have been anything
