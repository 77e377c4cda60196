"""Between two strengths of the penalty: where the decision values of every optimum can be.

Let (w₀, a₀) and (w₁, a₁) be pairs at λ₀ and λ₁. At λ = (1 − t)λ₀ + tλ₁ take the pair in between,
with the same t. Along it Σ c φ(Xw) is convex, and so is −D, since λ g*(Σ c a x/λ) is convex in
(a, λ) together. Only λ g(w) ≤ λ((1 − t)g₀ + t g₁) exceeds its chord, by t(1 − t)(λ₀ − λ₁)(g₁ − g₀).
So two certificates bound the gap for every λ between:

    gap ≤ max(gap₀, gap₁) + ¼ max(0, (λ₀ − λ₁)(g₁ − g₀)).

As g is strongly convex, |x·(w − w*)| ≤ √(2 gap/λ)·√(Σ_j x_j²/μ_j) for the optimum w* at λ. An
unpenalised intercept b* minimises Σ c φ(x·w* + b), whose slope in b grows with every x·w*: if the
slope is positive at b for the smallest x·w* that are possible, b* is at most b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof.intercept_reach import SUM_ERROR, slope_in_intercept
from dualgap.proof.prove import prove_pair
from dualgap.proof.radius import radius_of_coefficients, row_squares

_FARTHER = 4.0  # how much longer each stride of the search for an intercept is
_FARTHEST = 1e100
_PRECISE = 0.02  # an end of an interval of intercepts is found up to this share of its distance
_TRIALS = 40


class Point(NamedTuple):
    """A certified pair at one λ.

    ``size``  g(w)
    ``train``, ``test``  decision values without an unpenalised intercept, with bounds on errors
    ``b``     that intercept
    """

    lam: float
    w: Floats
    a: Floats
    gap: float
    size: float
    train: tuple[Floats, Floats]
    test: tuple[Floats, Floats]
    b: float


class Interval(NamedTuple):
    """Lower and upper bounds."""

    low: Floats
    high: Floats


class Validation:
    """A problem, and samples of which one asks what its optima predict."""

    def __init__(self, problem: Problem, X: Any) -> None:
        self.problem, self.X = problem, storage.as_data(X)
        unit = radius_of_coefficients(problem.with_lam(1.0), 0.5)  # of which the root is 1
        self.train_unit = unit.of_features(problem.X)
        self.test_unit = unit._replace(shift=problem.shift).of_features(self.X)
        self.train_norms = np.sqrt(problem.row_squares)
        self.test_norms = np.sqrt(row_squares(self.X, np.ones(self.X.shape[1])))

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.train_unit).all() and np.isfinite(self.test_unit).all())

    def point(self, lam: float, w: Floats, a: Floats) -> Point:
        """The pair at λ with its certificate: a few passes over the data."""
        problem = self.problem.with_lam(lam)
        certificate, a = prove_pair(problem, w, a)
        b = problem.constant * w[-1] if problem.intercept is True else 0.0
        z, size = problem.decision(w), float(np.sqrt(np.sum(w * w)))
        error = (2.0 + problem.longest_row) * EPS * self.train_norms * size
        error += 2.0 * EPS * (np.abs(z) + abs(b))
        size_of_penalty = problem.penalty_value(w) / lam
        return Point(
            lam, w, a, certificate.gap, size_of_penalty, (z - b, error), self._test(w, b), b
        )

    def _test(self, w: Floats, b: float) -> tuple[Floats, Floats]:
        problem = self.problem
        coef, intercept = problem.split(w)
        moved = 0.0
        if problem.shift is not None:
            moved = float(problem.shift.image(coef.reshape(-1, 1))[0])
            intercept = b
        z = np.asarray(safe_sparse_dot(self.X, coef, dense_output=True), dtype=np.float64)
        size = float(np.sqrt(np.sum(coef * coef)))
        error = (4.0 + len(coef)) * EPS * (self.test_norms * size + abs(moved) + abs(intercept))
        return z - moved + (intercept - b), error + 2.0 * EPS * np.abs(z)

    def optima(self, one: Point, other: Point) -> Interval:
        """Bounds on the decision values of the test samples, at every λ between two points."""
        root = np.sqrt(2.0 * self._gap_between(one, other) / min(one.lam, other.lam)) * SUM_ERROR
        train = _hull(one.train, other.train, root * self.train_unit)
        test = _hull(one.test, other.test, root * self.test_unit)
        if self.problem.intercept is not True:
            return test
        low, high = self._intercepts(train, one, other)
        slack = 4.0 * EPS
        return Interval(
            test.low + low - slack * (np.abs(test.low) + abs(low)),
            test.high + high + slack * (np.abs(test.high) + abs(high)),
        )

    def _gap_between(self, one: Point, other: Point) -> float:
        grown, wide = other.size - one.size, one.lam - other.lam
        error = (8.0 + len(one.w)) * EPS * (abs(one.size) + abs(other.size))
        excess = 0.25 * (max(grown * wide, 0.0) + error * abs(wide))
        return (max(one.gap, other.gap) + excess) * SUM_ERROR

    # --- an unpenalised intercept ---------------------------------------------------------------

    def _intercepts(self, train: Interval, one: Point, other: Point) -> tuple[float, float]:
        """Bounds on b*, if x·w* is within ``train``."""
        first = max(float(np.mean(train.high - train.low)), EPS * (1.0 + abs(one.b)))
        low, high = min(one.b, other.b), max(one.b, other.b)
        above = _first_beyond(lambda b: self._slope(train.low, b, -1.0), high, first)
        below = _first_beyond(lambda b: -self._slope(train.high, -b, 1.0), -low, first)
        return -below, above

    def _slope(self, z: Floats, b: float, side: float) -> float:
        """Σ c φ'(z + b), moved towards 0 by a bound on its rounding error.

        Points are moved to that ``side`` by as much as they may be rounded.
        """
        problem = self.problem
        total, size = slope_in_intercept(problem.loss, problem.y, problem.c, z, b, side * 4.0 * EPS)
        error = (64.0 + problem.n) * EPS * size
        return float(np.sign(total) * max(abs(total) - error, 0.0))


def _hull(one: tuple[Floats, Floats], other: tuple[Floats, Floats], room: Floats) -> Interval:
    (z, error), (other_z, other_error) = one, other
    room = (room + np.maximum(error, other_error)) * SUM_ERROR
    return Interval(np.minimum(z, other_z) - room, np.maximum(z, other_z) + room)


def _first_beyond(rise: Callable[[float], float], start: float, stride: float) -> float:
    """A b above ``start`` at which the slope is positive, not much beyond the first one; infinite
    if there is none. The slope grows with b."""
    low, low_slope = start, rise(start)
    if low_slope > 0.0:
        return start
    high = start + stride
    while not (high_slope := rise(high)) > 0.0:
        low, low_slope, stride = high, high_slope, _FARTHER * stride
        high = start + stride
        if stride > _FARTHEST:
            return np.inf
    for _ in range(_TRIALS):
        if high - low <= _PRECISE * (high - start):
            break
        share = low_slope / (low_slope - high_slope)
        middle = low + min(max(1.2 * share, 0.05), 0.95) * (high - low)  # rather above the root
        value = rise(middle)
        if value > 0.0:
            high, high_slope = middle, value
        else:
            low, low_slope = middle, value
    return high


def middle_of(one: Point, other: Point, lam: float) -> tuple[Floats, Floats]:
    """The pair between two points that belongs to λ."""
    t = (one.lam - lam) / (one.lam - other.lam)
    return (1.0 - t) * one.w + t * other.w, (1.0 - t) * one.a + t * other.a


def pair_of(problem: Problem, solution: Any) -> tuple[Floats, Floats]:
    """A solution as coefficients and dual variables, flat."""
    w = joined(problem, solution.coef, solution.intercept)
    return w, problem.flat(solution.dual, "dual", problem.n)
