"""The same problem on some of its features, as a problem of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.linalg import storage
from dualgap.penalties.box import Box
from dualgap.penalties.elastic_net import ElasticNet
from dualgap.penalties.l1 import L1
from dualgap.penalties.l2 import L2
from dualgap.penalties.weighted import Weighted
from dualgap.problem.problem import Problem


def on_features(problem: Problem, kept: Any) -> Problem | None:
    """The problem on the features of X at ``kept``; None for a penalty that is not one of ours."""
    penalty = _on(problem.penalty, kept, problem.width)
    if penalty is None:
        return None
    return Problem(
        _columns(problem, kept),
        problem.y,
        problem.loss,
        penalty,
        problem.lam,
        problem.s,
        problem.intercept,
        problem.constant or 1.0,
    )


def _columns(problem: Problem, kept: Any) -> Any:
    """Some columns of X, read from the copy that a features view has made, if X is by rows."""
    if problem.shift is not None:
        return problem.given[:, kept]
    columns: Any = problem.columns
    if problem.has_intercept:
        columns = columns.base
    if not storage.is_sparse(problem.X):
        return columns.data[kept].T
    return sp.csc_array(columns.arrays, shape=problem.X.shape)[:, kept]


def _on(penalty: Any, kept: Any, width: int) -> Any:
    # A subclass may have rules of its own, so types are compared, not instances.
    kind = type(penalty)
    if kind in (L1, L2, ElasticNet):
        return penalty
    if kind is Weighted:
        return penalty._replace(weights=penalty.weights[kept * width])
    if kind is Box:
        base = _on(penalty.base, kept, width)
        low, high = (
            bound if np.ndim(bound) == 0 else bound[kept * width]
            for bound in (penalty.low, penalty.high)
        )
        return None if base is None else Box(low, high, base)
    return None
