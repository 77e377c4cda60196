"""The objective and the gap, term by term: the sums that problem, certificate and scores share.

By Fenchel and Young each part  c_i(φ(z_i) + φ*(−a_i) + a_i z_i)  of a sample and each part
λ(g_j(w_j) + g_j*(u_j) − w_j u_j)  of a feature is non-negative, and for z = Xw, u = (1/λ)Σ c a x
they add up to P(w) − D(a). The kernels fill in parts, sum up, and bound what rounding can do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import kernel, ordered_kernel
from dualgap.compile.rules import (
    conj,
    conj_slope,
    curvature,
    domain,
    project,
    prox,
    slope,
    strength,
    value,
)
from dualgap.compile.scalar import EPS
from dualgap.linalg import parallel
from dualgap.linalg.exact import added, plus
from dualgap.losses.targets import contains_yz, targets_of
from dualgap.proof import block_terms
from dualgap.proof.block_terms import FEW, PER_TERM, ROW

# Samples from which threads share a sum, those whose terms take exponentials or logarithms, and the
# most that a thread takes at a time: sums are added up in such pieces by a single thread, too.
_MANY, _MANY_DEAR, _PIECE = 1 << 16, 1 << 14, 1 << 16
_BOUNDED = 1 << 14  # the most where there are bounds on errors, which are vectors of that length
_SHORT = 1 << 12  # entries of a vector that is short, yet long for NumPy
_SMALLEST = 1e-300  # more than squares are, times weights, that float64 takes for 0
_UNDERFLOW = 1e-150  # more than exponentials are that float64 takes for 0
_COVERED = 1.0 + 1e-6  # bounds on errors are sums of positive terms, with errors of their own


class Sums(NamedTuple):
    """Sums over samples, or over features, and bounds on what rounding has done to them."""

    values: float  # of c φ(z), or λ g(w)
    conjs: float  # of c φ*(−a), or λ g*(u)
    gap: float  # of the parts
    of_primal: float
    of_gap: float
    of_dual: float


def total(parts: Sequence[Any]) -> Sums:
    """Sums over all pieces, or partitions, rounded once; bounds cover their own rounding."""
    found = Sums(*(_exact_sum(column) for column in zip(*parts)))
    return found._replace(
        of_primal=_COVERED * found.of_primal,
        of_gap=_COVERED * found.of_gap,
        of_dual=_COVERED * found.of_dual,
    )


def _exact_sum(numbers: tuple[float, ...]) -> float:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # it overflows, or has infinities of both signs
        return float(sum(numbers))


def no_error(some: slice) -> Any:
    """For sums whose rounding errors nobody asks for."""
    return np.empty(0)


def sample_terms(
    loss: Any,
    y: Any,
    c: Any,
    z: Any,
    a: Any,
    z_error: Callable[[slice], Any],
    parts: Any,
    width: int = 1,
    weight_error: float = 0.0,
) -> Sums:
    """The sums over samples; fills in their parts of the gap, unless ``parts`` is empty.

    ``z_error`` bounds |z − Xw| of some samples, for blocks the norm of that, or returns nothing;
    ``weight_error`` bounds the relative error of c, in units of EPS.
    """
    multiplied = contains_yz(loss)
    action = block_terms.sample_terms if targets_of(loss).block else _sample_terms

    def sums(one: slice, flat: slice) -> Any:
        points = y[one], c[one], z[flat], a[flat]
        return action(loss, multiplied, *points, z_error(one), parts[one], PER_TERM + weight_error)

    found = total(parallel.together(sums, list(pieces(len(y), loss, width, bounded=True))))
    if z_error is no_error or not _has_exponentials(loss):
        return found
    return _with_lost(found, _UNDERFLOW, _SMALLEST * bool(a.any()))


def _has_exponentials(loss: Any) -> bool:
    made_of_pieces = hasattr(loss, "face") or not getattr(loss, "differentiable", True)
    return not (made_of_pieces or getattr(loss, "quadratic", False))


def pieces(
    n: int, loss: Any, width: int = 1, *, bounded: bool = False
) -> Iterator[tuple[slice, slice]]:
    """Samples, and where their entries are in flat vectors: all at once if they are few."""
    size = max(n, 1)
    if n >= (_MANY_DEAR if _has_exponentials(loss) else _MANY):
        most = _BOUNDED if bounded else _PIECE
        size = -(-n // (2 * -(-n // (2 * most))))  # in an even number of parts
    for first in range(0, n, size):
        last = min(first + size, n)
        yield slice(first, last), slice(first * width, last * width)


def few_at_once(n: int) -> Iterator[slice]:
    """Samples, for expressions whose temporary vectors should be short."""
    return (slice(first, min(first + _SHORT, n)) for first in range(0, n, _SHORT))


@ordered_kernel
def _sample_terms(
    loss: Any,
    multiplied: bool,
    y: Any,
    c: Any,
    z: Any,
    a: Any,
    z_error: Any,
    parts: Any,
    per_term: float,
) -> Any:
    values, conjs, gap = (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)
    of_primal, of_gap, of_dual = 0.0, 0.0, 0.0
    some_values, some_conjs, some_parts = np.empty(ROW), np.empty(ROW), np.empty(ROW)
    some_left, some_right = np.empty(ROW), np.empty(ROW)
    for first in range(0, len(y), ROW):
        size = min(ROW, len(y) - first)
        # Weights may lie apart in memory, which would keep loops from vector instructions.
        for k in range(size):
            i = first + k
            loss_value = value(loss, z[i], y[i])
            loss_conj = conj(loss, a[i], y[i])
            some_values[k] = loss_value
            some_conjs[k] = loss_conj
            some_parts[k] = loss_value + loss_conj + a[i] * z[i]
        for k in range(size if len(z_error) else 0):
            i = first + k
            error = z_error[i] + EPS * (abs(y[i]) + abs(z[i]))
            some_left[k] = slope(loss, z[i] - error, y[i])
            some_right[k] = slope(loss, z[i] + error, y[i])
        for start in range(0, size, FEW):
            few_values, few_conjs, few_parts = 0.0, 0.0, 0.0
            few_of_primal, few_of_gap, few_of_dual = 0.0, 0.0, 0.0
            for k in range(start, min(start + FEW, size)):
                i = first + k
                share, part = c[i], 0.0
                if share > 0.0:
                    few_values = plus(few_values, share * some_values[k])
                    few_conjs = plus(few_conjs, share * some_conjs[k])
                    part = share * some_parts[k]
                    part = max(part, 0.0) if part == part else inf
                    few_parts = plus(few_parts, part)
                    if len(z_error):
                        left, right = some_left[k], some_right[k]
                        error = z_error[i] + EPS * (abs(y[i]) + abs(z[i]))
                        # Values can be small differences of large terms: |r| − ε, e^z − yz.
                        steep = max(abs(left), abs(right))
                        of_z = abs(some_values[k]) + steep * (abs(y[i]) + abs(z[i]))
                        of_a = abs(some_conjs[k]) + abs(a[i] * y[i])
                        if multiplied:
                            of_z += abs(y[i] * z[i])
                            of_a += abs(y[i]) + abs(a[i])
                        of_all = of_z + of_a + abs(a[i] * z[i])
                        tilt = max(abs(a[i] + left), abs(a[i] + right))
                        off = share * (per_term * EPS * of_z + steep * error)
                        few_of_primal = plus(few_of_primal, off)
                        off = share * (per_term * EPS * of_all + tilt * error)
                        few_of_gap = plus(few_of_gap, off)
                        few_of_dual = plus(few_of_dual, share * per_term * EPS * of_a)
                if len(parts):
                    parts[i] = part
            values, conjs = added(*values, few_values), added(*conjs, few_conjs)
            gap = added(*gap, few_parts)
            of_primal = plus(of_primal, few_of_primal)
            of_gap, of_dual = plus(of_gap, few_of_gap), plus(of_dual, few_of_dual)
    sums = values[0] + values[1], conjs[0] + conjs[1], gap[0] + gap[1]
    return *sums, of_primal, of_gap, of_dual


def feature_terms(penalty: Any, lam: float, w: Any, u: Any, u_error: Any, parts: Any) -> Sums:
    """The same over features; ``u_error`` bounds the error of u or is empty."""
    sums = _feature_terms(penalty, lam, w, u, parts)
    found = total([(*sums, *_feature_errors(penalty, lam, w, u, u_error))])
    if not len(u_error):
        return found
    # Squares of small numbers underflow, and λ makes them larger again.
    of_w, of_u = (_SMALLEST * len(w) * max(lam, 1.0) * bool(np.any(v)) for v in (w, u))
    return _with_lost(found, of_w, of_u)


def _with_lost(sums: Sums, of_primal: float, of_dual: float) -> Sums:
    """With what underflow can have done to values and to conjugates."""
    return sums._replace(
        of_primal=sums.of_primal + of_primal,
        of_gap=sums.of_gap + of_primal + of_dual,
        of_dual=sums.of_dual + of_dual,
    )


@ordered_kernel
def _feature_terms(penalty: Any, lam: float, w: Any, u: Any, parts: Any) -> Any:
    values, conjs, gap = (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)
    for first in range(0, len(w), FEW):
        few_values, few_conjs, few_parts = 0.0, 0.0, 0.0
        for j in range(first, min(first + FEW, len(w))):
            penalty_value = value(penalty, w[j], j)
            penalty_conj = conj(penalty, u[j], j)
            part = lam * (penalty_value + penalty_conj - w[j] * u[j])
            parts[j] = max(part, 0.0) if part == part else inf
            few_values = plus(few_values, lam * penalty_value)
            few_conjs = plus(few_conjs, lam * penalty_conj)
            few_parts = plus(few_parts, parts[j])
        values, conjs = added(*values, few_values), added(*conjs, few_conjs)
        gap = added(*gap, few_parts)
    return values[0] + values[1], conjs[0] + conjs[1], gap[0] + gap[1]


@ordered_kernel
def _feature_errors(penalty: Any, lam: float, w: Any, u: Any, u_error: Any) -> Any:
    """What rounding can have done to the sums of values, of all parts, and of conjugates."""
    of_primal, of_gap, of_dual = 0.0, 0.0, 0.0
    for j in range(len(u_error)):
        low, high = domain(penalty, j)
        left = conj_slope(penalty, max(u[j] - u_error[j], low), 0.0, j)
        right = conj_slope(penalty, min(u[j] + u_error[j], high), 0.0, j)
        own, penalty_value = abs(conj(penalty, u[j], j)), abs(value(penalty, w[j], j))
        size = penalty_value + own + abs(w[j] * u[j])
        tilt = max(abs(w[j] - left), abs(w[j] - right))
        reach = max(abs(left), abs(right))
        of_primal += lam * PER_TERM * EPS * penalty_value
        of_gap += lam * (PER_TERM * EPS * size + tilt * u_error[j])
        of_dual += lam * (PER_TERM * EPS * own + reach * u_error[j])
    return of_primal, of_gap, of_dual


@kernel
def room(u: Any, error: Any, low: Any, high: Any) -> float:
    """The largest factor up to 1 by which u comes to lie within its bounds, for any such error.

    Features without a penalty, whose bounds are both 0, do not count.
    """
    factor = 1.0
    for j in range(len(u)):
        size = error[j] if len(error) else 0.0
        if u[j] + size > high[j] and (high[j] > 0.0 or low[j] < 0.0):
            factor = min(factor, max(high[j] - size, 0.0) / u[j] if u[j] > 0.0 else 0.0)
        if u[j] - size < low[j] and (high[j] > 0.0 or low[j] < 0.0):
            factor = min(factor, max(-low[j] - size, 0.0) / -u[j] if u[j] < 0.0 else 0.0)
    return factor


@kernel
def _slopes(loss: Any, y: Any, z: Any, out: Any) -> None:
    """out = −φ'(z): for any z a feasible dual point."""
    for i in range(len(y)):
        out[i] = project(loss, -slope(loss, z[i], y[i]), y[i])


@kernel
def _curvatures(loss: Any, y: Any, z: Any, out: Any) -> None:
    """out = φ''(z)."""
    for i in range(len(y)):
        out[i] = curvature(loss, z[i], y[i])


@kernel
def _projections(loss: Any, y: Any, a: Any, out: Any) -> None:
    """out = the feasible dual point nearest to ``a``."""
    for i in range(len(y)):
        out[i] = project(loss, a[i], y[i])


def _either(scalar: Callable[..., Any], block: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel for the kind of loss that it is called with, on targets, points and results."""

    def run(loss: Any, y: Any, at: Any, out: Any) -> None:
        action = block if targets_of(loss).block else scalar
        parts = pieces(len(y), loss, len(at) // len(y))
        calls = [(loss, y[one], at[flat], out[flat]) for one, flat in parts]
        parallel.together(action, calls)

    return run


slopes = _either(_slopes, block_terms.slopes)
projections = _either(_projections, block_terms.projections)
curvatures = _either(_curvatures, _curvatures)


@kernel
def feature_facts(
    penalty: Any, origin: Any, reach: Any, strengths: Any, low: Any, high: Any
) -> None:
    """What the penalty says of each feature, for ``problem.FeatureFacts``."""
    for j in range(len(origin)):
        origin[j] = conj_slope(penalty, 0.0, 0.0, j)
        reach[j] = max(conj_slope(penalty, inf, 0.0, j), -conj_slope(penalty, -inf, 0.0, j))
        strengths[j] = strength(penalty, j)
        low[j], high[j] = domain(penalty, j)


@kernel
def conj_slopes(penalty: Any, u: Any, out: Any, near: float = 0.0) -> None:
    """out = ∇g*(u), where there are several slopes the one nearest to ``near``."""
    for j in range(len(u)):
        out[j] = conj_slope(penalty, u[j], near, j)


@kernel
def projected(penalty: Any, w: Any, out: Any) -> None:
    """out = the coefficients nearest to ``w`` that the penalty allows."""
    for j in range(len(w)):
        out[j] = prox(penalty, w[j], 0.0, j)
