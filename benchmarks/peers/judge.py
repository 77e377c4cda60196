"""The one judge: the objective of any coefficients, in float64, with no solver's help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.peers.tasks import Instance

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


def seconds_to(solver: dict[str, Any], best: float, level: float) -> float:
    """The shortest run whose coefficients are within ``level`` of P*, relatively."""
    reached = [r["seconds"] for r in solver["runs"] if r["objective"] - best <= level * best]
    return min(reached, default=np.inf)


def seconds_to_proof(solver: dict[str, Any], best: float, level: float) -> float:
    """The shortest run that has itself proven that it is within ``level``."""
    proven = [
        r["seconds"]
        for r in solver["runs"]
        if r["objective"] - r.get("bound", -np.inf) <= level * best
    ]
    return min(proven, default=np.inf)
