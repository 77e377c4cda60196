"""Which free features say something new, and whether all others follow from them exactly.

A feature that follows exactly is balanced when the others are, as the last level of a category is.
One that follows only nearly would let no search for a balanced dual point end.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.gram import gram
from dualgap.linalg.storage import is_coded
from dualgap.linalg.validate import Floats
from dualgap.proof.tuning import TUNING

_PARTS = TUNING.combination_denominator
_EXACT = 2.0**53  # float64 adds up whole numbers below it without errors


class Independent(NamedTuple):
    """Which columns are independent.

    ``kept``        places of those from which all others follow exactly
    ``collinear``   whether some only nearly follow; then ``kept`` has all columns
    ``near``        places of columns that follow nearly, or are close to it
    ``orthogonal``  columns of about the same span as those kept, if these are too close to
                    dependent ones for a search
    """

    kept: Any
    collinear: bool
    near: tuple[int, ...] = ()
    orthogonal: Floats | None = None


def independent_columns(X: Floats, c: Floats) -> Independent:
    used = X if X.shape[1] == 1 else X[c > 0.0]
    peaks = np.max(np.abs(used), axis=0, initial=0.0)  # not by squares, which underflow
    if X.shape[1] == 1:
        return Independent(np.flatnonzero(peaks), False)
    seen = X / np.where(peaks > 0.0, peaks, 1.0) * np.sqrt(c)[:, None]
    sizes = np.sqrt(np.sum(seen * seen, axis=0))
    seen /= np.where(sizes > 0.0, sizes, 1.0)
    kept: list[int] = []
    others: list[int] = []
    basis, near = np.empty((len(X), 0)), []
    for j in reversed(range(X.shape[1])):  # a constant column first
        rest = seen[:, j] - basis @ (basis.T @ seen[:, j])
        rest -= basis @ (basis.T @ rest)
        left = float(np.sqrt(np.sum(rest * rest)))
        if left > TUNING.least_share:
            kept.append(j)
            if left <= TUNING.independent_share:
                near.append(j)
            basis = np.column_stack([basis, rest / left])
        elif peaks[j] > 0.0:
            others.append(j)
    kept.sort()
    dependent = [j for j in others if not _follows(used, kept, j)]
    if dependent:
        return Independent(np.arange(X.shape[1]), True, tuple(dependent))
    places = np.array(kept, dtype=np.int64)
    if not near:
        return Independent(places, False)
    root = np.sqrt(c)[:, None]
    orthogonal = np.divide(basis, root, out=np.zeros_like(basis), where=root > 0.0)
    return Independent(places, False, tuple(near), orthogonal)


def _follows(X: Floats, kept: list[int], j: int) -> bool:
    """Whether a column is exactly a simple combination of others, as with one-hot codes."""
    parts = np.round(np.linalg.lstsq(X[:, kept], X[:, j], rcond=None)[0] * _PARTS)
    used = X[:, [*np.array(kept)[parts != 0.0], j]]
    exact = _sum_of_whole_numbers(used, np.append(parts[parts != 0.0], -_PARTS))
    if exact is not None:
        return not exact.any()
    rows = np.unique(X[:, [*kept, j]], axis=0)
    if rows.size > TUNING.max_fraction_entries:
        return False
    found = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
    simple = [Fraction(round(float(b) * _PARTS), _PARTS) for b in found]
    return all(
        sum(b * Fraction(x) for b, x in zip(simple, row)) == Fraction(row[-1])
        for row in rows.tolist()
    )


def _sum_of_whole_numbers(X: Floats, parts: Floats) -> Floats | None:
    """X @ parts without errors; None if X holds other numbers, or sums are too large for that."""
    largest = np.sum(np.abs(parts) * np.max(np.abs(X), axis=0))
    whole = largest < _EXACT and np.array_equal(X, np.round(X))
    return np.asarray(np.einsum("ij,j->i", X, parts)) if whole else None


# --- features of large sparse data --------------------------------------------------------------


def independent_features(data: Any, features: Any, c: Floats) -> Independent:
    """The same by Cholesky factors of the Gram matrix, a constant feature first."""
    products = gram(data, c)[np.ix_(features, features)]
    squares = np.diag(products).copy()
    used = squares > 0.0
    kept: list[int] = []
    others: list[int] = []
    factor = np.zeros((0, len(features)))
    for j in reversed(np.flatnonzero(used).tolist()):
        left = products[j] - factor[:, j] @ factor
        if left[j] > TUNING.independent_share**2 * squares[j]:
            kept.append(j)
            factor = np.vstack([factor, left / np.sqrt(left[j])])
        else:
            others.append(j)
    kept.sort()
    solid = np.array(kept, dtype=np.int64)
    dependent = [j for j in others if not _feature_follows(data, features, c, products, solid, j)]
    if dependent:
        return Independent(np.arange(len(features)), True, tuple(dependent))
    return Independent(solid, False)


def _feature_follows(
    data: Any, features: Any, c: Floats, products: Floats, kept: Any, j: int
) -> bool:
    """Whether a column is exactly a combination of others, with multiples of 1/1024.

    Its 1024-fold is a sum of whole numbers if columns are, and float64 adds these up exactly.
    """
    scale = np.sqrt(np.diag(products))[kept]
    own = products[np.ix_(kept, kept)] / np.outer(scale, scale)
    found = np.linalg.lstsq(own, products[kept, j] / scale, rcond=None)[0] / scale
    parts = np.zeros(data.d)
    parts[features[kept]] = np.round(found * _PARTS)
    parts[features[j]] = -_PARTS
    sizes = np.abs(parts)
    known = range(data.X.starts[0], data.p) if is_coded(data.X) else range(0)
    for k in np.flatnonzero(parts).tolist():
        if k not in known:  # to be a level, which is 0 or 1
            column = data.one_column(k)
            if (column != np.round(column)).any():
                return False
            sizes[k] *= float(np.max(np.abs(column)))
    if not float(np.sum(sizes)) < _EXACT:
        return False
    return not data.times(parts, 1)[c > 0.0].any()
