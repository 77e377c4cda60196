"""The intercept as users see it, apart from the other coefficients.

For users it is the b in x·coef + b. Internally it is the coefficient of the last feature, whose
value is ``problem.constant``, for data whose columns may have been moved (``linalg/shift.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, finite_vector, real_array


def joined(problem: Any, coef: Any, intercept: Any, whose: str = "") -> Floats:
    """All coefficients, flat; ``whose`` says in error messages where they come from."""
    own: Floats = problem.flat(coef, f"{whose}coef", problem.p)
    name = f"{whose}intercept"
    if not problem.has_intercept:
        if np.any(real_array(intercept, name)):
            raise ValueError(
                f"{name} is not 0, but the problem has no intercept: use "
                "Problem(..., intercept=True)"
            )
        return own
    if np.ndim(intercept) == 0:
        intercept = np.full(problem.width, intercept)
    last = finite_vector(intercept, name, problem.width)
    if problem.shift is not None:
        last = last + problem.shift.image(own.reshape(-1, problem.width))
    return np.concatenate([own, last / problem.constant])


def shift_error(problem: Any, w: Floats) -> float:
    """A bound on how far decision values from ``split`` are from those of w on the moved data."""
    if problem.shift is None:
        return 0.0
    own = problem.p * problem.width
    coef, inner = w[:own].reshape(-1, problem.width), problem.constant * w[own:]
    return float(np.sqrt(problem.width) * problem.shift.error(coef, inner))
