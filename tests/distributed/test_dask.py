"""Fits on a Dask cluster of real processes, some of which are killed."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from itertools import pairwise
from pathlib import Path

import killed_driver
import numpy as np
import pytest
import scipy.sparse as sp
from cluster_data import blocks, problem, reaches, sparse_data
from sklearn.datasets import dump_svmlight_file

import dualgap as dg
from dualgap.distributed import Partitioned, from_dask, from_dataframe, from_libsvm, solve
from dualgap.distributed.data.sources import listed
from dualgap.distributed.engines.protocol import PartitionsLostError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
dask_engine = pytest.importorskip("dualgap.distributed.engines.dask")
DaskEngine, assign_homes = dask_engine.DaskEngine, dask_engine.assign_homes
Futures = pytest.importorskip("dualgap.distributed.engines.dask_futures").Futures

WORK = {"cocoa+": 2, "disdca": 20, "quartz": 20, "newton": 1}

# By default a local cluster gives up on a worker after 15 s, which a busy machine may need.
dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})


def started(workers, processes=True):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=processes, dashboard_address=":0"
    )


@pytest.fixture(scope="module")
def client():
    with started(2) as cluster, distributed.Client(cluster) as client:
        yield client


def present(client, workers):
    """Wait until the scheduler has so many workers.

    The cluster object may wait for ever for a new worker that has started already.
    """
    for _ in range(1200):
        if len(client.nthreads()) >= workers:
            return
        time.sleep(0.1)
    raise AssertionError(f"{workers} workers did not come")


def pids(client):
    return list(client.run(os.getpid).values())


def at(check, action):
    """A callback that acts at a certain gap check."""
    calls = []

    def act(snapshot):
        calls.append(snapshot)
        if len(calls) == check:
            action()

    return act


class Killer:
    """A callback that kills some processes shortly after a certain gap check, in the middle of a
    round, since rounds continue meanwhile."""

    def __init__(self, victims, check, delay):
        self.victims, self.check, self.delay = victims, check, delay
        self.checks = self.later = 0  # in all, and after the kill
        self.killed = threading.Event()
        self.thread = threading.Thread(target=self._kill)

    def _kill(self):
        time.sleep(self.delay)
        for pid in self.victims:
            os.kill(pid, signal.SIGKILL)
        self.killed.set()

    def __call__(self, snapshot):
        self.checks += 1
        self.later += self.killed.is_set()
        if self.checks == self.check:
            self.thread.start()


def to_interrupt(scheme):
    """A problem that takes many rounds, and its tolerance. Newton steps need a hinge for that."""
    return (problem("hinge", lam=1e-3), 1e-6) if scheme == "newton" else (problem(), 1e-3)


def survives(client, victims, scheme, check, delay):
    """A fit reaches its optimum although some workers are killed in the middle of it."""
    one, tol = to_interrupt(scheme)
    killer = Killer(victims, check, delay)
    how = {"partitions": 8, "work": WORK[scheme], "tol": tol}
    solution = solve(
        one, client, scheme, checkpoint_every=5, round_seconds=120, callback=killer, **how
    )
    killer.thread.join()
    assert killer.later >= 1, "the fit had ended before the kill"
    reaches(one, solution, tol)


@cache
def usual_checks(scheme):
    """The gap checks of the same fit without a kill."""
    checks = []
    one, tol = to_interrupt(scheme)
    how = {"partitions": 8, "work": WORK[scheme], "tol": tol}
    solve(one, 1, scheme, callback=checks.append, **how)
    return len(checks)


# --- data -----------------------------------------------------------------------------------------


def same_as_in_memory(parts, X, y, client):
    """Partitions that workers read give the same bits as the same partitions in memory."""
    sizes = [len(part) for part in np.array_split(np.arange(len(y)), len(parts))]
    cuts = np.cumsum([0, *sizes])
    in_memory = [(X[a:b], y[a:b]) for a, b in pairwise(cuts)]
    few = {"work": 1, "max_epochs": 3, "tol": 1e-9}
    here = solve(Partitioned(in_memory, lam=0.05), 2, **few)  # first: it compiles for the workers
    read = solve(Partitioned(parts, lam=0.05), client, **few)
    np.testing.assert_array_equal(read.coef, here.coef)


def test_dask_arrays(client):
    X, y = sparse_data()
    dense = X.toarray()
    lazy = da.from_array(dense, chunks=(80, 20))
    same_as_in_memory(from_dask(lazy, da.from_array(y, chunks=50)), dense, y, client)
    same_as_in_memory(from_dask(lazy, y, np.ones(len(y))), dense, y, 2)
    rows = lazy.rechunk((80, -1)).map_blocks(sp.csr_matrix)
    same_as_in_memory(from_dask(rows, y), X, y, client)
    with pytest.raises(ValueError, match=r"y has shape \(3,\) where X has 240 samples"):
        from_dask(lazy, y[:3])
    with pytest.raises(ValueError, match="must be a two-dimensional Dask array"):
        from_dask(dense, y)
    with pytest.raises(ValueError, match="y is missing"):
        from_dask(lazy, None)


def test_dask_dataframes(client):
    X, y = sparse_data()
    frame = pd.DataFrame(X.toarray(), columns=[f"x{j}" for j in range(X.shape[1])])
    frame["y"], frame["s"] = y, 1.0
    parts = from_dataframe(dd.from_pandas(frame, npartitions=3), "y", "s")
    same_as_in_memory(parts, X.toarray(), y, client)
    lazy = dd.from_pandas(frame, npartitions=3)
    apart = from_dataframe(lazy.drop(columns=["y", "s"]), lazy["y"], lazy["s"])
    same_as_in_memory(apart, X.toarray(), y, client)
    with pytest.raises(ValueError, match="no column 'z'"):
        from_dataframe(lazy, "z")
    with pytest.raises(ValueError, match="y is missing"):
        from_dataframe(lazy, None)
    with pytest.raises(ValueError, match="target has 2 partitions where the dataframe has 3"):
        from_dataframe(lazy, dd.from_pandas(frame["y"], npartitions=2))
    turned = dd.from_pandas(frame[::-1]["y"], npartitions=3, sort=False)
    with pytest.raises(ValueError, match="partition 0: y does not have the index of the dataframe"):
        solve(Partitioned(from_dataframe(lazy, turned)), 2)


def test_partitions_of_a_dataframe_that_differ():
    X, y = sparse_data()
    frame = pd.DataFrame(X.toarray(), columns=[f"x{j}" for j in range(X.shape[1])])
    frame["y"] = y
    lazy = dd.from_pandas(frame, npartitions=3)

    def with_third(change):
        def changed(part, partition_info=None):
            return change(part) if (partition_info or {}).get("number") == 2 else part

        parts = lazy.map_partitions(changed, meta=lazy._meta, enforce_metadata=False)
        return from_dataframe(parts, "y")

    turned = with_third(lambda part: part[part.columns[::-1]])[2].load()
    np.testing.assert_array_equal(turned.X, from_dataframe(lazy, "y")[2].load().X)
    for words, change in (
        ("it has no column 'x5'", lambda part: part.drop(columns="x5")),
        ("it has no column 'y'", lambda part: part.drop(columns="y")),
        ("column 'x3' must hold numbers", lambda part: part.assign(x3="many")),
        ("it is empty", lambda part: part.iloc[:0]),
        ("X has NaN", lambda part: part.assign(x3=np.nan)),
    ):
        with pytest.raises(ValueError, match=f"partition 2: {words}"):
            solve(Partitioned(with_third(change)), 2)


def test_estimators_take_arrays_and_dataframes(client):
    X, y = sparse_data()
    dense, cuts = X.toarray(), [slice(0, 80), slice(80, 160), slice(160, 240)]
    frame = pd.DataFrame(dense, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)

    def fitted(*data, **options):
        model = dg.Ridge(alpha=20.0, fit_intercept=False)
        return dg.distributed.fit(model, *data, work=1, **options)

    here = fitted([(dense[s], y[s]) for s in cuts])
    there = fitted(da.from_array(dense, chunks=(80, 20)), y, client=client)
    named = fitted(dd.from_pandas(frame, npartitions=3), "y", client=client)
    np.testing.assert_array_equal(there.coef_, here.coef_)
    np.testing.assert_array_equal(named.coef_, here.coef_)
    assert list(named.feature_names_in_) == list(frame.columns[:-1])


def test_delayed_blocks(client):
    X, y = sparse_data()
    parts = [dask.delayed(part) for part in blocks(X, y, 3)]
    same_as_in_memory(parts, X, y, client)
    apart = [(dask.delayed(one), other) for one, other in blocks(X, y, 3)]
    same_as_in_memory(apart, X, y, client)


@pytest.mark.parametrize("first", [0, 1])
def test_ranges_of_a_file(client, tmp_path, first):
    X, y = sparse_data()
    X = sp.hstack([sp.csr_matrix(np.eye(len(y))[:, :2] * 3.0), X, np.zeros((len(y), 2))]).tocsr()
    path = tmp_path / "data.svm"
    dump_svmlight_file(X, y, str(path), zero_based=first == 0)
    parts = from_libsvm(path, 5, n_features=X.shape[1])
    how = {"work": 1, "max_epochs": 4, "tol": 1e-9}
    read = solve(Partitioned(parts, lam=0.05), client, **how)
    assert read.dual.shape == (len(y),)
    own = dg.certify(dg.Problem(X, y, lam=0.05), read.coef, read.dual)
    assert own.primal == pytest.approx(read.certificate.primal, rel=1e-9)
    shown = solve(Partitioned(from_libsvm(path, 5, zero_based=first == 0), lam=0.05), **how)
    np.testing.assert_array_equal(shown.coef, read.coef[:-2])
    with pytest.raises(ValueError, match="n_features is 7, but the file has 32 features"):
        solve(Partitioned(from_libsvm(path, 5, n_features=7)), client)
    with pytest.raises(ValueError, match=r"partition \d+: it is empty"):
        solve(Partitioned(from_libsvm(path, 4000)))
    text = path.read_text()
    path.write_text(f"{text}1 x:y\n")
    with pytest.raises(ValueError, match=r"partition 4: bytes \d+ to \d+ .* not in LIBSVM format"):
        solve(Partitioned(from_libsvm(path, 5)))
    parts = from_libsvm(path, 5)
    path.unlink()
    with pytest.raises(OSError, match=r"partition 0: .*No such file"):
        solve(Partitioned(parts))


def test_a_bad_partition_is_named(client):
    X, y = sparse_data()
    parts = blocks(X, y, 4)
    parts[3] = (parts[3][0] * np.nan, parts[3][1])
    with pytest.raises(ValueError, match="partition 3: X has NaN"):
        solve(Partitioned([dask.delayed(part) for part in parts]), client)


# --- workers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", WORK)
def test_the_same_bits_as_threads(client, scheme):
    how = {"partitions": 3, "work": WORK[scheme], "tol": 1e-9, "max_epochs": 4}
    here, far = solve(problem(), 1, scheme, **how), solve(problem(), client, scheme, **how)
    assert np.array_equal(far.dual, here.dual)
    assert np.array_equal(far.coef, here.coef)
    assert (far.history.received[1:] > 0).all()


def test_a_killed_worker_costs_little(client):
    survives(client, pids(client)[:1], "cocoa+", check=4, delay=0.01)
    present(client, 2)


def test_homes_are_even_and_stay():
    first = assign_homes({}, ["a", "b"], 8)
    joined = assign_homes(first, ["a", "b", "c"], 8)
    assert sorted(map(list(joined.values()).count, "abc")) == [2, 3, 3]
    assert sum(first[k] != joined[k] for k in range(8)) == 2
    left = assign_homes(joined, ["b", "c"], 8)
    assert sum(joined[k] != left[k] and joined[k] != "a" for k in range(8)) == 0


def counted(block, a, k, message):
    """A task whose result is easy to check."""
    return k, (0 if a is None else a) + message


def test_lost_dual_variables_are_restored_from_the_copy(client):
    present(client, 2)
    X, y = sparse_data()
    engine = DaskEngine(client, listed(blocks(X, y, 6)), 60.0)
    for _ in range(3):
        assert engine.run(counted, 1) == list(range(6))
    assert engine.copy() == [3] * 6
    engine.run(counted, 10)
    os.kill(pids(client)[0], signal.SIGKILL)
    found, lost = None, set()
    while found is None:
        try:
            found = engine.copy()
        except PartitionsLostError as error:  # more than once, until the scheduler knows
            lost.update(error.partitions)
    # Where Dask still had the arguments of a task, it may also have repeated it.
    assert found == [3 if k in lost else 13 for k in range(6)]
    engine.close()


def test_work_hides_the_exchange(client):
    """Each decision of "auto" follows from the row of the round before."""
    rows = solve(problem(), client, "disdca", partitions=4, tol=1e-9, max_epochs=60).history
    for k in range(2, len(rows) - 1):  # the first round loads kernels and does not count
        hidden = 5.0 * (rows.round_seconds[k] - rows.local_seconds[k])
        if rows.local_seconds[k] < hidden:
            expected = min(2 * rows.work[k], 60)
        elif rows.local_seconds[k] > 8.0 * hidden:
            expected = max(rows.work[k] // 2, 1)
        else:
            expected = rows.work[k]
        assert rows.work[k + 1] == expected
    assert rows.work.max() > rows.work[1]  # so little data is processed faster than it travels


def slow_task(block, a, k, message):
    """A task that takes long on one partition."""
    time.sleep(message if k == 2 else 0.0)
    return k, a


def test_late_partitions_are_named(client):
    X, y = sparse_data()
    parts = listed(blocks(X, y, 4))
    assert DaskEngine(client, parts, 60.0).ask(slow_task, 0.0) == [
        0,
        1,
        2,
        3,
    ]  # none is late
    engine = DaskEngine(client, parts, 2.0)
    with pytest.raises(RuntimeError, match="partitions 2 did not answer within round_seconds=2"):
        engine.ask(slow_task, 6.0)
    engine.close()


def stopped(client, future):
    """Stop the process that holds a future; returns its id."""
    [worker] = client.who_has([future])[future.key]
    pid = client.run(os.getpid, workers=[worker])[worker]
    os.kill(pid, signal.SIGSTOP)
    return pid


def test_a_hanging_worker_does_not_hang_the_driver(client):
    """Its result is finished, but cannot be fetched."""
    present(client, 2)
    futures = Futures(client, 1.0)
    result = futures.one("int", int, 0, sorted(client.nthreads())[0], "7")
    assert futures.settle([result]) == []
    pid = stopped(client, result)
    try:
        assert futures.gather([result]) is None
    finally:
        os.kill(pid, signal.SIGCONT)
    assert futures.gather([result]) == [7]


def test_only_the_given_client_is_used(client, monkeypatch):
    """Dask's default client may be another one, with its own event loop, or missing."""
    monkeypatch.setattr(distributed.client, "default_client", None)  # a call fails
    assert solve(problem(), client, work=2, tol=0.1).converged


def test_the_active_client_is_used(client):
    """Its workers, not threads of this process."""
    solution = solve(problem(), work=2, partitions=4, tol=0.1)
    assert solution.history.workers[-1] == len(client.nthreads())
    assert solve(problem(), 1, work=2, partitions=4, tol=0.1).history.workers[-1] == 1


def test_a_closed_client(client):
    other = distributed.Client(client.scheduler.address, set_as_default=False)
    other.close()
    with pytest.raises(ValueError, match="client is closed"):
        solve(problem(), other)
    with pytest.raises(ValueError, match=r"Client connects to a cluster"):
        solve(problem(), client.cluster)


def test_no_worker_is_left():
    with started(1, processes=False) as cluster, distributed.Client(cluster) as client:
        leave = at(2, lambda: cluster.scale(0))
        with pytest.raises(RuntimeError, match="no worker is left"):
            solve(problem(), client, work=1, tol=1e-9, callback=leave, round_seconds=2)


# --- failures ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def four():
    with started(4) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.cluster
@pytest.mark.parametrize("loss", dg.losses.REGISTRY)
@pytest.mark.parametrize("scheme", WORK)
def test_each_scheme_and_loss_on_four_workers(four, scheme, loss):
    X, y = sparse_data()
    targets = {
        "binary": np.where(y > 0.0, 1.0, -1.0),
        "count": np.round(np.exp(y)),
        "positive": np.exp(y),
        "classes": np.digitize(y, [-0.3, 0.3]),
    }
    one = dg.Problem(X, y := targets.get(dg.losses.REGISTRY[loss].targets, y), loss, "l2", 0.02)
    parts = Partitioned(blocks(X, y, 8), loss, "l2", 0.02)
    if scheme == "quartz" and one.loss.gamma == 0.0:
        with pytest.raises(ValueError, match="not smooth"):
            solve(parts, four, scheme)
        return
    if scheme == "newton" and loss == "multiclass-hinge":
        with pytest.raises(ValueError, match="no second derivatives"):
            solve(parts, four, scheme)
        return
    work = {"cocoa+": 4, "newton": 1}.get(scheme, 30)
    solution = solve(parts, four, scheme, work=work, tol=1e-3)
    reaches(one, solution, 1e-3)


@pytest.mark.cluster
@pytest.mark.parametrize("scheme", WORK)
def test_two_and_four_workers_give_the_same_bits(client, four, scheme):
    how = {"partitions": 8, "work": WORK[scheme], "tol": 1e-3}
    first, second = solve(problem(), client, scheme, **how), solve(problem(), four, scheme, **how)
    assert np.array_equal(first.dual, second.dual)
    assert np.array_equal(first.coef, second.coef)
    assert first.certificate.gap == second.certificate.gap


@pytest.mark.cluster
@pytest.mark.parametrize("scheme", ["newton", "cocoa+"])
def test_a_frozen_worker_loses_its_partitions_to_others(scheme):
    """It never answers again, and the run ends all the same, long before Dask would give it up."""
    one, tol = to_interrupt(scheme)
    with started(3) as cluster, distributed.Client(cluster) as client:
        how = {"partitions": 6, "work": WORK[scheme], "tol": tol}
        solve(one, client, scheme, **how)  # workers that load kernels have few heartbeats
        frozen = pids(client)[0]
        freeze = at(2, lambda: os.kill(frozen, signal.SIGSTOP))
        how["round_seconds"] = 100.0
        try:
            solution = solve(one, client, scheme, callback=freeze, **how)
        finally:
            os.kill(frozen, signal.SIGKILL)
    reaches(one, solution, tol)
    assert solution.history.workers[1] == 3
    assert solution.history.workers[-1] == 2
    assert solution.history.lost.sum() > 0


class Forgetful:
    """A loader that fails in each new process the first time."""

    seen = False

    def __call__(self, part):
        if not Forgetful.seen:
            Forgetful.seen = True
            raise ConnectionError("the service is away")
        return part


@pytest.mark.cluster
def test_a_loader_that_fails_once_is_tried_again():
    X, y = sparse_data()
    with started(2) as cluster, distributed.Client(cluster) as client:
        parts = [dask.delayed(Forgetful())(part) for part in blocks(X, y, 4)]
        solution = solve(Partitioned(parts, lam=0.05), client)
        names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert solution.converged
    assert {"dualgap:make_block", "dualgap:sample_sums"} <= set(names)


@pytest.mark.cluster
@pytest.mark.parametrize("seed", range(20))
def test_chaos(four, seed):
    """A random worker dies in a random round, at a random moment; in the last run all but one."""
    rng = random.Random(seed)
    scheme = rng.choice(sorted(WORK))
    check = rng.randint(1, usual_checks(scheme) // 2)
    present(four, 4)
    victims = rng.sample(pids(four), 3 if seed == 19 else 1)
    survives(four, victims, scheme, check, delay=rng.uniform(0.0, 0.1))


def executed(dask_worker):
    """The number of tasks that a worker has done."""
    return dask_worker.state.executed_count


@pytest.mark.cluster
def test_a_worker_that_joins_is_used():
    with started(1) as cluster, distributed.Client(cluster) as client:
        [first] = client.nthreads()
        solution = solve(
            problem(lam=0.003),
            client,
            partitions=4,
            work=1,
            tol=1e-5,
            callback=at(3, lambda: (cluster.scale(2), present(client, 2))),
        )
        done = client.run(executed)
    assert solution.converged
    assert solution.history.workers[1] == 1
    assert solution.history.workers[-1] == 2
    [joined] = set(done) - {first}
    rounds = np.sum(solution.history.workers == 2)
    assert done[joined] >= rounds  # a step for each of its two partitions, and more


@pytest.mark.cluster
def test_a_killed_client_can_be_replaced(tmp_path):
    """By another process: this one."""
    script, checks = Path(__file__).parents[1] / "shared" / "killed_driver.py", []
    environment = {**os.environ, "PYTHONPATH": str(Path(dg.__file__).parents[1])}
    with started(2) as cluster, distributed.Client(cluster) as client:
        command = [sys.executable, script, tmp_path, client.scheduler.address]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            for _ in range(8):
                printed = process.stdout.readline()
            process.kill()
            process.stdout.read()
            assert process.wait() == -signal.SIGKILL
        how = killed_driver.HOW
        again = solve(problem(), client, checkpoint=tmp_path, callback=checks.append, **how)
    assert checks[0].epoch >= int(printed) - killed_driver.EVERY
    np.testing.assert_array_equal(again.dual, solve(problem(), **how).dual)


@pytest.mark.cluster
def test_a_lost_client_can_be_replaced(tmp_path):
    one = problem(lam=0.003)
    how = {"partitions": 4, "work": 1, "checkpoint": tmp_path, "checkpoint_every": 2}
    with started(2) as cluster, distributed.Client(cluster) as client:
        with pytest.raises(RuntimeError, match="client is closed, or its scheduler is gone"):
            solve(one, client, tol=1e-9, callback=at(8, client.close), **how)
        checks = []
        with distributed.Client(cluster) as new:
            solution = solve(one, new, tol=1e-4, callback=checks.append, **how)
    reaches(one, solution, 1e-4)
    assert checks[0].epoch >= 6
    uninterrupted = solve(one, 1, partitions=4, work=1, tol=1e-4)
    np.testing.assert_array_equal(solution.dual, uninterrupted.dual)
