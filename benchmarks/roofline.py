"""How close passes and epochs come to what the memory of this machine can deliver.

Printed by ``make bench-roofline``: what the machine does (a STREAM-like triad, and reading at
random from vectors of several sizes), then for each kernel the bytes that it must read or write for
an entry of X, the nanoseconds that an entry takes, and the share of the triad's bandwidth that this
is. Bytes are those of X and of vectors in memory; what stays in a cache is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from benchmarks.common import table
from dualgap import Problem
from dualgap.linalg import exact, parallel, products
from dualgap.proof.certificate import Pair, evaluate
from dualgap.proof.prove import prove
from dualgap.steps.base import Start
from dualgap.steps.coordinate.coordinate import Coordinate

REPEATS = 25
ROWS, ENTRIES = 100_000, 50
FEATURES = (100, 50_000)
FAST = {"fastmath": {"reassoc", "contract"}, "nogil": True}


def best(action: Callable[[], Any]) -> float:
    """Seconds of the fastest of several calls, after one that compiles."""
    action()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


@numba.njit(**FAST)
def triad(a: Any, b: Any, c: Any) -> None:
    for i in range(len(a)):
        a[i] = b[i] + 3.0 * c[i]


@numba.njit(**FAST)
def random_sum(vector: Any, places: Any) -> float:
    total = 0.0
    for t in range(len(places)):
        total += vector[places[t]]
    return total


def machine() -> float:
    """Prints what the machine does; returns the bytes that the triad moves in a second."""
    size = 1 << 23
    a, b, c = np.ones((3, size))
    bandwidth = 3 * 8 * size / best(lambda: triad(a, b, c))
    print(f"triad: {bandwidth / 1e9:.1f} GB/s")
    places = np.random.default_rng(0).integers(0, 1 << 32, 1 << 22, np.uint32)
    for log in (10, 15, 20, 24):
        vector, own = np.ones(1 << log), places >> np.uint32(32 - log)
        taken = best(lambda vector=vector, own=own: random_sum(vector, own)) / len(places)
        print(f"random reads from {8 << log >> 10:,} kB: {1e9 * taken:.2f} ns each")
    print()
    return bandwidth


def kernels(d: int, bandwidth: float) -> list[list[str]]:
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, d, (ROWS, ENTRIES), np.int32), axis=1).ravel()
    indptr = np.arange(0, ROWS * ENTRIES + 1, ENTRIES, dtype=np.int32)
    X = sp.csr_array((rng.standard_normal(len(indices)), indices, indptr), shape=(ROWS, d))
    X.sum_duplicates()
    y = np.sign(rng.standard_normal(ROWS))
    problem = Problem(X, y, "hinge", "l2", 1.0 / ROWS)
    w, a = rng.standard_normal(d), 0.5 * y
    z, u = problem.decision(w), problem.average(a)
    rows, order = problem.rows, rng.permutation(ROWS)
    run = Coordinate("dual").start(problem, Start())
    high, low = np.zeros((2, d))
    per_row = ROWS / X.nnz
    # 12: a float64 and its place. A vector by rows is 8 bytes for each of them.
    cases = [
        ("X w (gather)", 12 + 8 * per_row, lambda: products.gather(rows, w, z)),
        ("Xᵀ a (scatter)", 12 + 8 * per_row, lambda: products.scatter(rows, a, u)),
        ("checks, norms of rows (measure)", 8 + 8 * per_row, lambda: products.measure(rows)),
        ("norms of columns (measure_across)", 12 + 8 * per_row,
         lambda: products.measure_across(rows)),
        ("Xᵀ a in twice the precision", 12 + 16 * per_row,
         lambda: exact.scatter(rows, a, a, high, low)),
        ("an epoch of the dual view", 12 + 48 * per_row, lambda: run.advance(order)),
        ("evaluate", 48 * per_row, lambda: evaluate(problem, Pair(w, a, z, u))),
        ("prove", 24 + 128 * per_row, lambda: prove(problem, w, a, np.inf)),
    ]  # fmt: skip
    found = []
    for name, size, action in cases:
        for threads in (1, 2):
            with parallel.at_most(threads):
                taken = best(action) / X.nnz
            share = size / taken / bandwidth
            found.append(
                [name, f"{d:,}", str(threads), f"{size:.1f}", f"{1e9 * taken:.2f}", f"{share:.0%}"]
            )
    return found


def main() -> None:
    bandwidth = machine()
    header = ["kernel", "features", "threads", "bytes/entry", "ns/entry", "of the triad"]
    table(header, [row for d in FEATURES for row in kernels(d, bandwidth)])


if __name__ == "__main__":
    main()
