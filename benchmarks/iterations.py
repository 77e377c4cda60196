"""What an iteration on a single sample costs as the number of features grows.

Printed by ``make bench-kernels``. Methods that change all coefficients in every iteration (SPDC,
Quartz, ASDCA, APCG) let untouched ones catch up when they are read again, so that an iteration
costs O(entries of a row), whatever d is. What is left of d is the distance of its coefficients from
the processor: 1,000 of them fit into its first cache, a million into none.

"Memory alone" changes one number for each entry and computes nothing: it shows how much of a ratio
is that distance.

All sizes are measured in turn, in time of the processor, and the shortest times are compared: other
programs can only add to a time, and a busy spell meets all sizes alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from benchmarks.common import seconds, table
from dualgap import Problem
from dualgap.methods import METHODS
from dualgap.penalties import ElasticNet
from dualgap.steps.base import Setting, Start
from papers.made import short_rows

FEATURES = (1_000, 10_000, 100_000, 1_000_000)
SAMPLES = (20_000, 200_000)
ENTRIES = 20
VISITS = 600_000  # of all rounds together, but at least 3 rounds
LIMIT = 1.3
METHODS_SHOWN = {
    "SDCA + L2": ("sdca", "l2"),
    "Quartz + L2": ("quartz-u", "l2"),
    "SPDC + L2": ("spdc", "l2"),
    "SPDC + L1 + L2": ("spdc", ElasticNet(0.5)),
    "APCG + L2": ("apcg", "l2"),
    "ASDCA + L2": ("asdca", "l2"),
}
REQUIRED = ("Quartz", "SPDC")


def problem_of(n: int, d: int, penalty: Any) -> Problem:
    return Problem(*short_rows(n, d, ENTRIES), "smoothed-hinge", penalty, 1.0 / n)


def epochs(problem: Problem, method: str) -> Callable[[], float]:
    """A function that makes n iterations from where the last call left off; seconds of one."""
    chosen = METHODS[method]
    sampling = chosen.sampling.bind(problem)
    run = chosen.step.start(problem, Start(), Setting(sampling, 1e-6 * problem.scale))
    rng = np.random.default_rng(2)

    def epoch() -> float:
        order = rng.integers(problem.n, size=problem.n)
        run.pair()  # the loop's certificate, before which all features catch up
        return seconds(lambda: run.advance(order)) / problem.n

    return epoch


@numba.njit
def touch_lines(indptr: Any, indices: Any, order: Any, cells: Any) -> None:
    """Change a number for each entry, among as many bytes as Quartz and SPDC keep."""
    for i in order:
        for at in range(indptr[i], indptr[i + 1]):
            cells[4 * indices[at]] += 1.0


def memory(n: int, d: int) -> Callable[[], float]:
    """The same rows without any arithmetic, and without asking for anything ahead of time."""
    X, cells = short_rows(n, d, ENTRIES)[0], np.zeros(4 * d)
    rng = np.random.default_rng(2)

    def epoch() -> float:
        order = rng.integers(n, size=n)
        cells[:] = 0.0  # as a certificate would, drives the rows out of the caches
        return seconds(lambda: touch_lines(X.indptr, X.indices, order, cells)) / n

    return epoch


def nanoseconds(n: int, sizes: Sequence[Callable[[], float]]) -> list[float]:
    """Per iteration, for each number of features."""
    for epoch in sizes:
        epoch()  # compiles, and leaves the start, where nothing has to catch up
    rounds = [[epoch() for epoch in sizes] for _ in range(max(3, VISITS // n))]
    return [1e9 * spent for spent in np.min(rounds, axis=0)]


def row(spent: list[float]) -> list[str]:
    return [*(f"{t:.0f}" for t in spent), f"{spent[-1] / spent[0]:.2f}"]


def show(n: int) -> None:
    print(f"4.  Nanoseconds of an iteration on one of {n} rows with {ENTRIES} entries each, among")
    print(f"    d features. Required of SPDC and Quartz: d = 1e6 costs < {LIMIT} times d = 1e3.\n")
    rows = [["(memory alone)", *row(nanoseconds(n, [memory(n, d) for d in FEATURES])), ""]]
    for name, (method, penalty) in METHODS_SHOWN.items():
        spent = nanoseconds(n, [epochs(problem_of(n, d, penalty), method) for d in FEATURES])
        verdict = "yes" if spent[-1] < LIMIT * spent[0] else "no"
        rows.append([name, *row(spent), verdict if name.startswith(REQUIRED) else ""])
    columns = [f"d={d:.0e}".replace("e+0", "e") for d in FEATURES]
    table((f"n = {n}", *columns, "last/first", "met"), rows)


def main() -> None:
    for n in SAMPLES:
        show(n)


if __name__ == "__main__":
    main()
