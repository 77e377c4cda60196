"""The same problem on some of its features, as a problem of its own."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from dualgap.linalg import storage
from dualgap.penalties import structure
from dualgap.problem.problem import Problem


def on_features(problem: Problem, kept: Any) -> Problem | None:
    """The problem on some features of X; None if the penalty does not say what it is on these."""
    penalty = structure.on_features(problem.feature_penalty, kept)
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
