"""A feasible dual point for small dense data, in one kernel, with all sums of its certificate.

The arithmetic is that of ``dual_point.py``, ``free_features.py``, ``rounding.py`` and ``terms.py``,
whose kernels it calls in the same order; what it saves are a hundred calls from Python, which take
ten times as long as the arithmetic. It covers losses with one decision value for each sample and,
of features without a penalty, at most the intercept. ``make_feasible`` does the rest.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import ordered_inner, ordered_kernel
from dualgap.compile.rules import project
from dualgap.compile.scalar import EPS
from dualgap.linalg.dense import BLOCK
from dualgap.linalg.small_products import summed, times, times_in_blocks
from dualgap.linalg.validate import Floats
from dualgap.losses.targets import contains_yz
from dualgap.problem.intercept import shift_error
from dualgap.proof import terms
from dualgap.proof.block_terms import PER_TERM
from dualgap.proof.dual_point import ROUNDED_UP, DualPoint, feasible_length
from dualgap.proof.feature_terms import sums_over_features
from dualgap.proof.free_features import room_of
from dualgap.proof.rounding import COST_ERROR, LOST_SQUARE, MULTIPLE, BalanceCost, growth_of
from dualgap.proof.tuning import TUNING

_LARGEST_SHARE = TUNING.largest_share
_CORRECTIONS, _SHRINKS = TUNING.max_corrections, TUNING.max_shrinks
_SHRINK_FOR_BALANCE = TUNING.shrink_for_balance
_USELESS, _AMPLE = TUNING.useless_balance, TUNING.ample_room


class SmallPoint(NamedTuple):
    """A feasible pair with its decision values, and the sums over samples and over features."""

    a: Floats
    z: Floats
    point: DualPoint
    samples: terms.Sums
    features: terms.Sums
    sample_parts: Floats
    feature_parts: Floats
    shrinkage: float


def small_point(problem: Any, pair: Any) -> SmallPoint | None:
    """The point nearest to the pair's; None if the data are not small, or if it has no room for a
    balance."""
    X = problem.small_rows
    if X is None:
        return None
    n, d = problem.n, problem.d
    a, z, sample_parts, bound = np.empty((4, n))
    u, error, parts = np.empty((3, d))
    features, lam = problem.features, problem.lam
    moved = 0.0 if problem.shift is None else shift_error(problem, pair.w)
    loss, y, c, w = problem.loss, problem.y, problem.c, pair.w
    found, of_samples, of_features = _small_proof(
        loss, contains_yz(loss), problem.penalty, X, problem.constant, problem.intercept is True, y,
        c, problem.row_squares, problem.column_squares, moved, features.low, features.high,
        problem.has_bounded_conj, lam, problem.weight_error, w, pair.a, a, z, u, error, bound,
        sample_parts, parts,
    )  # fmt: skip
    length, if_exact, ballast, gap, dual = found
    if length < 0.0:
        return None
    used = np.array([ballast]) if ballast >= 0 else ()
    return SmallPoint(
        a, z,
        DualPoint(u, error, BalanceCost(0.0, gap, dual), used),
        terms.of_samples([of_samples], loss, a, bounded=True),
        terms.of_features(of_features, lam, w, u, bounded=True),
        sample_parts,
        parts,
        1.0 - length / if_exact if if_exact > 0.0 else 1.0,
    )  # fmt: skip


@ordered_kernel
def _small_proof(
    loss: Any,
    multiplied: bool,
    penalty: Any,
    X: Any,
    constant: float,
    is_free: bool,
    y: Any,
    c: Any,
    row_squares: Any,
    column_squares: Any,
    moved: float,
    low: Any,
    high: Any,
    is_bounded: bool,
    lam: float,
    weight_error: float,
    w: Any,
    given: Any,
    a: Any,
    z: Any,
    u: Any,
    error: Any,
    z_error: Any,
    parts: Any,
    feature_parts: Any,
) -> Any:
    """The point, and the sums over samples and over features there."""
    point = _small_point(
        loss, X, constant, is_free, y, c, row_squares, column_squares, moved, low, high, is_bounded,
        lam, weight_error, w, given, a, z, u, error, z_error,
    )  # fmt: skip
    if point[0] < 0.0:
        none = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        return point, none, none
    per_term = PER_TERM + weight_error
    of_samples = terms.sums_over_samples(loss, multiplied, y, c, z, a, z_error, parts, per_term)
    return point, of_samples, sums_over_features(penalty, lam, w, u, error, feature_parts)


@ordered_inner
def _small_point(
    loss: Any,
    X: Any,
    constant: float,
    is_free: bool,
    y: Any,
    c: Any,
    row_squares: Any,
    column_squares: Any,
    moved: float,
    low: Any,
    high: Any,
    is_bounded: bool,
    lam: float,
    weight_error: float,
    w: Any,
    given: Any,
    a: Any,
    z: Any,
    u: Any,
    error: Any,
    z_error: Any,
) -> tuple[float, float, int, float, float]:
    """Fills in a, z, u and both errors. The length of a is −1 if that is impossible."""
    n, d = len(y), len(w)
    if X.shape[1] > BLOCK:
        times_in_blocks(X, constant, w, z)
    else:
        times(X, constant, w, z)
    square = 0.0
    for j in range(d):
        square += w[j] * w[j]
    size = math.sqrt(square)
    for i in range(n):
        a[i] = project(loss, given[i], y[i])
    for i in range(n):
        z_error[i] = (2.0 + d) * EPS * math.sqrt(row_squares[i] + LOST_SQUARE * d) * size + moved
    if is_free and not _balance(loss, y, c, a):
        return -1.0, 0.0, -1, 0.0, 0.0
    full_a, full_u, full_error, weighted = np.empty(n), np.empty(d), np.empty(d), np.empty(n)
    for i in range(n):
        full_a[i] = a[i]
        weighted[i] = c[i] * a[i]
    _, square = _sum_and_square(weighted)
    summed(X, constant, weighted, full_u)
    size = math.sqrt(square) / lam
    for j in range(d):
        full_u[j] /= lam
        length = math.sqrt(column_squares[j] + LOST_SQUARE * n)
        full_error[j] = (2.0 + n + MULTIPLE + weight_error) * EPS * length * size
    share, ballast, gap, dual = 1.0, -1, 0.0, 0.0
    for trial in range(_SHRINKS):
        for i in range(n):
            a[i] = share * full_a[i]
        for j in range(d):
            u[j], error[j] = share * full_u[j], full_error[j]
        longest = 1.0
        if is_free:
            ballast, gap, dual = _balance_exactly(loss, X, y, c, lam, weight_error, w, a, u, error)
            if not gap < np.inf:
                longest = 1.0 - _SHRINK_FOR_BALANCE
        if longest == 1.0 and is_bounded:
            longest = feasible_length(u, error, low, high)
        if longest == 1.0:
            break
        share *= max(1.0 - (1.0 - longest) * 4.0**trial, 0.0)
    else:
        return -1.0, 0.0, -1, 0.0, 0.0
    if_exact = feasible_length(full_u, error[:0], low, high) if is_bounded else 1.0
    return share, if_exact, ballast, gap, dual


@ordered_inner
def _sum_and_square(values: Any) -> tuple[float, float]:
    """Σ v and Σ v²; four sums at a time, of which none waits for another."""
    s0, s1, s2, s3, t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    even = len(values) - len(values) % 4
    for i in range(0, even, 4):
        v0, v1, v2, v3 = values[i], values[i + 1], values[i + 2], values[i + 3]
        s0, s1, s2, s3 = s0 + v0, s1 + v1, s2 + v2, s3 + v3
        t0, t1, t2, t3 = t0 + v0 * v0, t1 + v1 * v1, t2 + v2 * v2, t3 + v3 * v3
    for i in range(even, len(values)):
        s0, t0 = s0 + values[i], t0 + values[i] * values[i]
    return (s0 + s1) + (s2 + s3), (t0 + t1) + (t2 + t3)


@ordered_inner
def _balance(loss: Any, y: Any, c: Any, a: Any) -> bool:
    """Change ``a`` until Σ c a = 0 up to rounding: each entry by a share of the room that it has.
    Returns whether that share is small, so that this costs little."""
    weighted = np.empty(len(y))
    enough = max(2.0, _USELESS * len(y) ** 1.5)
    for _ in range(_CORRECTIONS):
        room = 0.0
        for i in range(len(y)):
            weighted[i] = c[i] * a[i]
        missing, square = _sum_and_square(weighted)
        if abs(missing) <= enough * EPS * math.sqrt(square):
            break
        for i in range(len(y)):
            room += c[i] * room_of(loss, a[i], y[i])
        share = missing / room if room > 0.0 else np.inf
        if not abs(share) <= _LARGEST_SHARE:
            return False
        for i in range(len(y)):
            a[i] = project(loss, a[i] - share * room_of(loss, a[i], y[i]), y[i])
    return True


@ordered_inner
def _balance_exactly(
    loss: Any,
    X: Any,
    y: Any,
    c: Any,
    lam: float,
    weight_error: float,
    w: Any,
    a: Any,
    u: Any,
    error: Any,
) -> tuple[int, float, float]:
    """Charge the exact balance to ``error``: the sample that makes it, and what it costs of the gap
    and of D(a); infinite if no sample has room."""
    last, p = len(w) - 1, len(w) - 1
    missing = lam * (abs(u[last]) + error[last]) * ROUNDED_UP
    best, most, room = -1, 0.0, 0.0
    for i in range(len(y)):
        far = room_of(loss, a[i], y[i])
        if c[i] * far > most:
            best, most, room = i, c[i] * far, far
            if missing <= _AMPLE * most:
                break
    u[last] = 0.0
    error[last] = 0.0
    if missing == 0.0:
        return -1, 0.0, 0.0
    used = missing / most * (1.0 + (8.0 + weight_error) * EPS) if most > 0.0 else np.inf
    if not used <= 1.0:
        return -1, np.inf, np.inf
    far = used * room
    share = c[best] * far * (1.0 + (8.0 + weight_error) * EPS)
    size = abs(w[last])
    for j in range(p):
        size += abs(X[best, j]) * abs(w[j])
        error[j] += share * abs(X[best, j]) / lam * (1.0 + COST_ERROR)
    dual = c[best] * growth_of(loss, a[best], y[best], far)
    dual *= 1.0 + COST_ERROR * (1.0 + weight_error)
    return best, dual + share * size * (1.0 + COST_ERROR * (1.0 + len(w))), dual
