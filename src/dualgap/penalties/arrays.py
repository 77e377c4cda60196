"""The arrays that penalties hold, on more coefficients; for the methods of penalties."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats


def appended(values: Any, d: int, last: float) -> Floats:
    """d values, or one for all d, and a last one."""
    out = np.full(d + 1, last)
    out[:d] = values
    out.flags.writeable = False
    return out


def repeated(values: Any, width: int) -> Any:
    """Values of features as values of coefficients; a number stays one."""
    if np.ndim(values) == 0:
        return values
    values = np.repeat(values, width)
    values.flags.writeable = False
    return values


def refuse_arrays(penalty: Any) -> None:
    """Raise if a penalty holds arrays, which have no entry for a constant feature."""
    # Compiled rules would read past their ends; of a feature of weight 0 they ask nothing.
    for part in penalty:
        if isinstance(part, tuple):
            refuse_arrays(part)
        elif np.ndim(part):
            raise ValueError(
                f'intercept: "penalised" asks {type(penalty).__name__} about a feature that its '
                "arrays have no entry for; add a constant column to X, or use intercept=True"
            )


def repeated_facts(one: Any, size: int) -> Any:
    """The facts of one coefficient for all; those that kernels do not read take no memory."""
    every = type(one)(*(np.broadcast_to(fact, size) for fact in one))
    every = every._replace(origin=every.origin.copy())
    if np.isfinite(one.low).any() or np.isfinite(one.high).any():
        every = every._replace(low=every.low.copy(), high=every.high.copy())
    return every
