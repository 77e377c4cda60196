"""Bounds on the rounding errors of z = Xw and of u = (1/λ) Σ c a x, as float64 computes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.scalar import EPS
from dualgap.linalg.products import BLOCK, norm
from dualgap.linalg.validate import Floats
from dualgap.losses._simplex import LOOSE
from dualgap.problem.intercept import shift_error

_LOST = 1e-300  # at most what the square of an entry is that float64 takes for 0
_MULTIPLIED = 2.0  # roundings of a multiple


ErrorOfZ = Callable[[slice], Floats]  # of some samples, for nobody needs those of all at once


def error_of_z(problem: Any, w: Floats, *, sharp: bool) -> ErrorOfZ:
    """A bound on the rounding errors of X w; for blocks on their Euclidean norms.

    The inequality of Cauchy and Schwarz holds in any units of the features: as they are, and, if
    the bound is to be ``sharp``, which costs the first one a pass, also with columns of norm 1,
    which serves where their sizes differ by powers of ten.
    """
    blocked, size = problem.by_rows, norm(w)
    even = norm(np.repeat(problem.column_sizes, problem.width) * w) if sharp else np.inf
    moved = shift_error(problem, w)

    def of(some: slice) -> Floats:
        error: Floats = problem.row_counts_of(some)
        scaled = error.copy() if sharp else error
        _bound(problem.row_squares[some], blocked, size, 0.0, error)
        if sharp:
            _bound(problem.even_squares[some], blocked, even, 0.0, scaled)
            np.fmin(error, scaled, out=error)
        if moved:
            error += moved
        return error

    return of


def rough_error_of_z(problem: Any, w: Floats) -> ErrorOfZ:
    """A larger bound that takes no norms of rows if X is stored by columns, which saves a pass."""
    if problem.by_rows:
        return error_of_z(problem, w, sharp=False)
    error = np.array([float(np.count_nonzero(w))])
    _bound(np.array([problem.total_square]), False, norm(w), 0.0, error)
    error += shift_error(problem, w)
    return lambda some: np.repeat(error, some.stop - some.start)


def error_of_u(problem: Any, a: Floats) -> Floats:
    """A bound on the rounding errors of (1/λ) Σ c a x, and on what blocks lack of feasibility.

    It covers a multiple of both, by a factor of at most 1: each a_i is rounded once more then, and
    so is u.
    """
    return error_of_sums(
        problem.column_counts,
        problem.column_squares,
        dual_sizes(problem, a),
        blocked=not problem.by_rows,
        weight_error=problem.weight_error,
    )


def rough_error_of_u(problem: Any, a: Floats) -> Floats:
    """A larger bound that takes no norms of columns if X is stored by rows."""
    if not problem.by_rows:
        return error_of_u(problem, a)
    counts, squares = np.array([float(problem.n)]), np.array([problem.total_square])
    error = error_of_sums(
        counts, squares, dual_sizes(problem, a), weight_error=problem.weight_error
    )
    return np.tile(error, problem.d)


def error_of_sums(
    counts: Floats,
    squares: Floats,
    sizes: Floats,
    *,
    blocked: bool = False,
    weight_error: float = 0.0,
) -> Floats:
    """The same from what u depends on: for each feature how many products are added up, at most,
    and Σ x², for each class ``dual_sizes``, and the relative error of c. Changes ``counts``."""
    more = _MULTIPLIED + weight_error + (LOOSE * len(sizes) if len(sizes) > 1 else 0.0)
    if len(sizes) == 1:
        _bound(squares, blocked, float(sizes[0]), more, counts)
        return counts
    _bound(squares, blocked, 1.0, more, counts)
    return np.outer(counts, sizes).ravel()


def dual_sizes(problem: Any, a: Floats) -> Floats:
    """‖c a‖/λ of each class."""
    sizes = np.empty(problem.width)
    _norms(problem.c, a, sizes)
    sizes /= problem.lam
    return sizes


@kernel
def _norms(c: Any, a: Any, out: Any) -> None:
    """‖c a‖ of each class."""
    for k in range(len(out)):
        total = 0.0
        for i in range(len(c)):
            x = c[i] * a[i * len(out) + k]
            total += x * x
        out[k] = math.sqrt(total)


@kernel
def _bound(squares: Any, blocked: bool, size: float, more: float, out: Any) -> None:
    """From numbers of products to bounds on the errors of their sums, for vectors of known norms;
    in place."""
    for i in range(len(out)):
        count = out[i]
        if blocked:
            count = min(count, BLOCK + count / BLOCK)
        # Squares of entries below 1e-150 may have been lost.
        length = math.sqrt(squares[i] + _LOST * out[i])
        out[i] = (2.0 + count + more) * EPS * length * size
