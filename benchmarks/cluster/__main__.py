"""Rounds, bytes and seconds of distributed fits, as tables in Markdown: ``make bench-cluster``.

Rounds depend only on the partitions, not on the engine; threads of one process count them. Seconds
are those of two processes on this machine, which share its memory and its loopback device.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.cluster import simulate
from benchmarks.cluster.data import numbers, problem, rows
from benchmarks.cluster.table import table
from dualgap import Problem, samplings, solve
from dualgap.distributed import Partitioned
from dualgap.distributed import solve as distributed_solve
from dualgap.samplings import theory

TOL = 1e-3
QUARTZ = ((1, 128), (2, 64), (4, 32), (8, 16), (8, 128), (8, 1000))
EPOCHS = (1, 2, 4, 8, 16)
PARTITIONS = (1, 2, 4, 8, 16, 32, 64)
TIMED_ROUNDS = 30
MAX_EPOCHS = 100_000  # more than any fit here takes


def counted(one: Problem, scheme: str, c: int, work: int) -> Any:
    """The history of a fit to the gap."""
    solution = distributed_solve(
        one, None, scheme, partitions=c, work=work, tol=TOL, max_epochs=MAX_EPOCHS
    )
    if not solution.converged:
        raise RuntimeError(str(solution))
    return solution.history


def timed(one: Problem, client: Any, scheme: str, c: int, work: int) -> tuple[float, float]:
    """The median seconds of a round, and of its busiest process, without the first rounds."""
    epochs = work / (one.n / c) if scheme != "cocoa+" else 1.0  # of a round, for max_epochs
    history = distributed_solve(
        one, client, scheme, partitions=c, work=work, tol=0.0, max_epochs=TIMED_ROUNDS * epochs
    ).history
    late = slice(4, None)
    return float(np.median(history.round_seconds[late])), float(
        np.median(history.local_seconds[late])
    )


def quartz(client: Any, *, even: bool) -> None:
    """Rounds of (c,τ)-Quartz against theory."""
    one = problem(even=even)
    alone = solve(one, "quartz-u", tol=TOL, max_epochs=2000)
    print(f"T(1,1), measured: {alone.history.iterations[-1]:.0f} iterations\n")
    lines = []
    for c, tau in QUARTZ:
        history = counted(one, "quartz", c, tau)
        rounds = history.iterations[-1]
        seconds, local = timed(one, client, "quartz", c, tau)
        lines.append(
            [
                str(c), str(tau), f"{rounds:.0f}", alone.history.iterations[-1] / rounds,
                theory.speedup(one, samplings.Distributed(c, tau)),
                f"{np.mean(history.sent[1:]):.0f}", f"{np.mean(history.received[1:]):.0f}",
                1e3 * seconds, 1e3 * local,
            ]
        )  # fmt: skip
    names = "c,τ,rounds,T(1;1)/T(c;τ) measured,theory,bytes sent,bytes received,ms a round,local ms"
    table([name.replace(";", ",") for name in names.split(",")], lines)


def cocoa(client: Any) -> None:
    """Rounds of CoCoA+ for numbers of local epochs."""
    one = problem(even=False)
    lines = []
    for epochs in EPOCHS:
        history = counted(one, "cocoa+", 8, epochs)
        seconds, local = timed(one, client, "cocoa+", 8, epochs)
        lines.append(
            [
                str(epochs), f"{history.iterations[-1]:.0f}", history.epoch[-1],
                f"{np.mean(history.received[1:]):.0f}", 1e3 * seconds, 1e3 * local,
                history.iterations[-1] * seconds,
            ]
        )  # fmt: skip
    names = "local epochs,rounds,epochs,bytes received,ms a round,local ms,seconds to the gap"
    table(names.split(","), lines)


def lasso() -> None:
    """Epochs to 1e-4·P(0) under L1, without an intercept and with an unpenalised one."""
    lines = []
    for even in (True, False):
        X, y = numbers(even=even)
        largest = np.abs(X.T @ y).max() / len(y)
        for ratio in (0.3, 0.03):
            line = ["rare" if even else "some common", f"{ratio:g}"]
            for shift in (0.0, 3.0):
                cuts = np.linspace(0, len(y), 9).astype(int)
                cut = [(X[a:b], y[a:b] + shift) for a, b in pairwise(cuts)]
                one = Partitioned(cut, "squared", "l1", ratio * largest, intercept=shift > 0.0)
                solution = distributed_solve(one, work=2, tol=1e-4, max_epochs=MAX_EPOCHS)
                line.append(f"{solution.n_iter:.0f} ({np.count_nonzero(solution.coef)})")
            lines.append(line)
    table(["features", "λ/λ_max", "epochs (coefficients)", "with an intercept"], lines)


def partitions() -> None:
    """Rounds for numbers of partitions."""
    lines = []
    for c in PARTITIONS:
        counts = []
        for even in (False, True):
            one = problem(even=even)
            counts.append(float(counted(one, "cocoa+", c, 4).iterations[-1]))
        lines.append([str(c), *(f"{rounds:.0f}" for rounds in counts)])
    table(["partitions", "rounds, some common features", "rounds, rare features"], lines)


def weak_scaling() -> None:
    """A fixed number of samples per worker."""
    lines = []
    for workers in (1, 2):
        n, entries = 200_000 * workers, 50
        X, y = rows(n, 20_000, entries, even=False)
        one = Problem(X, y, "smoothed-hinge", "l2", 1.0 / n)
        with start(workers) as client:
            seconds, local = timed(one, client, "cocoa+", workers, 4)
        lines.append([str(workers), f"{n}", 1e3 * seconds, 1e3 * local])
    table(["workers", "samples", "ms a round", "local ms"], lines)


@contextmanager
def start(workers: int) -> Iterator[Any]:
    """A client of a local cluster with so many processes."""
    how = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=workers, **how) as cluster, Client(cluster) as client:
        yield client


def main() -> None:
    began = time.perf_counter()
    with start(2) as client:
        for even in (True, False):
            print("All features are rare:" if even else "Some features are common:")
            quartz(client, even=even)
        cocoa(client)
    lasso()
    partitions()
    weak_scaling()
    simulate.main()
    print(f"took {time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
