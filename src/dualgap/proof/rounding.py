"""What rounding can cost: the errors of z = Xw and of u = (1/λ) Σ c a x, and an exact balance.

docs/decisions/rounding.md derives every constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper, kernel, ordered_kernel
from dualgap.compile.rules import conj, conj_size, offset_size, target_size
from dualgap.compile.scalar import EPS
from dualgap.linalg.dense import BLOCK
from dualgap.linalg.products import norm
from dualgap.linalg.validate import Floats
from dualgap.losses._simplex import LOOSE
from dualgap.losses.offset import own_classes
from dualgap.problem.intercept import shift_error
from dualgap.proof.free_features import Ballast

LOST_SQUARE = 1e-300  # exceeds the square of every entry whose square underflows to 0
MULTIPLE = 2.0  # roundings of a multiple of a and of u
COST_ERROR = 64.0 * EPS  # exceeds the relative rounding errors of a cost many times over

ErrorOfZ = Callable[[slice], Floats]  # takes a slice of samples: no caller needs all at once


# --- z --------------------------------------------------------------------------------------------


def error_of_z(problem: Any, w: Floats, *, sharp: bool) -> ErrorOfZ:
    """A bound on the rounding errors of X w; for blocks on their Euclidean norms.

    The Cauchy-Schwarz inequality holds in any units of the features. A ``sharp`` bound is the
    smaller one of two: with X as it is, and with columns of norm 1, which helps if their sizes
    differ by powers of ten. The first sharp bound costs a pass over X.
    """
    blocked, size = problem.by_rows, norm(w)
    even = norm(np.repeat(problem.column_sizes, problem.width) * w) if sharp else np.inf
    moved = shift_error(problem, w)

    def bound(samples: slice) -> Floats:
        error: Floats = problem.row_counts_of(samples)
        scaled = error.copy() if sharp else error
        _bound_sums(problem.row_squares[samples], blocked, size, 0.0, error)
        if sharp:
            _bound_sums(problem.even_squares[samples], blocked, even, 0.0, scaled)
            np.fmin(error, scaled, out=error)
        if moved:
            error += moved
        return error

    return bound


def of_entries(error: ErrorOfZ, n_targets: int) -> ErrorOfZ:
    """Bounds on the entries of several targets, from one that holds for all of a sample."""
    if n_targets == 1 or not len(error(slice(0, 1))):
        return error

    def bound(entries: slice) -> Floats:
        first, last = entries.start // n_targets, -(-entries.stop // n_targets)
        start = entries.start - first * n_targets
        every: Floats = np.repeat(error(slice(first, last)), n_targets)
        return np.ascontiguousarray(every[start : start + entries.stop - entries.start])

    return bound


def cheap_error_of_z(problem: Any, w: Floats) -> ErrorOfZ:
    """A larger bound, which needs no norms of rows if X is stored by columns: that saves a pass."""
    if problem.by_rows:
        return error_of_z(problem, w, sharp=False)
    error = np.array([float(np.count_nonzero(w))])
    _bound_sums(np.array([problem.total_square]), False, norm(w), 0.0, error)
    error += shift_error(problem, w)
    return lambda samples: np.repeat(error, samples.stop - samples.start)


# --- u --------------------------------------------------------------------------------------------


def error_of_u(problem: Any, a: Floats) -> Floats:
    """A bound on the rounding errors of (1/λ) Σ c a x, and on how infeasible stored blocks are.

    It also holds for a and u times a factor of at most 1, which rounds each a_i and u once more.
    """
    return error_of_sums(
        problem.column_counts,
        problem.column_squares,
        dual_sizes(problem, a),
        blocked=not problem.by_rows,
        weight_error=problem.weight_error,
    )


def error_of_free_u(problem: Any, a: Floats) -> Floats:
    """The entries of ``error_of_u`` that belong to free features."""
    free = problem.free_places
    if problem.width > 1 or len(free) > 1 or problem.intercept is not True:
        return np.asarray(error_of_u(problem, a)[free])
    # Of the intercept alone, which needs no norms of columns.
    return error_of_sums(
        np.array([float(problem.n)]),
        np.array([problem.n * problem.constant**2]),
        dual_sizes(problem, a),
        blocked=not problem.by_rows,
        weight_error=problem.weight_error,
    )


def cheap_error_of_u(problem: Any, a: Floats) -> Floats:
    """A larger bound, which needs no norms of columns if X is stored by rows."""
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
    """The bound on the errors of u, from what it depends on. Overwrites ``counts``.

    ``counts``, ``squares``  for each feature the number of products that are added up, and Σ x²
    ``sizes``                ``dual_sizes`` of each class
    ``weight_error``         the relative error of c, in units of EPS
    """
    more = MULTIPLE + weight_error + (LOOSE * len(sizes) if len(sizes) > 1 else 0.0)
    if len(sizes) == 1:
        _bound_sums(squares, blocked, float(sizes[0]), more, counts)
        return counts
    _bound_sums(squares, blocked, 1.0, more, counts)
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
def _bound_sums(squares: Any, blocked: bool, size: float, more: float, out: Any) -> None:
    """Turn numbers of products into bounds on the errors of their sums, for vectors of known norms,
    in place."""
    for i in range(len(out)):
        count = out[i]
        if blocked:
            count = min(count, BLOCK + count / BLOCK)
        # Squares of entries below 1e-150 may have been lost.
        length = math.sqrt(squares[i] + LOST_SQUARE * out[i])
        out[i] = (2.0 + count + more) * EPS * length * size


# --- exact balance of free features ---------------------------------------------------------------


class BalanceCost(NamedTuple):
    """What an exact balance can change: bounds on the change of u, of the gap and of D(a)."""

    u: Any
    gap: float
    dual: float


def balance_cost(problem: Any, ballast: Ballast, missing: Floats, w: Floats) -> BalanceCost | None:
    """What an exact balance costs if the imbalance is at most ``missing``; None without room.

    ``problem`` needs loss, λ and ``weight_error``: for partitions it is the driver's.
    """
    weight_error = problem.weight_error
    far = bound_moves(ballast, missing, weight_error)
    if far is None:
        return None
    width = ballast.a.shape[1]
    share = ballast.c * far * (1.0 + (8.0 + weight_error) * EPS)
    places, y = np.arange(len(far)), own_classes(ballast.y)
    touched = np.zeros((len(far), width))
    touched[places, ballast.classes] = 1.0
    if width > 1:
        touched[places, y] = 1.0
    u = (share[:, None] * np.abs(ballast.X)).T @ touched / problem.lam * (1.0 + COST_ERROR)
    # |Δ·z| ≤ |Δ| Σ|x||w|, or for classes |Δ|(|z_k| + |z_y|).
    sizes = np.sum((np.abs(ballast.X) @ np.abs(w.reshape(-1, width))) * touched, axis=1)
    costs = np.zeros(len(far))
    signs = np.asarray(ballast.y, dtype=problem.y.dtype)
    moved = ballast.a.copy()
    action = _growth if width == 1 else _block_growth
    action(problem.loss, signs, moved, ballast.classes, far, costs)
    dual = float(np.sum(ballast.c * costs)) * (1.0 + COST_ERROR * (1.0 + weight_error))
    gap = dual + float(np.sum(share * sizes)) * (1.0 + COST_ERROR * (1.0 + len(w)))
    return BalanceCost(np.asarray(u.ravel()), gap, dual)


def bound_moves(ballast: Ballast, missing: Floats, weight_error: float) -> Floats | None:
    """Bounds on |Δ| for any imbalance up to ``missing``; None if the ballast lacks room.

    With T the constraints in units of room, Y about T⁻ᵀ and t = Δ/room:  t = Ym + (I − YTᵀ)t.
    """
    T = ballast.constraints.T
    needed, width = missing, ballast.a.shape[1]
    if width > 1:
        needed = np.delete(missing.reshape(-1, width), ballast.implied, axis=1).ravel()
    if not missing.any():
        return np.zeros(T.shape[1])
    used = T.any(axis=1)  # a class without samples has no imbalance, and nothing to take it up
    T, needed, idle = T[used], needed[used], needed[~used]
    if idle.any() or T.shape[0] != T.shape[1] or not np.isfinite(T).all():
        return None
    if len(T) == 1:
        t = needed / np.abs(T[0]) * (1.0 + (8.0 + weight_error) * EPS)
        return np.asarray(t * ballast.room) if t[0] <= 1.0 else None
    try:
        Y = np.linalg.inv(T)
    except np.linalg.LinAlgError:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        lost = (8.0 + len(T) + weight_error) * EPS * (np.abs(Y) @ np.abs(T))
        off = float(np.max(np.sum(np.abs(np.eye(len(T)) - Y @ T) + lost, axis=1)))
        first = np.abs(Y) @ needed * (1.0 + (4.0 + len(T)) * EPS)
        if not off < 0.5 or not first.max() < np.inf:
            return None
        t = (first + off / (1.0 - off) * first.max()) * (1.0 + 8.0 * EPS)
    return np.asarray(t * ballast.room) if t.max() <= 1.0 else None


@helper
def growth_of(loss: Any, at: float, y: float, far: float) -> float:
    """By how much φ* can grow within ``far``. It is convex, so it grows most at one of the ends."""
    here = conj(loss, at, y)
    left, right = conj(loss, at - far, y), conj(loss, at + far, y)
    target, offset = target_size(loss, y), 2.0 * abs(y.imag)  # as in ``terms.py``
    size = abs(here) + abs(left) + abs(right) + (abs(at) + far) * (1.0 + target + offset) + target
    size += conj_size(loss, at, y) + conj_size(loss, at - far, y) + conj_size(loss, at + far, y)
    return max(max(left, right) - here, 0.0) + COST_ERROR * size


@ordered_kernel
def _growth(loss: Any, y: Any, a: Any, classes: Any, far: Any, out: Any) -> None:
    for i in range(len(y)):
        if far[i] > 0.0:
            out[i] = growth_of(loss, a[i, 0], y[i], far[i])


@ordered_kernel
def _block_growth(loss: Any, y: Any, a: Any, classes: Any, far: Any, out: Any) -> None:
    for i in range(len(y)):
        if far[i] > 0.0:
            row, own, k = a[i], int(y[i].real), classes[i]
            here = conj(loss, row, y[i])
            at, at_own = row[k], row[own]
            row[k], row[own] = at - far[i], at_own + far[i]
            left = conj(loss, row, y[i])
            row[k], row[own] = at + far[i], at_own - far[i]
            right = conj(loss, row, y[i])
            row[k], row[own] = at, at_own
            size = 1.0 + abs(here) + abs(left) + abs(right) + 4.0 * offset_size(loss, y[i])
            out[i] = max(max(left, right) - here, 0.0) + COST_ERROR * size * len(row)
