"""Dual points whose sums over rows leave room for rounding errors.

For each gap the weighted sum of the dual variables of all rows above it must not be negative. Where
classes are far apart the optimum is nearly 0, less than a rounding error: then the sums are raised
to a few rounding errors, and those of the rows of each threshold follow from them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.rounding import error_of_u

_MARGIN = 16.0  # rounding errors of a sum: the balance of the intercept takes some
_CORRECTIONS = 3


def thresholds_of(problem: Problem, gaps: Any) -> Any:
    """The threshold that each row is about: it has −1 for each gap below."""
    own = problem.X[:, gaps]
    own = own.toarray() if storage.is_sparse(own) else np.asarray(own)
    return np.rint(-own.sum(axis=1)).astype(int)


def with_room(problem: Problem, thresholds: Any, gaps: Any, a: Floats, h: Floats) -> Floats:
    """``a``, or a point close to it whose sums have room; ``h`` are curvatures of the losses."""
    least = _MARGIN * problem.lam * error_of_u(problem, a)[gaps]
    sums = np.bincount(thresholds, problem.c * a, len(gaps) + 1)
    above = np.cumsum(sums[::-1])[::-1][1:]  # of the rows above each gap
    if (above >= least).all():
        return a
    wanted = -np.diff(np.concatenate([[0.0], np.maximum(above, least), [0.0]]))
    a = a.copy()
    for _ in range(_CORRECTIONS):
        missing = wanted - np.bincount(thresholds, problem.c * a, len(wanted))
        for t, amount in enumerate(missing):
            rows = np.flatnonzero(thresholds == t)
            own, c = a[rows], problem.c[rows]
            end = np.full(len(rows), np.copysign(2.0, amount))
            terms.projections(problem.loss, storage.read_only(problem.y[rows]), end, end)
            room = np.abs(end - own)
            share = np.minimum(h[rows], room)
            if not np.sum(c * share) >= abs(amount):
                share = room
            total = float(np.sum(c * share))
            if total > 0.0:
                a[rows] = own + share * np.clip(amount / total, -1.0, 1.0)
    return a
