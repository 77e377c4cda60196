"""Rounds to a certified gap of 1e-4·P(0), whatever the number of partitions.

``python -m benchmarks.cluster.rounds [a part of the names of tasks] [numbers of partitions]``.
Threads of this process count the rounds, which are the same on any engine.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.cluster.table import table
from benchmarks.cluster.tasks import TASKS
from dualgap.distributed import solve

PARTITIONS = (2, 8, 32, 64)


def main(words: list[str]) -> None:
    counts = [int(word) for word in words if word.isdigit()] or PARTITIONS
    names = [word for word in words if not word.isdigit()] or [""]
    lines = []
    for name, task in TASKS.items():
        if not any(part in name for part in names):
            continue
        problem, rounds, seconds, received = task.problem(), [], 0.0, 0.0
        for count in counts:
            began = time.perf_counter()
            solution = solve(problem, partitions=count, tol=1e-4, relative_to="start")
            seconds = time.perf_counter() - began
            rounds.append(solution.history.iterations[-1] if solution.converged else np.inf)
            received = solution.history.received.sum() / count / max(rounds[-1], 1)
            print(name, count, rounds[-1], f"{seconds:.1f} s", solution.method, flush=True)
        spread = max(rounds) - min(rounds)
        fits = max(rounds) <= task.most and spread <= max(1.0, 0.1 * min(rounds))
        shown = [f"{each:.0f}" for each in rounds]
        lines.append([name, *shown, f"{received / 1e6:.2g}", "yes" if fits else "NO"])
    head = [f"{count} partitions" for count in counts]
    table(["task", *head, "MB a round and partition", "within limits"], lines)


if __name__ == "__main__":
    main(sys.argv[1:])
