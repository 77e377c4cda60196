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
from dualgap.problem import Problem


def on_features(problem: Problem, kept: Any) -> Problem | None:
    """The problem on the features at ``kept``; None for a penalty that is not one of ours."""
    penalty = _on(problem.penalty, kept, problem.width)
    if penalty is None:
        return None
    return Problem(
        take_columns(problem, kept), problem.y, problem.loss, penalty, problem.lam, problem.c
    )


def take_columns(problem: Problem, kept: Any) -> Any:
    """Some columns of X, stored by columns; read from the copy that a features view has made."""
    columns = problem.columns
    if not storage.is_sparse(problem.X):
        return columns.data[kept].T
    shape = problem.X.shape
    return sp.csc_array((columns.data, columns.indices, columns.indptr), shape=shape)[:, kept]


def _on(penalty: Any, kept: Any, width: int) -> Any:
    # A subclass may have rules of its own, so types are compared, not instances.
    kind = type(penalty)
    if kind in (L1, L2, ElasticNet):
        return penalty
    if kind is Weighted:
        return penalty._replace(weights=penalty.weights[np.asarray(kept) * width])
    if kind is Box:
        base = _on(penalty.base, kept, width)
        return None if base is None else penalty._replace(base=base)
    return None
