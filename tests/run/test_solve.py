"""The loop: stopping, recording, warm starts, interruption, reproducibility."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from reference import LOSSES, targets

import dualgap as dg
from dualgap.methods import METHODS, Method, suitable
from dualgap.run.solution import Status
from dualgap.steps.coordinate.coordinate import Coordinate


def make(loss="hinge", penalty="l2", lam=0.02, n=60, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    loss = LOSSES[loss]
    return dg.Problem(X, targets(loss, X[:, 0] - X[:, 1], rng), loss, penalty, lam)


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic"])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_converges_or_refuses_in_words(name, loss):
    problem = make(loss)
    if METHODS[name].refusal(problem):
        with pytest.raises(ValueError, match="would work") as error:
            dg.solve(problem, name)
        other = str(error.value).split("method='")[1].split("'")[0]
        assert dg.solve(problem, other, tol=1e-3).converged
    else:
        solution = dg.solve(problem, name, tol=1e-6, max_epochs=5000)
        assert solution.converged, str(solution)
        assert solution.certificate.gap <= 1e-6 * problem.scale
        assert solution.method.startswith(name)


@pytest.mark.parametrize("name", [name for name in METHODS if name.startswith("cd-")])
def test_coordinate_methods_solve_the_lasso(name):
    solution = dg.solve(make("squared", "l1"), name, tol=1e-6)
    assert solution.converged, str(solution)
    assert "primal view" in solution.method


@pytest.mark.parametrize(
    ("problem", "method", "piece"),
    [
        (make("hinge"), "adasdca", "Hinge loss is not smooth"),
        (make("squared", "elastic-net"), "sdca", "penalty is not L2"),
        (make("squared", "l1"), "prox-sdca", "not strongly convex"),
        (make("hinge", "l1"), "cd-uniform", "no derivative"),
        (make("hinge"), Coordinate("primal"), "no derivative"),
        (make("squared"), "cd-importance", "slope of the Squared loss has no bound"),
    ],
)
def test_refusals_name_the_missing_piece_and_a_method_that_works(problem, method, piece):
    with pytest.raises(ValueError, match=piece) as error:
        dg.solve(problem, method)
    other = str(error.value).split("method='")[1].split("'")[0]
    assert other in suitable(problem)
    assert dg.solve(problem, other, tol=1e-3).converged


def test_a_method_is_a_step_and_a_sampling():
    problem = make("squared")
    named = dg.solve(problem, "cd-permutation")
    composed = dg.solve(problem, Method(Coordinate("dual"), dg.samplings.Permutation()))
    separate = dg.solve(problem, Coordinate("dual"), dg.samplings.Permutation())
    replaced = dg.solve(problem, "sdca", sampling=dg.samplings.Permutation())
    for other in (composed, separate, replaced):
        np.testing.assert_array_equal(other.coef, named.coef)
    assert "Permutation" in replaced.method


@pytest.mark.parametrize("name", ["adasdca+", "cd-gap-per-epoch", "sdca", "cd-ada-gap"])
def test_the_same_seed_gives_the_same_bits(name):
    problem = make("smoothed-hinge")
    one, two = (dg.solve(problem, name, random_state=5, max_epochs=7, tol=0) for _ in range(2))
    other = dg.solve(problem, name, random_state=6, max_epochs=7, tol=0)
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.dual, two.dual)
    np.testing.assert_array_equal(one.history.gap, two.history.gap)
    assert not np.array_equal(one.dual, other.dual)


def test_history_has_named_columns_that_move_the_right_way():
    solution = dg.solve(make("logistic"), "cd-gap-per-epoch", tol=1e-8)
    history = solution.history
    assert set(history.to_dict()) == {
        "epoch", "passes", "updates", "iterations", "vector_operations", "seconds", "primal",
        "dual", "gap",
    }  # fmt: skip
    assert len(history) == len(history.gap) >= 2
    assert (np.diff(history.gap) <= 0).all()
    assert (np.diff(history.primal) <= 0).all()
    assert (np.diff(history.dual) >= 0).all()
    for column in ("epoch", "passes", "updates", "iterations", "vector_operations", "seconds"):
        assert (np.diff(history[column]) > 0).all()
    np.testing.assert_allclose(history.updates, history.epoch * 60)
    assert history.passes[-1] == solution.passes > solution.n_iter  # looks at the data count
    with pytest.raises(KeyError, match="not one of"):
        history["loss"]
    with pytest.raises(AttributeError):
        _ = history.loss


def test_vector_operations_count_updates_and_looks():
    """Two per update that moves, one per look at a coordinate."""
    uniform = dg.solve(make("squared"), "sdca", tol=0, max_epochs=1).history.vector_operations
    adaptive = dg.solve(make("squared"), "adasdca", tol=0, max_epochs=1).history.vector_operations
    assert uniform[-1] <= 2 * 60
    assert 60 * 60 + 60 <= adaptive[-1] <= 60 * 60 + 2 * 60


def test_tol_is_relative_to_the_optimum():
    problem = make("squared")
    solution = dg.solve(problem, tol=1e-3)
    proof = solution.certificate
    assert solution.target == pytest.approx(1e-3 * proof.dual)
    assert proof.gap <= solution.target
    best = dg.solve(problem, tol=1e-12).certificate
    assert proof.primal - best.dual <= 1e-3 * best.primal
    assert proof.relative_gap == pytest.approx(proof.gap / proof.dual)
    assert str(proof).endswith("of the optimum)")


def test_tol_can_be_relative_to_the_start():
    problem = make("squared")
    solution = dg.solve(problem, tol=1e-3, relative_to="start")
    assert solution.target == pytest.approx(1e-3 * np.mean(problem.y**2) / 2)
    assert solution.certificate.gap <= solution.target
    assert solution.settings == {"tol": "0.001", "relative_to": '"start"'}
    with pytest.raises(ValueError, match=r"relative_to.*optimum"):
        dg.solve(problem, relative_to="P(0)")


def test_an_optimum_of_zero_does_not_ask_for_a_gap_of_zero():
    X = np.random.default_rng(3).standard_normal((40, 4))
    problem = dg.Problem(X, X @ [1.0, -2.0, 0.5, 3.0], lam=1e-12)
    solution = dg.solve(problem, tol=1e-4)
    assert solution.converged
    assert solution.target == pytest.approx(1e-7 * problem.scale)
    assert str(solution.certificate).endswith("of 0.001·P(0))")


def test_poisson_objectives_count_from_their_least_value():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = rng.poisson(np.exp(4.0 + 0.3 * X[:, 0])).astype(float)
    problem = dg.Problem(X, y, "poisson", lam=1e-3, intercept=True)
    solution = dg.solve(problem, tol=1e-3)
    deviance = solution.certificate.dual - problem.floor
    assert solution.converged
    assert solution.target == pytest.approx(1e-3 * deviance)


@pytest.mark.parametrize("method", ["auto", "cd-gap-decay", "sdca"])
def test_a_strong_penalty_does_not_return_the_start(method):
    """Zero coefficients are within tol of the optimum, but they are not what users ask for."""
    problem = make("squared").with_lam(1e8)
    solution = dg.solve(problem, method)
    assert solution.converged
    assert solution.coef.all()
    assert not dg.solve(problem, method, max_epochs=0).coef.any()
    lasso = dg.Problem(problem.X, problem.y, "squared", "l1", 1e8)
    assert len(dg.solve(lasso, "working-set").history) == 1  # zero is the optimum itself
    assert not dg.solve(lasso).coef.any()


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_do_not_matter(factor):
    problem = make("squared")
    scaled = dg.Problem(problem.X * factor, problem.y / factor, lam=problem.lam * factor**2)
    one, two = dg.solve(problem, tol=1e-6), dg.solve(scaled, tol=1e-6)
    np.testing.assert_allclose(two.coef * factor**2, one.coef, rtol=1e-6)
    assert one.n_iter == two.n_iter


def test_running_out_of_epochs_says_how_far_it_got_and_what_helps():
    solution = dg.solve(make(lam=1e-4), "cd-gap-decay", tol=1e-12, max_epochs=3)
    assert solution.status is Status.MAX_EPOCHS
    assert not solution.converged
    words = str(solution)
    for part in ("objective", "no model can do better than", "gap", "6 passes", "Target", "Raise"):
        assert part in words


def test_zero_epochs_certify_the_start():
    solution = dg.solve(make(), max_epochs=0)
    assert solution.status is Status.MAX_EPOCHS
    assert len(solution.history) == 1
    assert solution.certificate.primal == 1.0


def test_running_out_of_time():
    solution = dg.solve(
        make(lam=1e-6, n=400), "cd-gap-decay", tol=0, max_seconds=0.05, max_epochs=10**9
    )
    assert solution.status is Status.MAX_SECONDS
    assert solution.certificate.gap < solution.history.gap[0]


def test_an_impossible_tolerance_stalls_in_words():
    solution = dg.solve(make("squared"), tol=0, max_epochs=100_000)
    assert solution.status is Status.STALLED
    assert 0 <= solution.certificate.relative_gap < 1e-13


def test_callback_sees_the_run_and_can_stop_it():
    seen = []
    problem = make()
    dg.solve(problem, tol=1e-3, callback=seen.append)
    assert [snapshot.gap for snapshot in seen] == sorted((s.gap for s in seen), reverse=True)
    assert seen[0].epoch == 0
    assert seen[-1].gap > seen[-1].target  # it is not called once the target is proven
    stopped = dg.solve(
        problem, "cd-gap-decay", tol=0, callback=lambda snapshot: snapshot.epoch >= 2
    )
    assert stopped.status is Status.CALLBACK
    assert stopped.n_iter == 2


def test_ctrl_c_returns_the_best_certified_model():
    problem = make(lam=1e-7, n=2000, d=50)
    dg.solve(problem, "cd-gap-decay", max_epochs=1)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    solution = dg.solve(problem, "cd-gap-decay", tol=0, max_epochs=10**9, max_seconds=60)
    timer.join()
    assert solution.status is Status.INTERRUPTED
    assert time.perf_counter() - began < 30
    assert "Interrupted" in str(solution)
    again = dg.certify(problem, solution.coef, solution.dual)
    assert again.gap == solution.certificate.gap < problem.scale


def test_an_error_in_a_callback_is_not_swallowed():
    def broken(snapshot):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        dg.solve(make(), callback=broken)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic-net"])
def test_warm_starts(loss, penalty):
    problem = make(loss, penalty)
    first = dg.solve(problem, tol=1e-8, max_epochs=10_000)
    again = dg.solve(problem, tol=1e-8, warm_start=first)
    assert again.converged
    assert again.n_iter <= 2
    pair = dg.solve(problem, tol=1e-8, warm_start=(first.coef, first.dual))
    np.testing.assert_array_equal(pair.coef, again.coef)
    assert dg.solve(problem, tol=1e-6, warm_start=first.coef, max_epochs=10_000).converged


def test_a_garbage_warm_start_is_survived():
    problem = make("logistic")
    rng = np.random.default_rng(0)
    for size in (1e3, 1e12, 1e200):
        start = (size * rng.standard_normal(6), size * rng.standard_normal(60))
        assert dg.solve(problem, tol=1e-6, warm_start=start).converged
        assert dg.solve(make("squared", "l1"), tol=1e-6, warm_start=start[0]).converged
        box = make("squared", dg.penalties.Box(0.0, 1.0, dg.penalties.L1()))
        assert dg.solve(box, tol=1e-6, warm_start=start[0]).converged
        assert dg.solve(make("poisson", "l1"), tol=1e-6, warm_start=start[0]).converged
    with pytest.raises(ValueError, match="warm_start"):
        dg.solve(problem, warm_start=np.zeros(3))


def test_progress_shows_gap_and_passes(capfd):
    dg.solve(make(), progress=True)
    out, line = capfd.readouterr()
    assert out == ""
    assert "gap" in line
    assert "passes" in line


def test_auto_says_why(monkeypatch):
    assert "the data are small" in dg.solve(make("logistic")).method
    for limit in ("SMALL", "SMALL_SQUARES", "TALL_FEATURES"):
        monkeypatch.setattr(f"dualgap.problem.objective.{limit}", 0)
    assert "newton, since its steps should cost less" in dg.solve(make("logistic")).method
    sampled = dg.solve(make("logistic"), sampling="uniform").method
    assert "cd-gap-decay, since the penalty is strongly convex" in sampled
    assert "no derivative" in dg.solve(make("hinge"), sampling="uniform").method
    assert "dual view" in dg.solve(make("hinge"), sampling="uniform").method
    assert "primal view" in dg.solve(make("poisson"), sampling="uniform").method
    assert "lam is small" in dg.solve(make("squared", lam=1e-9)).method
    assert "working-set, since the penalty holds" in dg.solve(make("squared", "l1")).method
    assert "newton, since there are few features" in dg.solve(make("hinge", "l1")).method


def test_methods_describe_themselves():
    table = dg.methods.describe()
    for name in METHODS:
        assert name in table
    assert "Csiba" in table


def test_a_sampling_by_name():
    one = dg.solve(make("squared"), "sdca", sampling="permutation")
    two = dg.solve(make("squared"), "sdca", sampling=dg.samplings.Permutation())
    np.testing.assert_array_equal(one.coef, two.coef)


def test_given_coefficients_are_never_lost():
    problem = make("hinge", lam=0.01)
    best = dg.solve(problem, tol=1e-6)
    again = dg.solve(problem, warm_start=best.coef, max_epochs=0)
    assert again.certificate.primal == best.certificate.primal


def test_the_dual_point_is_the_one_behind_the_bound():
    problem = make("squared", "l1", lam=0.05)
    solution = dg.solve(problem, tol=1e-6)
    assert np.abs(problem.average(solution.dual)).max() <= 1.0
    dual = np.mean(solution.dual * problem.y - solution.dual**2 / 2)
    assert dual == pytest.approx(solution.certificate.dual, rel=1e-12)


def test_results_can_be_compared_copied_and_pickled():
    import copy
    import pickle

    problem = make()
    solution = dg.solve(problem)
    assert solution == solution
    assert solution != dg.solve(problem)
    for twin in (copy.deepcopy(solution), pickle.loads(pickle.dumps(solution))):
        np.testing.assert_array_equal(twin.coef, solution.coef)
        np.testing.assert_array_equal(twin.history.gap, solution.history.gap)
    assert dg.solve(pickle.loads(pickle.dumps(problem))).certificate.gap == solution.certificate.gap


def test_short_blocks_count_as_epochs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    problem = dg.Problem(X, np.sign(X[:, 0]), "hinge", lam=1e-3)
    solution = dg.solve(problem, "cd-gap-decay", tol=0, max_epochs=10)
    assert len(solution.history) <= 11
    assert solution.passes >= 10


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"tol": -1.0}, "tol"),
        ({"tol": "small"}, "tol"),
        ({"tol": np.nan}, "tol"),
        ({"max_epochs": -1}, "max_epochs"),
        ({"max_epochs": 1.5}, "max_epochs"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"method": "gradient"}, "method"),
        ({"method": 3}, "method"),
        ({"method": ["sdca"]}, "method"),
        ({"sampling": "unknown"}, "sampling"),
        ({"sampling": 3}, "sampling"),
        ({"method": Coordinate}, "method"),
        ({"tol": np.inf}, "tol"),
        ({"random_state": "abc"}, "random_state"),
        ({"callback": 3}, "callback"),
    ],
)
def test_bad_arguments_are_named(arguments, names):
    with pytest.raises(ValueError, match=names):
        dg.solve(make(), **arguments)


def test_solve_wants_a_problem():
    with pytest.raises(ValueError, match="problem"):
        dg.solve(np.eye(3))


def test_a_rare_sample_is_not_taken_for_a_standstill():
    """All others are settled at their first visit; the run must wait for the one that is left."""
    problem = dg.Problem(np.eye(20), np.resize([1, -1], 20), "hinge", lam=0.1)
    rare = dg.samplings.Custom(np.r_[np.ones(19), 1e-3])
    solution = dg.solve(problem, "prox-sdca", sampling=rare, tol=1e-6, max_epochs=20_000)
    assert solution.converged, str(solution)
    never = dg.samplings.Custom(np.r_[np.ones(19), 0.0])
    assert dg.solve(problem, "prox-sdca", sampling=never, tol=1e-6).status is Status.STALLED


@pytest.mark.parametrize("name", ["cd-gap-decay", "afg", "lbfgs", "sag"])
def test_the_bound_is_never_less_than_what_the_losses_say_by_themselves(name):
    """With large X the dual point of the first coefficients is far off, but losses are >= 0."""
    rng = np.random.default_rng(0)
    problem = dg.Problem(1e4 * rng.standard_normal((30, 5)), rng.standard_normal(30), lam=0.05)
    solution = dg.solve(problem, name, max_epochs=0)
    assert solution.certificate.gap <= (1.0 + 1e-12) * problem.scale
    assert solution.history.gap[0] <= problem.scale
    assert dg.certify(problem, np.zeros(5)).dual >= -1e-12 * problem.scale


def test_ctrl_c_during_the_proof_is_not_forgotten(monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    whole = dg.solve(make(), "newton", tol=1e-6)
    assert whole.converged
    assert not whole.interrupted
    monkeypatch.setattr("dualgap.run.loop.find_proof", pressed)
    found = dg.solve(make(), "newton", tol=1e-6)
    assert found.converged  # by the proof after the run
    assert found.interrupted


@pytest.mark.parametrize("loss", ["softmax", "squared", "hinge"])
@pytest.mark.parametrize("base", ["L2", "L1"])
def test_auto_with_features_that_are_excluded(loss, base):
    X = np.random.default_rng(0).normal(size=(30, 3))
    penalty = dg.penalties.Weighted(getattr(dg.penalties, base)(), [1.0, np.inf, 1.0])
    y = np.arange(30) % (3 if loss == "softmax" else 2)
    solution = dg.solve(dg.Problem(X, y, loss, penalty, 0.1, intercept=True))
    assert solution.converged
    assert not solution.coef[1].any()


def test_a_tol_below_rounding_ends_the_run():
    """It went on for all epochs, moving by single bits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X @ [40.0, 70.0] + 10.0 * rng.normal(size=100)
    for lam in (10.0, 1.0, 0.1):
        for tol in (1e-16, 0.0):
            solution = dg.solve(
                dg.Problem(X, y, "squared", "l1", lam, intercept=True), tol=tol, max_epochs=10_000
            )
            assert len(solution.history) < 200
            assert solution.certificate.gap < 1e-12 * solution.certificate.scale
            assert solution.status in (Status.STALLED, Status.CONVERGED)
