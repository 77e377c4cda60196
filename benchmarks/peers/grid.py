"""A solver over its grid: each setting once, then again those that decide about a level."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from benchmarks.peers import judge
from benchmarks.peers.solvers import Solver
from benchmarks.peers.tasks import Instance
from benchmarks.peers.worker import SolverError, Timed, Worker

AIM = min(judge.LEVELS)  # where a grid ends
SHORT, MEDIUM = 1.0, 3.0  # seconds of runs that are made three times and twice
MANY, ENOUGH = 10, 0.3  # shorter ones are made up to ten times, for so many seconds
START_SECONDS = 120.0


def over_grid(
    instance: Instance, solver: Solver, allowed: float, best: float
) -> tuple[list[dict[str, Any]], str]:
    """Runs and how it ended. ``best`` is the smallest objective so far."""
    runs: list[dict[str, Any]] = []
    try:
        worker = Worker(solver, instance, START_SECONDS)
        status = _once(worker, instance, solver.settings, allowed, best, runs)
        if not worker.process.is_alive():
            worker = Worker(solver, instance, START_SECONDS)
        _again(worker, deciding(runs, best))
        worker.end()
    except SolverError as error:
        return runs, f"failed: {error}"
    return runs, status


def _once(
    worker: Worker,
    instance: Instance,
    settings: Sequence[float],
    allowed: float,
    best: float,
    runs: list[dict[str, Any]],
) -> str:
    spent = 0.0
    for setting in settings:
        if spent > allowed:
            return f"stopped after {spent:.0f} s"
        timed = worker.run(setting, allowed * busy())
        if timed is None:
            return f"stopped in a run of more than {allowed:.0f} s"
        spent += timed.processor
        runs.append(record(instance, setting, timed))
        if _arrived(runs[-1], min(best, runs[-1]["objective"])):
            break
    return "done"


def _again(worker: Worker, runs: list[dict[str, Any]]) -> None:
    for run in runs:
        for _ in range(repeats(run["seconds"]) - 1):
            timed = worker.run(run["setting"], START_SECONDS)
            if timed is None:
                raise SolverError("a run that was short hangs when repeated")
            run["seconds"] = min(run["seconds"], timed.seconds)
            run["processor"] = min(run["processor"], timed.processor)


def deciding(runs: list[dict[str, Any]], best: float) -> list[dict[str, Any]]:
    """The runs that are the first at some level, to reach or to prove it."""
    best = min([best, *(run["objective"] for run in runs)])
    chosen = []
    for level in judge.LEVELS:
        for arrived in (judge.reached(runs, best, level), judge.proven(runs, best, level)):
            first = min(arrived, key=lambda run: run["seconds"], default=None)
            if first is not None and first not in chosen:
                chosen.append(first)
    return chosen


def busy() -> float:
    """How much longer than alone on this machine a run may take."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def repeats(seconds: float) -> int:
    """How many runs the shortest of which counts, from the seconds of the first."""
    few = 1 + (seconds < SHORT) + (seconds < MEDIUM)
    return max(few, min(MANY, round(ENOUGH / max(seconds, 1e-9))))


def record(instance: Instance, setting: float, timed: Timed) -> dict[str, Any]:
    run: dict[str, Any] = {"setting": setting, "seconds": timed.seconds}
    run["processor"] = timed.processor
    run["objective"] = judge.objective(instance, timed.fit.coef)
    if timed.fit.bound is not None:
        run["bound"] = float(timed.fit.bound)
    return run | ({"note": timed.fit.note} if timed.fit.note else {})


def _arrived(run: dict[str, Any], best: float) -> bool:
    """Ours goes on until it has proven it."""
    return bool(run["objective"] - run.get("bound", best) <= AIM * best)
