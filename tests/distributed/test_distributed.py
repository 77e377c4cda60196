"""Distributed fits by threads of one process: partitions, schemes and their certificates."""

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import killed_driver
import numpy as np
import pytest
import scipy.sparse as sp
from cluster_data import blocks, problem, reaches, sparse_data
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import dualgap as dg
from dualgap.distributed import Partitioned, fit, solve
from dualgap.distributed.data.block import ModelSpec, Totals, check_spec, without_samples
from dualgap.distributed.data.sources import Source, Sources, as_raw
from dualgap.distributed.driver.balance import falling_root
from dualgap.distributed.driver.facts import DriverFacts, dual_point
from dualgap.distributed.driver.projection import Projection, rounds_left
from dualgap.distributed.driver.work import WorkSchedule
from dualgap.distributed.messages import Contribution, compact, sum_of
from dualgap.distributed.one_machine import advice
from dualgap.distributed.progress import short
from dualgap.proof.dual_point import DualPoint, shrink_until_feasible
from dualgap.run.checkpoint import CheckpointWarning

WORK = {"cocoa+": 2, "disdca": 20, "quartz": 20, "newton": 1}


def agrees(one, solution, tol):
    """The same, and one machine certifies the result alike."""
    reaches(one, solution, tol)
    own = solution.certificate
    again = dg.certify(one, solution.coef, solution.dual)
    assert again.primal == pytest.approx(own.primal, rel=1e-12)
    assert own.scale == pytest.approx(one.scale, rel=1e-12)


@pytest.mark.parametrize(
    ("scheme", "loss", "penalty"),
    [
        ("cocoa+", "smoothed-hinge", "l2"),
        ("cocoa+", "hinge", "l2"),
        ("cocoa+", "logistic", "l2"),
        ("cocoa+", "squared", dg.penalties.ElasticNet(0.5)),
        ("disdca", "smoothed-hinge", "l2"),
        ("quartz", "smoothed-hinge", "l2"),
    ],
)
def test_the_optimum_of_one_machine(scheme, loss, penalty):
    one = problem(loss, penalty)
    tol = 1e-3 if loss == "hinge" else 1e-5
    solution = solve(one, 2, scheme, partitions=4, work=WORK[scheme], tol=tol)
    agrees(one, solution, tol)


@pytest.mark.parametrize("scheme", ["cocoa+", "disdca"])
def test_rare_features_move_further(scheme):
    """Each partition has features of its own: there is little to agree on, and few rounds do."""
    rng = np.random.default_rng(0)
    own = [sp.random(40, 20, 0.3, format="csr", random_state=rng) for _ in range(4)]
    common = sp.csr_matrix(0.1 * rng.standard_normal((160, 2)))
    X = sp.hstack([sp.block_diag(own), common]).tocsr()
    y = np.where(X @ rng.standard_normal(X.shape[1]) > 0.0, 1.0, -1.0)
    one = dg.Problem(X, y, "smoothed-hinge", "l2", 0.01)
    work = {"cocoa+": 4, "disdca": 40}[scheme]
    solution = solve(one, 2, scheme, partitions=4, work=work, tol=1e-5)
    agrees(one, solution, 1e-5)
    assert len(solution.history) < 60
    assert (np.diff(solution.history.dual[2:]) >= 0.0).all()
    # Only nonzeros travel: a value and a place for each of 22 features, not 82 values.
    assert (solution.history.received[1:] <= 4 * 22 * 12).all()
    assert solution.history.received[1] > 0


def test_many_classes():
    X, y = sparse_data()
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.3, 0.3])]
    parts = Partitioned(blocks(X, labels, 3), "softmax", "l2", 0.05)
    solution = solve(parts, 2, work=2, tol=1e-5)
    one = dg.Problem(X, labels, "softmax", "l2", 0.05)
    assert solution.converged
    assert solution.coef.shape == (X.shape[1], 3)
    again = dg.certify(one, solution.coef, solution.dual)
    assert again.primal == pytest.approx(solution.certificate.primal, rel=1e-12)
    assert again.dual >= solution.certificate.dual * (1.0 - 1e-12)


@pytest.mark.parametrize(
    ("loss", "intercept", "cuts"), [("softmax", True, [-0.3, 0.3]), ("squared", "penalised", None)]
)
def test_problems_in_memory_are_cut(loss, intercept, cuts):
    """With their intercept, weights and classes."""
    X, y = sparse_data()
    labels = y if cuts is None else np.array(["a", "b", "c"])[np.digitize(y, cuts)]
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    how = {"intercept": intercept, "intercept_scaling": 2.0}
    one = dg.Problem(X, labels, loss, "l2", 0.05, sample_weight=weights, **how)
    solution = solve(one, 2, partitions=3, work=2, tol=1e-4)
    proves(one, solution, 1e-4)
    parts = [(X[s], labels[s], weights[s]) for s in (slice(k * 80, k * 80 + 80) for k in range(3))]
    apart = solve(Partitioned(parts, loss, "l2", 0.05, **how), 2, work=2, tol=1e-4)
    np.testing.assert_allclose(solution.coef, apart.coef, atol=1e-9)


def test_weights_equal_repetition():
    X, y = sparse_data(120)
    weights = np.arange(120) % 3.0
    weighted = [(X[s], y[s], weights[s]) for s in (slice(0, 50), slice(50, 120))]
    repeated = [
        (sp.csr_matrix(X[s].toarray().repeat(weights[s].astype(int), axis=0)),
         y[s].repeat(weights[s].astype(int)))
        for s in (slice(0, 50), slice(50, 120))
    ]  # fmt: skip
    one, other = (solve(Partitioned(p, lam=0.1), tol=1e-9, work=2) for p in (weighted, repeated))
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-4)


@pytest.mark.parametrize(
    ("scheme", "loss"),
    [
        ("disdca", "hinge"),
        ("cocoa+", "squared"),
        *(
            pytest.param(scheme, loss, marks=pytest.mark.cluster)
            for scheme, loss in (
                ("cocoa+", "hinge"),
                ("cocoa+", "logistic"),
                ("cocoa+", "quantile"),
                ("cocoa+", "epsilon-insensitive"),
                ("disdca", "quantile"),
                ("quartz", "smoothed-hinge"),
                ("quartz", "squared"),
            )
        ),
    ],
)
def test_an_unpenalised_intercept(scheme, loss):
    X, y = sparse_data()
    labels = loss in ("hinge", "smoothed-hinge", "logistic")
    y = np.where(y > -0.3, 1.0, -1.0) if labels else y + 5.0
    parts = Partitioned(blocks(X, y, 4), loss, "l2", 0.05, intercept=True)
    solution = solve(parts, 2, scheme, work=WORK[scheme], tol=1e-4)
    one = dg.Problem(X, y, loss, "l2", 0.05, intercept=True)
    best = dg.solve(one, "newton", tol=1e-9)
    own = solution.certificate
    assert solution.converged
    assert solution.n_iter < 200  # as many as without an intercept, or half as many again
    assert own.gap <= 1e-4 * own.scale
    assert own.scale == pytest.approx(one.scale, rel=1e-2)
    assert own.dual <= best.certificate.primal
    assert own.primal - best.certificate.dual <= own.gap + best.certificate.gap
    assert solution.intercept == pytest.approx(best.intercept, abs=0.03)
    again = dg.certify(one, solution.coef, solution.dual, solution.intercept)
    assert again.primal == pytest.approx(own.primal, rel=1e-12)
    assert again.gap <= own.gap * (1.0 + 1e-6)


def proves(one, solution, tol):
    """``agrees`` for a problem that only Newton steps or working sets solve on one machine."""
    best, own = dg.solve(one, tol=1e-8).certificate, solution.certificate
    assert solution.converged, str(solution)
    assert own.gap <= tol * own.scale
    assert own.scale == pytest.approx(one.scale, rel=1e-2)
    assert own.dual <= best.primal
    assert own.primal - best.dual <= own.gap + best.gap
    again = dg.certify(one, solution.coef, solution.dual, solution.intercept)
    assert again.primal == pytest.approx(own.primal, rel=1e-12)
    assert again.gap <= own.gap * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("scheme", "loss", "penalty", "intercept"),
    [
        ("cocoa+", "squared", "l1", True),
        *(
            pytest.param(*case, marks=pytest.mark.cluster)
            for case in (
                ("cocoa+", "squared", dg.penalties.NonNegative(dg.penalties.L1()), False),
                ("cocoa+", "logistic", "l1", True),
                ("cocoa+", "poisson", "l1", False),
                ("disdca", "squared-hinge", "l1", True),
                ("quartz", "smoothed-hinge", "l1", False),
            )
        ),
    ],
)
def test_a_penalty_that_is_not_strongly_convex(scheme, loss, penalty, intercept):
    X, y = sparse_data()
    if loss in ("logistic", "squared-hinge", "smoothed-hinge"):
        y = np.where(y > -0.3, 1.0, -1.0)
    elif loss == "poisson":
        y = np.round(np.exp(y))
    parts = Partitioned(blocks(X, y, 4), loss, penalty, 0.01, intercept=intercept)
    solution = solve(parts, 2, scheme, work=WORK[scheme], tol=1e-4)
    proves(dg.Problem(X, y, loss, penalty, 0.01, intercept=intercept), solution, 1e-4)
    assert 0 < np.count_nonzero(solution.coef) < X.shape[1]


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        ("softmax", "l2"),
        pytest.param("multiclass-hinge", "l2", marks=pytest.mark.cluster),
        pytest.param("softmax", "l1", marks=pytest.mark.cluster),
    ],
)
def test_intercepts_of_many_classes(loss, penalty):
    X, y = sparse_data()
    labels = np.digitize(y, [-0.8, 0.3])
    lam = 0.02 if penalty == "l2" else 0.005
    parts = Partitioned(blocks(X, labels, 4), loss, penalty, lam, intercept=True)
    solution = solve(parts, 2, work=2, tol=1e-4)
    proves(dg.Problem(X, labels, loss, penalty, lam, intercept=True), solution, 1e-4)


def test_dual_points_are_made_short_enough():
    """Short enough for |u| ≤ 1 with the errors of u, and no shorter."""
    skeleton = without_samples(check_spec(ModelSpec("squared", "l1", 0.1)), Totals(3, 4, 4.0, 1, 4))
    for u, error, factor in (
        ([0.5, -1.0, 0.0], 0.0, 1.0),
        ([2.0, -4.0, 0.0], 0.0, 0.25),
        ([0.5, -1.0, 0.0], 1e-9, 1.0 - 1e-9),
        ([0.5, -1.0, 0.0], 2.0, 0.0),
    ):
        given = DualPoint(np.array(u), np.full(3, error))
        found, point = shrink_until_feasible(
            skeleton,
            lambda length, own=given: DualPoint(length * own.u, own.error * (length > 0.0)),
        )
        assert found == pytest.approx(factor, rel=1e-12)
        np.testing.assert_array_equal(point.u, found * given.u)
        assert (np.abs(point.u) + point.error <= 1.0).all()


def test_a_root_of_a_falling_function():
    steps = np.array([-3.0, 0.25, 7.0])
    for f, root in (
        (lambda t: 2.0 - t, 2.0),
        (lambda t: -1e-9 - 5.0 * t, -2e-10),
        (lambda t: np.clip(0.5 - t, -0.1, 0.2), 0.5),
        (lambda t: 0.5 - (t[:, None] > steps).sum(axis=1), -3.0),  # jumps over 0
    ):
        assert falling_root(f, 1e-3, 1e-15) == pytest.approx(root, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("scheme", WORK)
def test_the_number_of_workers_changes_nothing(scheme):
    one = problem()
    first, second = (
        solve(one, workers, scheme, partitions=5, work=WORK[scheme], tol=1e-3) for workers in (1, 3)
    )
    assert np.array_equal(first.coef, second.coef)
    assert np.array_equal(first.dual, second.dual)
    assert first.certificate.gap == second.certificate.gap


# How fast the gap falls depends on the clock here, and a slow fall is warned of.
@pytest.mark.filterwarnings("ignore:after .* rounds in:UserWarning")
def test_decisions_of_auto_can_be_repeated():
    one = problem()
    first = solve(one, 2, "disdca", partitions=3, tol=1e-3)
    second = solve(one, 1, "disdca", partitions=3, tol=1e-3, work=first.history.work[1:])
    assert np.array_equal(first.dual, second.dual)
    assert np.array_equal(first.history.work, second.history.work)


def test_auto_gives_rounds_more_work_until_it_hides_the_exchange():
    schedule = WorkSchedule("auto", first=1, most=8, per_exchange=5.0)
    found = []
    for number in range(6):
        found.append(schedule.of_round(number))
        schedule.learn(seconds=0.1 + 0.01 * schedule.now, busy=0.01 * schedule.now)
    assert found == [1, 1, 2, 4, 8, 8]
    schedule.learn(seconds=1.0, busy=1.0)
    assert schedule.of_round(6) == 4


def judged(gain):
    """The epochs of each round where a round divides the gap by e^gain(epochs)."""
    schedule, gap, found = WorkSchedule("auto", 1, 32, 1.0, judged=True), 1.0, []
    for number in range(30):
        found.append(schedule.of_round(number))
        gap *= np.exp(-gain(schedule.now))
        schedule.learn(seconds=1.0, busy=0.01, gap=gap)
    return found


def test_auto_makes_more_epochs_only_if_rounds_gain_by_them():
    assert judged(lambda epochs: 0.2)[-20:] == [1] * 20
    assert judged(lambda epochs: 0.2 * min(epochs, 4))[-10:] == [4] * 10
    assert max(judged(lambda epochs: 0.01 * epochs)) == 32


def test_absurd_numbers_of_rounds_are_announced():
    gaps = [(k, 0.9999**k) for k in range(1, 22)]
    assert rounds_left(gaps, 1e-3) == pytest.approx(np.log(1e3) / 1e-4, rel=0.01)
    assert rounds_left([(1, 1.0), (2, 1.0)], 0.1) == np.inf
    assert rounds_left([(1, 1.0), (2, 0.1)], 0.5) == 0.0
    slow = Projection()
    for rounds, gap in gaps[:-1]:
        slow.watch(rounds, 1.0, gap, 1e-3)
    with pytest.warns(
        UserWarning, match='about 69,0.. more would bring it below 1.0e-03.*"newton"'
    ):
        slow.watch(21, 1.0, gaps[-1][1], 1e-3)
    slow.watch(22, 1.0, 1.0, 1e-3)  # once is enough
    quick = Projection()
    for rounds in range(30):
        quick.watch(rounds, 1.0, 0.9**rounds, 1e-3)


class FewBytes:
    """An engine of which only the place matters."""

    def __init__(self, on_this_machine):
        self.on_this_machine = on_this_machine


def test_one_machine_is_recommended_where_it_would_do():
    assert advice(FewBytes(True), 1e6, None) is None
    assert advice(FewBytes(False), 1e9, "train.svm") is None
    assert advice(FewBytes(True), 1e15, None) is None
    assert "without exchanges" in advice(FewBytes(True), 2e8, None)
    assert "convert('train.svm', folder)" in advice(FewBytes(True), 1e15, "train.svm")


class Unreliable:
    """Data that cannot be read at first."""

    def __init__(self, failures, error):
        self.left, self.error = failures, error

    def __call__(self, X, y):
        self.left -= 1
        if self.left >= 0:
            raise self.error
        return as_raw(X, y)


def test_loaders_that_fail_once_are_tried_again():
    X, y = sparse_data(40)
    assert Source(Unreliable(2, ConnectionError("away")), (X, y)).load().y is y
    with pytest.raises(ConnectionError, match="away"):
        Source(Unreliable(3, ConnectionError("away")), (X, y)).load()
    wrong = Unreliable(1, ValueError("bad"))
    with pytest.raises(ValueError, match="bad"):  # it will be bad again
        Source(wrong, (X, y)).load()
    assert wrong.left == 0
    parts = Sources([Source(as_raw, (X, y)), Source(Unreliable(3, OSError("gone")), (X, y))])
    with pytest.raises(OSError, match="partition 1: gone"):
        solve(Partitioned(parts))


def test_the_progress_line(capsys):
    solve(problem(), 1, partitions=4, progress=True)
    shown = " ".join(capsys.readouterr().err.split())
    assert re.search(r"gap .* of .* \d+ rounds of [\d.e-]+ s, [\d.]+ [KM]?B, left", shown)
    assert [short(size) for size in (12, 1_500, 2.5e6, 7e9)] == ["12 B", "1.5 KB", "2.5 MB", "7 GB"]


def test_warm_start():
    one = problem()
    first = solve(one, partitions=4, work=2, tol=1e-6)
    second = solve(one, partitions=4, work=2, tol=1e-5, warm_start=first)
    assert len(second.history) <= 3


def test_errors_of_u_are_bounded():
    """u in extended precision is no further away than the bound says."""
    X, y = sparse_data()
    X.data *= 10.0 ** np.random.default_rng(1).integers(-6, 6, X.nnz)
    a = np.random.default_rng(2).standard_normal(len(y))
    spec = check_spec(ModelSpec("squared", "l2", 0.1))
    skeleton = without_samples(spec, Totals(X.shape[1], len(y), float(len(y)), 4, 60))
    cuts = [slice(k * 60, (k + 1) * 60) for k in range(4)]
    contributions = []
    for s in cuts:
        own = a[s] / len(y)
        u = X[s].T @ own / 0.1
        contributions.append(Contribution(compact(u), np.array([np.sqrt(own @ own) / 0.1])))
    squares = np.asarray(X.power(2).sum(axis=0)).ravel()
    counts = np.max([np.diff(X[s].tocsc().indptr) for s in cuts], axis=0).astype(float)
    facts = DriverFacts(skeleton, squares, counts, 1.0, 0.0, 0.0, 1.0, ())
    point = dual_point(facts, contributions)
    wide = X.toarray().astype(np.longdouble).T @ (a.astype(np.longdouble) / len(y)) / 0.1
    assert (np.abs(point.u - wide) <= point.error).all()
    assert (point.error <= 1e-12 * (1.0 + np.abs(X).max() * 100.0)).all()


# --- checkpoints ----------------------------------------------------------------------------------


def stopping(after):
    """A callback that stops the run at a certain call."""
    calls = []

    def stop(snapshot):
        calls.append(snapshot)
        return len(calls) >= after

    return stop


@pytest.mark.parametrize(
    ("scheme", "loss"),
    [("cocoa+", "hinge"), ("disdca", "smoothed-hinge"), ("quartz", "smoothed-hinge")],
)
def test_an_interrupted_run_resumes_bit_for_bit(scheme, loss, tmp_path):
    one = problem(loss)
    how = {"scheme": scheme, "partitions": 4, "work": WORK[scheme], "tol": 1e-3}
    uninterrupted = solve(one, **how)
    kept = {**how, "checkpoint": tmp_path, "checkpoint_every": 5}
    broken = solve(one, callback=stopping(8), **kept)
    resumed = solve(one, **kept)
    assert not broken.converged
    same_run(resumed, uninterrupted)
    checks = []
    again = solve(one, callback=checks.append, **kept)  # the run has ended
    same_run(again, uninterrupted)
    assert checks == []
    files = [f"{name}.checkpoint" for name in ("run", *(f"partition-{k}" for k in range(4)))]
    assert sorted(os.listdir(tmp_path)) == sorted([*files, *(f"{name}.previous" for name in files)])


def same_run(one, other):
    np.testing.assert_array_equal(one.dual, other.dual)
    np.testing.assert_array_equal(one.coef, other.coef)
    for name in ("iterations", "primal", "dual", "gap", "work"):
        np.testing.assert_array_equal(one.history[name], other.history[name], err_msg=name)
    assert one.certificate.gap == other.certificate.gap
    assert one.intercept == other.intercept


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_outer_steps_resume_bit_for_bit(penalty, tmp_path):
    X, y = sparse_data()
    parts = Partitioned(blocks(X, y + 5.0, 3), "squared", penalty, 0.05, intercept=True)
    how = {"work": 2, "tol": 1e-4}
    kept = {**how, "checkpoint": tmp_path / "new" / "folder", "checkpoint_every": 3}
    solve(parts, callback=stopping(7), **kept)
    same_run(solve(parts, **kept), solve(parts, **how))


def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path):
    one = problem()
    how = {"partitions": 4, "work": 2, "tol": 1e-4}
    kept = {**how, "checkpoint": tmp_path, "checkpoint_every": 1}
    solve(one, callback=stopping(8), **kept)
    file = tmp_path / "run.checkpoint"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.warns(CheckpointWarning, match="damaged.*resuming from the previous one"):
        again = solve(one, **kept)
    same_run(again, solve(one, **how))


def test_a_checkpoint_of_another_problem_is_refused(tmp_path):
    how = {"partitions": 4, "work": 2, "checkpoint": tmp_path}
    solve(problem(), **how)
    for words, other, change in (
        ("lam was 0.01 and is 0.02", problem(lam=0.02), {}),
        ("the number of partitions was 4 and is 3", problem(), {"partitions": 3}),
        ("the data was different", problem(n=239), {}),
        ("the scheme was cocoa. and is disdca", problem(), {"scheme": "disdca"}),
        ("random_state was 0 and is 1", problem(), {"random_state": 1}),
    ):
        with pytest.raises(ValueError, match=f"checkpoint of another run: .*{words}"):
            solve(other, **{**how, **change})
    with pytest.raises(ValueError, match="checkpoint must be a folder"):
        solve(problem(), checkpoint=tmp_path / "run.checkpoint")


def test_a_checkpoint_of_version_0_1_resumes(tmp_path):
    """It was written by 0.1 after four gap checks of this run."""
    X = (np.arange(300) * 7919 % 101 - 50).reshape(60, 5) / 32.0
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.0, 1.0, -1.0)
    one = dg.Problem(X, y, "smoothed-hinge", "l2", 0.01, intercept=True)
    how = {"partitions": 4, "work": 2, "tol": 1e-4}
    old = Path(__file__).parent / "fixtures" / "0.1.checkpoint"
    shutil.copy(old, tmp_path / "run.checkpoint")
    checks, all_checks = [], []
    resumed = solve(one, 2, checkpoint=tmp_path, callback=checks.append, **how)
    fresh = solve(one, 2, callback=all_checks.append, **how)
    assert resumed.converged
    assert len(resumed.history) == len(fresh.history)
    np.testing.assert_allclose(resumed.dual, fresh.dual, rtol=1e-9, atol=1e-12)
    assert 0 < len(checks) <= len(all_checks) - 3


@pytest.mark.cluster
def test_a_killed_driver_resumes_bit_for_bit(tmp_path):
    uninterrupted = solve(problem(), **killed_driver.HOW)
    rng = random.Random(0)
    script = Path(__file__).parents[1] / "shared" / "killed_driver.py"
    source = Path(dg.__file__).parents[1]
    for trial in range(5):
        folder = tmp_path / str(trial)
        with subprocess.Popen(
            [sys.executable, script, folder],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source)},
        ) as process:
            for _ in range(rng.randint(1, len(uninterrupted.history) // 2)):
                printed = process.stdout.readline()
            process.kill()
            process.stdout.read()
            assert process.wait() < 0
        checks = []
        again = solve(problem(), checkpoint=folder, callback=checks.append, **killed_driver.HOW)
        same_run(again, uninterrupted)
        assert checks[0].epoch >= int(printed) - killed_driver.EVERY


def test_local_epochs_of_a_round_count_once():
    """``max_epochs`` allows the same number of rounds, however much work each has."""
    for work in (1, 8):
        few = solve(problem(), partitions=4, work=work, tol=1e-9, max_epochs=3)
        assert few.history.iterations[-1] == 3
        assert few.n_iter == 3 * work


def test_limits_and_callbacks():
    one = problem()
    few = solve(one, partitions=4, work=1, tol=1e-9, max_epochs=3)
    assert few.status.name == "MAX_EPOCHS"
    assert few.n_iter == 3.0
    assert solve(one, partitions=4, max_seconds=0.0, tol=1e-9).status.name == "MAX_SECONDS"
    stopped = solve(one, partitions=4, tol=1e-9, callback=lambda s: True)
    assert stopped.status.name == "CALLBACK"
    assert stopped.certificate.gap < np.inf


# --- what partitions must be ----------------------------------------------------------------------


def spoilt(change):
    X, y = sparse_data()
    parts = blocks(X, np.where(y > 0.0, 1.0, -1.0), 4)
    parts[2] = change(*parts[2])
    return parts


def with_nan(X, y):
    X = X.copy()
    X.data[3] = np.nan
    return X, y


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X[:, :-1], y), "partition 2 has 29 features where partition 0 has 30"),
        (lambda X, y: (X[:0], y[:0]), "partition 2: it is empty"),
        (with_nan, "partition 2: X has NaN"),
        (lambda X, y: (X, y[:-1]), "partition 2: y must hold one label for each"),
        (lambda X, y: (X, np.where(y > 0, np.nan, y)), r"partition 2: y\[\d+\] is nan"),
        (lambda X, y: (X, y, -np.ones(len(y))), "partition 2: sample_weight has negative"),
        (lambda X, y: (X, np.arange(len(y)) % 3), "y has 4 different values|3 different values"),
        (lambda X, y: (X,), "partition 2: y is missing"),
    ],
)
def test_a_bad_partition_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        solve(Partitioned(spoilt(change), "smoothed-hinge"), work=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: np.arange(len(y)) % 2, "partition 2 has labels of the kind 'number' where"),
        (lambda y: np.where(y == "b", None, y), "partition 2: y has missing labels"),
        (lambda y: np.array([*y[:-1], 3], dtype=object), "partition 2: y must hold labels of one"),
    ],
)
def test_labels_of_another_kind_are_refused(change, words):
    """NumPy would turn numbers beside text into text, and their samples would have no class."""
    X, y = sparse_data()
    parts = blocks(X, np.where(y > 0.0, "a", "b").astype(object), 4)
    parts[2] = (parts[2][0], change(parts[2][1]))
    with pytest.raises(ValueError, match=words):
        fit(dg.LinearSVC(), parts)
    with pytest.raises(ValueError, match=words):
        solve(Partitioned(parts, "softmax"))
    with pytest.raises(ValueError, match="LinearSVC needs labels of at least two classes"):
        fit(dg.LinearSVC(), [(X, np.full(len(y), "a"))])


def test_one_class_in_one_partition_is_fine():
    X, y = sparse_data()
    y = np.where(y > 0.0, 1.0, 0.0)
    order = np.argsort(y, kind="stable")
    parts = blocks(X[order], y[order], 4)
    solution = solve(Partitioned(parts, "smoothed-hinge", lam=0.01), work=2, tol=1e-5)
    one = dg.Problem(X[order], y[order], "smoothed-hinge", lam=0.01)
    agrees(one, solution, 1e-5)
    with pytest.raises(ValueError, match="one class only"):
        solve(Partitioned([(X, np.ones(len(y)))], "smoothed-hinge"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"client": "here"}, "client must be None, a number of threads"),
        ({"scheme": "coca"}, "scheme 'coca' is unknown"),
        ({"work": 0}, "work must be at least 1"),
        ({"work": []}, "work must not be empty"),
        ({"scheme": "disdca", "work": 1000}, "work must be at most 60"),
        ({"partitions": 1000}, "240 samples cannot fill 1000 partitions"),
        ({"random_state": -1}, "random_state must be at least 0"),
    ],
)
def test_bad_arguments(change, words):
    with pytest.raises(ValueError, match=words):
        solve(problem(), **{"partitions": 4, **change})


def test_what_a_scheme_cannot_do():
    with pytest.raises(ValueError, match=r"kinks .* use a smoothed loss, or an elastic net"):
        solve(problem("hinge", "l1"), scheme="cocoa+")
    with pytest.raises(ValueError, match="Hinge loss is not smooth"):
        solve(problem("hinge"), scheme="quartz")
    weights = np.r_[np.zeros(2), np.ones(28)]
    with pytest.raises(ValueError, match=r"without a penalty.*give them a small weight"):
        solve(problem("squared", dg.penalties.Weighted(dg.penalties.L2(), weights)))
    with pytest.raises(ValueError, match="must be a list"):
        Partitioned("file")


# --- messages and engines -------------------------------------------------------------------------


def test_compact_vectors():
    rng = np.random.default_rng(0)
    few, many = np.zeros(100), rng.standard_normal(100)
    few[[3, 50]] = 1.0, -2.0
    assert compact(few).nbytes == 24
    assert compact(many).nbytes == 800
    np.testing.assert_array_equal(sum_of([compact(few), compact(many)]), few + many)


def test_engines_are_imported_when_they_are_used():
    words = "import dualgap, dualgap.distributed, sys; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"dask", "distributed", "mpi4py", "sklearn"} & set(modules)


# --- estimators -----------------------------------------------------------------------------------


def test_a_classifier_of_two_classes():
    X, y = sparse_data()
    labels = np.where(y > 0.0, "yes", "no")
    model = dg.CertifiedClassifier("smoothed-hinge", C=0.1, fit_intercept=False, tol=1e-5)
    there = fit(model, blocks(X, labels, 4), scheme="disdca", work=20)
    here = dg.CertifiedClassifier("smoothed-hinge", C=0.1, fit_intercept=False, tol=1e-5)
    here.fit(X, labels)
    assert there is model
    assert list(model.classes_) == ["no", "yes"]
    assert model.coef_.shape == here.coef_.shape == (1, X.shape[1])
    assert model.dual_gap_ <= 1e-5 * model.certificate_.scale
    assert model.certificate_.dual <= here.certificate_.primal
    assert here.certificate_.dual <= model.certificate_.primal
    far = np.abs(model.decision_function(X) - here.decision_function(X))
    assert (far <= model.decision_radius(X) + here.decision_radius(X)).all()
    assert model.n_features_in_ == X.shape[1]


def test_a_regressor():
    X, y = sparse_data()
    model = fit(dg.Ridge(alpha=20.0), blocks(X, y + 5.0, 4), work=2)
    exact = dg.Ridge(alpha=20.0).fit(X, y + 5.0)
    assert model.certificate_.dual <= exact.certificate_.primal <= model.certificate_.primal
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=0.1)
    assert np.isinf(model.decision_radius(X)).all()


def test_lasso_and_many_classes():
    X, y = sparse_data()
    there, here = (dg.Lasso(alpha=0.01) for _ in range(2))
    fit(there, blocks(X, y + 5.0, 4), work=2)
    here.fit(X, y + 5.0)
    assert there.certificate_.dual <= here.certificate_.primal
    assert here.certificate_.dual <= there.certificate_.primal
    np.testing.assert_array_equal(there.coef_ != 0.0, here.coef_ != 0.0)
    labels = np.digitize(y, [-0.3, 0.3])
    there, here = (dg.LogisticRegression(C=0.1) for _ in range(2))
    fit(there, blocks(X, labels, 4), work=2)
    here.fit(X, labels)
    np.testing.assert_allclose(there.intercept_, here.intercept_, atol=0.05)
    assert abs(there.intercept_.sum()) < 1e-12  # only differences matter
    assert not there.predict_certified(X).any()  # intercepts have no certified radius
    assert (there.predict(X) == here.predict(X)).all()


@pytest.mark.parametrize("class_weight", ["balanced", {"no": 3.0}])
def test_class_weights(class_weight):
    X, y = sparse_data()
    labels = np.where(y > 0.5, "yes", "no")
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    cuts = [slice(0, 100), slice(100, 150), slice(150, 240)]
    how = {"C": 0.1, "fit_intercept": False, "tol": 1e-5, "class_weight": class_weight}
    there, here = (dg.CertifiedClassifier("smoothed-hinge", **how) for _ in range(2))
    fit(there, [(X[s], labels[s], weights[s]) for s in cuts], work=2)
    here.fit(X, labels, sample_weight=weights)
    assert there.certificate_.scale == pytest.approx(here.certificate_.scale, rel=1e-12)
    assert there.certificate_.dual <= here.certificate_.primal
    assert here.certificate_.dual <= there.certificate_.primal


def test_each_class_against_the_rest(tmp_path):
    X, y = sparse_data()
    labels = np.digitize(y, [-0.3, 0.3])
    how = {"C": 0.1, "fit_intercept": False, "tol": 1e-3, "class_weight": {2: 5.0}}
    model, here = (dg.CertifiedClassifier("smoothed-hinge", **how) for _ in range(2))
    fit(model, blocks(X, labels, 3), work=2, checkpoint=tmp_path)
    here.fit(X, labels)
    for own, other in zip(model.certificate_, here.certificate_):
        assert own.scale == pytest.approx(other.scale, rel=1e-12)
        assert own.dual <= other.primal
        assert other.dual <= own.primal
    assert sorted(os.listdir(tmp_path)) == ["class-0", "class-1", "class-2"]
    assert model.coef_.shape == (3, X.shape[1])
    assert (model.dual_gap_ <= 1e-3).all()
    assert set(model.predict(X)) <= {0, 1, 2}


def test_what_estimators_cannot_do_on_partitions():
    X, y = sparse_data()
    parts = blocks(X, y > 0.0, 2)
    with pytest.raises(ValueError, match="partitions contain their y"):
        fit(dg.LinearSVC(), parts, y)
    with pytest.raises(ValueError, match="models without a penalty"):
        fit(dg.LogisticRegression(penalty=None), parts)
    with pytest.raises(ValueError, match=r"by folds.*such as QuantileRegressor"):
        fit(dg.QuantileRegressorCV(), parts)
    with pytest.raises(ValueError, match="must be one of dualgap"):
        fit(KMeans(), parts)
    with pytest.raises(TypeError, match=r"option 'wrok' is unknown .did you mean 'work'"):
        fit(dg.LinearSVC(), parts, wrok=3)
    with pytest.raises(ValueError, match="which says what to fit to partitions, not list"):
        solve(parts)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        fit(dg.LinearSVC(fit_intercept=False, max_iter=1, tol=1e-9), parts, work=1)
