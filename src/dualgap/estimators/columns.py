"""What the penalty of an estimator says about single columns: factors and bounds.

Both are given by position, or by the names of columns where X is a dataframe.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dualgap.linalg.validate import Floats, real_array, unknown
from dualgap.penalties import Box, GroupLasso, NonNegative, Weighted


def on_columns(penalty: Any, factors: Any, bounds: Any, *, positive: bool) -> Any:
    """A penalty with factors and bounds for its columns, where there are any."""
    if isinstance(penalty, GroupLasso):  # of several targets: the groups are columns
        if bounds is not None:
            raise ValueError("bounds are for one target: several can have positive=True")
        penalty = penalty if factors is None else penalty._replace(weights=factors)
    elif factors is not None:
        penalty = Weighted(penalty, factors)
    if bounds is None:
        return NonNegative(penalty) if positive else penalty
    low, high = bounds
    return Box(np.maximum(low, 0.0) if positive else low, high, penalty)


def factors_of(given: Any, p: int, names: Any) -> Floats | None:
    """``penalty_weight`` as p numbers; columns that a mapping leaves out have 1."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        found = np.ones(p)
        for j, value in _by_column(given, p, names, "penalty_weight"):
            found[j] = _number(value, "penalty_weight")
    else:
        found = real_array(given, "penalty_weight").astype(np.float64)
    if found.shape != (p,):
        raise ValueError(
            f"penalty_weight must have a number for each of the {p} columns of X, or be a mapping "
            f"from columns to numbers; its shape is {found.shape}"
        )
    if not (found >= 0.0).all():
        raise ValueError(
            "penalty_weight must be >= 0: 0 for a column without a penalty, inf to leave one out"
        )
    return found


def bounds_of(given: Any, p: int, names: Any) -> tuple[Floats, Floats] | None:
    """``bounds`` as p lower and p upper ones."""
    if given is None:
        return None
    low, high = np.full(p, -inf), np.full(p, inf)
    if isinstance(given, Mapping):
        for j, pair in _by_column(given, p, names, "bounds"):
            low[j], high[j] = (
                _number(end, "bounds", none) for end, none in zip(_pair(pair), (-inf, inf))
            )
    else:
        for bound, end in zip((low, high), _pair(given)):
            if end is not None:
                own = real_array(end, "bounds").astype(np.float64)
                if own.shape not in ((), (p,)):
                    raise ValueError(
                        "bounds: each end must be a number, None, or have a number for each of "
                        f"the {p} columns of X, not shape {own.shape}"
                    )
                bound[:] = own
    if not (low <= high).all():
        raise ValueError("bounds: a lower bound exceeds the upper one, or is NaN")
    return low, high


class EvenColumns(NamedTuple):
    """X with columns in units in which an L2 penalty treats all alike, and these units."""

    X: Any
    units: Any


def in_even_units(X: Any, factors: Any, bounds: Any) -> EvenColumns | None:
    """None if there are no such units: for bounds, and for columns without a penalty."""
    if bounds is not None or (factors is not None and not factors.all()):
        return None
    if factors is None:
        return EvenColumns(X, 1.0)
    units = 1.0 / np.sqrt(factors)
    if sparse.issparse(X):
        return EvenColumns((X @ sparse.diags(units)).asformat(X.format), units)
    return EvenColumns(X * units, units)


def _by_column(given: Mapping[Any, Any], p: int, names: Any, what: str) -> Any:
    """Pairs of a place and a value."""
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    for column, value in given.items():
        if column in known:
            yield known[column], value
        elif isinstance(column, (int, np.integer)) and names is None and -p <= column < p:
            yield int(column), value
        elif names is None:
            raise ValueError(
                f"{what} has the key {column!r}, but the columns of X have no names: use positions "
                f"from 0 to {p - 1}, or fit to a dataframe"
            )
        else:
            raise ValueError(unknown(f"{what}: the column", str(column), map(str, names), 10))


def _pair(given: Any) -> Any:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(
            "bounds must be a pair (low, high), or a mapping from columns to such pairs; "
            "None is no bound"
        )
    return given


def _number(value: Any, what: str, none: float | None = None) -> float:
    if value is None and none is not None:
        return none
    found = real_array(value, what)
    if found.shape != ():
        raise ValueError(f"{what} must have one number for each column, not {value!r}")
    return float(found)
