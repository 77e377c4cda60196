"""Solutions of systems with positive definite matrices, however badly scaled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from dualgap.linalg.validate import Floats
from dualgap.steps.newton.tuning import TUNING


def solve_scaled(
    matrix: Floats, diagonal: Floats, right: Floats, ridge: float = TUNING.ridge
) -> Floats:
    """matrix⁻¹ right with this diagonal; zeros if numbers overflow."""
    if not np.isfinite(right).all():
        return np.zeros(len(right))
    return scaled_factor(matrix, diagonal, ridge)(right)


def scaled_factor(
    matrix: Floats, diagonal: Floats, ridge: float = TUNING.ridge
) -> Callable[[Floats], Floats]:
    """What multiplies by matrix⁻¹ with this diagonal, in units in which the diagonal is 1.

    ``ridge`` is added to it, and increased until the matrix is positive definite. The result is
    zeros if numbers overflow.
    """
    unit = np.sqrt(diagonal)
    unit[unit == 0.0] = 1.0
    unit = 1.0 / unit
    while True:
        scaled = matrix * unit
        scaled *= unit[:, None]
        if not np.isfinite(np.sum(scaled)):
            return np.zeros_like
        np.fill_diagonal(scaled, 1.0 + ridge)
        # The transpose has LAPACK's order, so no copy is made.
        factor, failed = lapack.dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return lambda right: np.asarray(lapack.dpotrs(factor, right * unit, lower=1)[0] * unit)
        ridge *= 100.0
