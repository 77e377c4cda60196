"""One task: every solver over its grid, from loose to tight, ours first and last."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.peers import judge
from benchmarks.peers.grid import START_SECONDS, over_grid, record
from benchmarks.peers.solvers import OURS, PEERS, Solver, dualgap
from benchmarks.peers.tasks import Instance
from benchmarks.peers.worker import SolverError, Worker

REFERENCE = "reference"  # a long run of ours, which tells where the minimum is
TARGET = 1e-6  # what time limits refer to
TIGHTEST = 1e-13  # of the reference
OWN_SHARE = 3.0


class Patience(NamedTuple):
    """A grid ends after ``seconds`` or ``factor`` times the best peer's time, whichever is more;
    that of ours, which every row of the table needs, goes on for longer."""

    seconds: float = 20.0
    factor: float = 30.0
    reference: float = 60.0

    def of(self, solver: Solver, task: dict[str, Any]) -> float:
        allowed = max(self.seconds, self.factor * best_peer(task, TARGET))
        return OWN_SHARE * allowed if solver.name == OURS.name else allowed


def race(
    instance: Instance,
    solvers: Sequence[Solver],
    patience: Patience,
    session: str,
    task: dict[str, Any],
) -> None:
    """Adds what solvers do to ``task``, in place of what it knew of them."""
    nonzeros = instance.X.nnz if sp.issparse(instance.X) else instance.X.size
    task |= {"n": instance.n, "d": instance.d, "nonzeros": int(nonzeros), "lam": instance.lam}
    task |= {name: getattr(instance.task, name) for name in ("main", "small", "extra", "held_out")}
    task["load"] = os.getloadavg()[0]  # of the machine, before the race
    known = task.setdefault("solvers", {})
    chosen = [solver for solver in solvers if solver.accepts(instance)]
    if REFERENCE not in known:
        _enter(known, REFERENCE, session, *_reference(instance, patience.reference))
    for solver in chosen:
        known.pop(solver.name, None)
    peers = [solver for solver in chosen if solver is not OURS]
    for solver in [OURS] * (OURS in chosen) + peers + [OURS] * (OURS in chosen and bool(peers)):
        runs: list[Any] = []
        status = "not installed"
        if importlib.util.find_spec(solver.package) is not None:
            allowed = patience.of(solver, task)
            runs, status = over_grid(instance, solver, allowed, judge.least(task))
        _enter(known, solver.name, session, runs, status)


def _enter(known: dict[str, Any], name: str, session: str, runs: list[Any], status: str) -> None:
    """What is there from the same session is another try at the same settings."""
    entry = known.setdefault(name, {"session": session, "status": status, "runs": []})
    entry["runs"].extend(runs)


def _reference(instance: Instance, limit: float) -> tuple[list[Any], str]:
    """A single run."""
    own = replace(OURS, start=lambda instance: dualgap.start(instance, limit))
    try:
        worker = Worker(own, instance, START_SECONDS)
        timed = worker.run(TIGHTEST, 10.0 * limit)
    except SolverError as error:
        return [], f"failed: {error}"
    if timed is None:
        return [], f"stopped after {10.0 * limit:.0f} s"
    worker.end()
    return [record(instance, TIGHTEST, timed)], "done"


def best_peer(task: dict[str, Any], level: float) -> float:
    """Zero as long as no peer has arrived."""
    best = judge.least(task)
    names = {solver.name for solver in PEERS} & task["solvers"].keys()
    times = [judge.seconds_to(task["solvers"][name], best, level) for name in names]
    return min((t for t in times if np.isfinite(t)), default=0.0)
