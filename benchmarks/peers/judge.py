"""The one judge: the objective of any coefficients, in float64, with no solver's help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.peers.tasks import Instance

LEVELS = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
LOSSES = {
    "hinge": lambda z, y: np.maximum(0.0, 1.0 - y * z),
    "squared-hinge": lambda z, y: 0.5 * np.maximum(0.0, 1.0 - y * z) ** 2,
    "logistic": lambda z, y: np.logaddexp(0.0, -y * z),
    "squared": lambda z, y: 0.5 * (z - y) ** 2,
}


def objective(instance: Instance, coef: Any) -> float:
    w = np.asarray(coef, dtype=np.float64).reshape(-1)
    if w.shape != (instance.d,):
        raise ValueError(f"{instance.d} coefficients are needed, not {w.shape[0]}")
    share = instance.l1_ratio
    penalty = share * np.sum(np.abs(w)) + 0.5 * (1.0 - share) * np.sum(w * w)
    losses = LOSSES[instance.loss](instance.X @ w, instance.y)
    return float(np.mean(losses) + instance.lam * penalty)


def runs_of(task: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return (run for solver in task["solvers"].values() for run in solver["runs"])


def least(task: dict[str, Any]) -> float:
    """P*: the smallest objective that any run of any solver has returned.

    The true minimum lies between the largest certified bound and this; ``doubt`` says how far they
    are apart.
    """
    return min((run["objective"] for run in runs_of(task)), default=np.inf)


def doubt(task: dict[str, Any]) -> float:
    """How far P* can be above the true minimum, relatively: certified."""
    bound = max((run.get("bound", -np.inf) for run in runs_of(task)), default=-np.inf)
    best = least(task)
    return max(0.0, (best - bound) / best)


def reached(runs: Iterable[dict[str, Any]], best: float, level: float) -> list[dict[str, Any]]:
    """The runs whose coefficients are within ``level`` of P*, relatively."""
    return [run for run in runs if run["objective"] - best <= level * best]


def proven(runs: Iterable[dict[str, Any]], best: float, level: float) -> list[dict[str, Any]]:
    """The runs that have themselves proven that they are."""
    return [run for run in runs if run["objective"] - run.get("bound", -np.inf) <= level * best]


def seconds_to(solver: dict[str, Any], best: float, level: float) -> float:
    """Of the shortest run that has reached ``level``."""
    return min((r["seconds"] for r in reached(solver["runs"], best, level)), default=np.inf)


def seconds_to_proof(solver: dict[str, Any], best: float, level: float) -> float:
    return min((r["seconds"] for r in proven(solver["runs"], best, level)), default=np.inf)


def seconds_without(solver: dict[str, Any]) -> float:
    """Of the longest run of a solver that ran out of time: it needs more for what it missed.

    One that got through its grid, or failed, does not arrive at all.
    """
    if not solver.get("status", "done").startswith("stopped"):
        return np.inf
    return max((run["seconds"] for run in solver["runs"]), default=0.0)
