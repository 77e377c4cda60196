"""The balance of free features for several targets: one for each, since none depends on another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.proof.free_features import choose_ballast
from dualgap.proof.rounding import BalanceCost


def ballast_of(problem: Any, a: Floats) -> Any:
    """The ballast of a dual point; for several targets a list with that of each."""
    if problem.n_targets == 1:
        return choose_ballast(problem, a)
    columns = np.ascontiguousarray(a.reshape(problem.n, -1).T)
    return [choose_ballast(view, own) for view, own in zip(problem.target_views, columns)]


def balanced(problem: Any, pair: Any, balance: Callable[[Any, Any], Floats]) -> Floats:
    """A dual point that satisfies the constraints of all targets, by the ``balance`` of one."""
    own = [pair.w, pair.a, pair.z]
    w, a, z = (v.reshape(-1, problem.n_targets) for v in own)
    found = np.empty_like(a)
    for k, view in enumerate(problem.target_views):
        columns = (np.ascontiguousarray(v[:, k]) for v in (w, a, z))
        one = pair._replace(**dict(zip("waz", columns)), u=np.empty(0), u_anew=False)
        found[:, k] = balance(view, one)
    return np.asarray(found.ravel())


def summed_cost(
    problem: Any, ballasts: Any, point: Any, w: Floats, cost_of: Callable[..., Any]
) -> tuple[BalanceCost | None, Any]:
    """What the exact balances of all targets cost together, and the samples that make them."""
    width, changes, gap, dual = problem.n_targets, np.zeros(len(w)), 0.0, 0.0
    for k, (view, own) in enumerate(zip(problem.target_views, ballasts)):
        parts = (np.ascontiguousarray(v[k::width]) for v in (point.u, point.error, w))
        cost = cost_of(view, own, *parts)
        if cost is None:
            return None, ()
        changes[k::width] = cost.u
        gap, dual = gap + cost.gap, dual + cost.dual
    return BalanceCost(changes, gap, dual), np.unique(np.concatenate([b.samples for b in ballasts]))


def of_each(problem: Any, point: Callable[[Any], Floats]) -> Floats:
    """The dual points of all targets, flat."""
    return np.stack([point(view) for view in problem.target_views], axis=1).ravel()
