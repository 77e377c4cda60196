"""The intercept apart from the other coefficients, as a user gives and gets it.

Inside, it is the coefficient of the last feature, whose value is ``problem.constant``; outside, it
is what decision values have on top of X·coef.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap._validate import Floats, finite_vector, real_array


def check_intercept(intercept: Any) -> bool | str:
    if isinstance(intercept, (bool, np.bool_)):
        return bool(intercept)
    if isinstance(intercept, str) and intercept == "penalised":
        return intercept
    raise ValueError(f'intercept must be True, False or "penalised", not {intercept!r}')


def joined(problem: Any, coef: Any, intercept: Any, whose: str = "") -> Floats:
    """All coefficients of a problem, flat; ``whose`` says in errors where they come from."""
    own: Floats = problem.flat(coef, f"{whose}coef", problem.p)
    name = f"{whose}intercept"
    if not problem.has_intercept:
        if np.any(real_array(intercept, name)):
            raise ValueError(
                f"{name} is not 0 where the problem has none: use Problem(..., intercept=True)"
            )
        return own
    if np.ndim(intercept) == 0:
        intercept = np.full(problem.width, intercept)
    last = finite_vector(intercept, name, problem.width)
    return np.concatenate([own, last / problem.constant])


def split(problem: Any, w: Floats) -> tuple[Floats, Any]:
    """The coefficients of X, and the intercept: a number, or one for each class."""
    own = problem.p * problem.width
    intercept = problem.constant * w[own:] if problem.has_intercept else np.zeros(problem.width)
    return problem.shaped(w[:own]), float(intercept[0]) if problem.width == 1 else intercept
