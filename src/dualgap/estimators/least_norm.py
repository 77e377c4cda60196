"""Of all models with the same decision values the one with the smallest coefficients.

Without a penalty, features that depend on each other leave the coefficients open. Methods that
start at zero and follow gradients find those of least norm, and so do other libraries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.problem import Problem

_SAME = 1e-10  # of decision values: a larger change is more than rounding, and refused
_NUMBERS = 1 << 18  # of X, of which there is a dense copy: 2 MB


def is_open(problem: Problem) -> bool:
    """Whether nothing but the data says what the coefficients are, and a look at them is cheap."""
    small = problem.n * problem.p <= _NUMBERS and not storage.is_on_disk(problem.X)
    return small and bool(problem.features.free.all())


def least_norm(problem: Problem, coef: Any, intercept: Any) -> tuple[Any, Any]:
    """Coefficients and intercept; the given ones if no feature depends on others."""
    X = problem.given
    X = np.asarray(X.toarray() if storage.is_sparse(X) else X, dtype=np.float64)[problem.c > 0.0]
    mean = X.mean(axis=0) if problem.intercept is True else np.zeros(problem.p)
    X = X - mean
    units = np.sqrt(np.sum(X * X, axis=0))
    units[units == 0.0] = 1.0
    _, sizes, directions = np.linalg.svd(X / units, full_matrices=False)  # whatever the units of X
    used = directions[sizes > max(X.shape) * EPS * sizes.max(initial=0.0)]
    if len(used) == problem.p:
        return coef, intercept
    rows = np.linalg.qr((used * units).T)[0]
    least = rows @ (rows.T @ coef)
    moved, seen = np.linalg.norm(X @ (least - coef)), np.linalg.norm(X @ coef)
    if not moved <= _SAME * seen:
        return coef, intercept
    return least, intercept + mean @ (coef - least)
