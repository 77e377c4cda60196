"""Ours on two Dask workers against dask-ml, Spark MLlib and one machine: seconds to 1e-4·P(0).

``python -m benchmarks.cluster.race PYTHON [a part of the names]``, PYTHON being an environment with
dask-ml and pyspark. All minimise the same objective, which is computed here for what they return;
the bound that it is compared with is the proven one. A peer's time is the least with which one of
its limits on iterations comes near enough; dask-ml penalises the intercept, which counts for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster, wait

from benchmarks.cluster.table import table
from benchmarks.cluster.tasks import TASKS
from dualgap import Problem, distributed, solve
from dualgap.problem.intercept import joined

KINDS = {
    "covtype logistic": "logistic",
    "covtype hinge": "hinge",
    "2e6 x 30 logistic": "logistic",
    "2e6 x 30 Lasso": "lasso",
}
HOW: dict[str, Any] = {"tol": 1e-4, "relative_to": "start"}
PARTITIONS = 8


def ours(problem: Problem, client: Any) -> tuple[float, Any]:
    """Seconds of the second fit on data that workers have, and its solution."""
    cuts = np.linspace(0, problem.n, PARTITIONS + 1).astype(int)
    X, y = problem.given, problem.given_y
    parts = client.scatter([(X[a:b], y[a:b]) for a, b in pairwise(cuts)], hash=False)
    wait(parts)
    stated = distributed.Partitioned(
        parts, problem.loss, problem.feature_penalty, problem.lam, problem.intercept
    )
    seconds, found = [], None
    for _ in range(2):
        began = time.perf_counter()
        found = distributed.solve(stated, client, **HOW)
        seconds.append(time.perf_counter() - began)
    return seconds[-1], found


def one_machine(problem: Problem) -> float:
    """Seconds of the second fit by threads of this process."""
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        X, y = problem.given, problem.given_y
        again = Problem(
            X, y, problem.loss, problem.feature_penalty, problem.lam, intercept=problem.intercept
        )
        solve(again, **HOW)
        seconds.append(time.perf_counter() - began)
    return seconds[-1]


def objective(problem: Problem, coef: Any, intercept: float) -> float:
    w = joined(problem, np.asarray(coef), intercept)
    return float(problem.loss_value(problem.decision(w)) + problem.penalty_value(w))


def peers(python: str, problem: Problem, kind: str, bound: float) -> dict[str, float]:
    """Least seconds of each peer that comes near enough; infinite if none of its tries does."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        X = problem.given
        X = X.toarray() if hasattr(X, "toarray") else X
        data, out = Path(folder) / "data.npz", Path(folder) / "out.json"
        np.savez(data, X=X, y=problem.given_y, lam=problem.lam, kind=kind)
        for which in ("spark", "dask-ml"):
            script = Path(__file__).with_name("peers.py")
            done = subprocess.run([python, script, which, data, out], check=False, timeout=1800)
            if done.returncode:
                continue
            for one in json.loads(out.read_text()):
                gap = objective(problem, one["coef"], one["intercept"]) - bound
                near = gap <= 1e-4 * problem.scale
                seconds = one["seconds"] if near else np.inf
                print(one["name"], one["limit"], f"{one['seconds']:.2f} s",
                      f"{gap / problem.scale:.1e}", flush=True)  # fmt: skip
                best[one["name"]] = min(best.get(one["name"], np.inf), seconds)
    return best


def main(python: str, names: list[str]) -> None:
    lines = []
    for name, kind in KINDS.items():
        if names and not any(part in name for part in names):
            continue
        problem = TASKS[name].problem()
        how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**how) as cluster, Client(cluster) as client:
            seconds, found = ours(problem, client)
        alone = one_machine(problem)
        others = peers(python, problem, kind, found.certificate.dual)
        nearest = min(others.values(), default=np.inf)
        words = ", ".join(f"{peer} {value / seconds:.3g}" for peer, value in others.items())
        print(name, f"ours {seconds:.2f} s, one machine {alone:.2f} s", words, flush=True)
        lines.append([name, seconds / nearest, seconds / alone, words])
    table(["task", "ours / best peer", "ours / one machine", "peers / ours"], lines)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
