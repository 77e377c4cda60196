"""One case: ours at defaults, peers up their ladders until they are as good, then ours again."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.grid import busy
from benchmarks.peers.worker import SolverError
from benchmarks.users import judge
from benchmarks.users.case import Instance
from benchmarks.users.models import OURS, PEERS, Contestant, Setting
from benchmarks.users.rules import PATIENT, as_good, climb, fastest, repeats
from benchmarks.users.worker import Run, Worker

OWN_LIMIT = 150.0  # seconds of a fit
LEAST, MOST, FACTOR = 2.0, 25.0, 10.0  # of a peer's: this many times ours, between these seconds
AGAIN = 20.0  # ours runs again after the peers, if it was shorter: its first run may have compiled
FAIR = 1.05  # but never less than this many times ours
NOISE = 0.05  # seconds that a run may take longer because others use the machine


def race(instance: Instance, session: str, with_peers: bool, earlier: dict[str, Any]) -> Any:
    """What is known of the case afterwards; without peers, theirs is from ``earlier``."""
    entry: dict[str, Any] = {
        "session": session,
        "group": instance.case.group,
        "reported": instance.case.reported,
        "n": instance.n,
        "d": int(instance.design.shape[1]),
        "load": round(os.getloadavg()[0], 2),
        "ours": {"runs": []},
        "peers": {} if with_peers else earlier.get("peers", {}),
    }
    runs = entry["ours"]["runs"]
    worker: Worker | None = None
    try:
        worker = Worker(OURS, instance)
        if not _repeat(worker, instance, {}, OWN_LIMIT * busy(), runs):
            entry["ours"]["status"] = f"stopped after {OWN_LIMIT:.0f} s"
            return entry
        if with_peers:
            entry["peers"] = _peers(instance, runs)
            if runs[0]["seconds"] < AGAIN:
                _repeat(worker, instance, {}, OWN_LIMIT, runs)
    except SolverError as error:
        entry["ours"]["status"] = f"failed: {error}"
    finally:
        if worker is not None:
            worker.end()
    entry["ours"]["runs"] = _kept(runs, None)
    return entry


def _peers(instance: Instance, mine: list[dict[str, Any]]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    run = fastest(mine)
    assert run is not None
    goal, ours = run.get("objective"), run["seconds"]
    best = ours if ours > MOST else float("inf")  # whoever takes longer cannot win any more
    for peer in PEERS[instance.case.kind]:
        if not peer.accepts(instance):
            continue
        if importlib.util.find_spec(peer.package) is None:
            known[peer.name] = {"status": "not installed", "runs": []}
            continue
        limit = max(min(max(LEAST, FACTOR * ours), MOST), FAIR * ours)
        limit = min(limit, PATIENT * best + 0.5)  # another peer has won
        _prepare(peer)
        known[peer.name] = _up_the_ladder(peer, instance, goal, limit, best)
        good = fastest(known[peer.name]["runs"], goal)
        best = min(best, good["seconds"] if good else best)
    return known


@functools.cache
def _prepare(peer: Contestant) -> None:
    """In this process, once: workers are forked from it."""
    importlib.import_module(peer.package)
    if peer.prepare is not None:
        peer.prepare()


def _up_the_ladder(
    peer: Contestant, instance: Instance, goal: float | None, limit: float, best: float
) -> dict[str, Any]:
    """Its runs, one for each setting, and several for the one that arrives."""
    runs: list[dict[str, Any]] = []
    record: dict[str, Any] = {"status": "done", "runs": runs}
    steps: Sequence[Setting] = peer.ladder
    worker: Worker | None = None
    try:
        worker = Worker(peer, instance)
        firsts: list[dict[str, Any]] = []
        while climb(len(steps), firsts, goal, best + NOISE):
            setting = steps[len(firsts)]
            done = worker.run(setting, limit)
            if done is None:
                record |= {"status": f"stopped after {limit:.3g} s", "stopped": limit}
                break
            firsts.append(_record(instance, setting, done))
            runs.append(firsts[-1])
            close = firsts[-1]["seconds"] <= PATIENT * best + NOISE
            if as_good(firsts[-1].get("objective"), goal) and close:
                _repeat(worker, instance, setting, 2.0 * limit, runs)
    except SolverError as error:
        record["status"] = f"failed: {error}"
    finally:
        if worker is not None:
            worker.end()
    record["runs"] = _kept(runs, goal)
    return record


def _repeat(
    worker: Worker, instance: Instance, setting: Setting, limit: float, runs: list[dict[str, Any]]
) -> bool:
    """The shorter, the more often."""
    shortest, k = float("inf"), 0
    while k == 0 or k < repeats(shortest):
        done = worker.run(setting, limit)
        if done is None:
            return False
        runs.append(_record(instance, setting, done))
        shortest, k = min(shortest, done.seconds), k + 1
    return True


def _record(instance: Instance, setting: Setting, run: Run) -> dict[str, Any]:
    label = ", ".join(f"{key}={value:g}" for key, value in setting.items()) or "defaults"
    record: dict[str, Any] = {"setting": label, "seconds": run.seconds, "processor": run.processor}
    if run.coef is not None:
        record["objective"] = judge.objective(
            instance.case.kind,
            instance.design,
            instance.y,
            run.coef,
            run.intercept,
            instance.params,
            instance.offset,
        )
    return record | ({"note": run.note} if run.note else {})


def _kept(runs: list[dict[str, Any]], goal: float | None) -> list[dict[str, Any]]:
    """Of each setting the shortest run that is as good as ours, and the shortest that is not.

    The processor's seconds are the least of all of these as well.
    """
    best: dict[Any, dict[str, Any]] = {}
    for run in runs:
        key = run["setting"], as_good(run.get("objective"), goal)
        known = best.get(key, run)
        least = {clock: min(run[clock], known[clock]) for clock in ("seconds", "processor")}
        best[key] = known | least
    for run in best.values():
        for clock in ("seconds", "processor"):
            run[clock] = float(f"{run[clock]:.4g}")
    return list(best.values())
