"""The objective and the gap, term by term: the sums that problem, certificate and scores share.

By Fenchel and Young each term  c_i(φ(z_i) + φ*(−a_i) + a_i z_i)  of a sample and each term
λ(g_j(w_j) + g_j*(u_j) − w_j u_j)  of a feature is non-negative. For z = Xw and u = (1/λ)Σ c a x
they add up to P(w) − D(a). The kernels compute these terms (``parts`` of the gap) and their sums,
and bound the rounding errors of these sums. docs/decisions/rounding.md derives every constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import careful, kernel, ordered_kernel
from dualgap.compile.rules import (
    conj,
    conj_size,
    conj_slope,
    curvature,
    project,
    prox,
    slope,
    target_size,
    value,
    value_size,
)
from dualgap.compile.scalar import EPS
from dualgap.linalg import parallel
from dualgap.linalg.exact import added, plus
from dualgap.losses.targets import contains_yz, targets_of
from dualgap.penalties.structure import is_on_groups
from dualgap.proof import block_terms, group_terms
from dualgap.proof.block_terms import BATCH, CHUNK, PER_TERM
from dualgap.proof.tuning import TUNING

_THREADED_SAMPLES = TUNING.threaded_samples
_THREADED_COSTLY_SAMPLES = TUNING.threaded_costly_samples
_PIECE, _BOUNDED_PIECE = TUNING.piece, TUNING.bounded_piece
_SHORT_VECTOR = TUNING.short_vector
LOST_SQUARE = 1e-300  # exceeds every weighted square that underflows to 0
_LOST_EXPONENTIAL = 1e-150  # exceeds every exponential that underflows to 0
_COVERED = 1.0 + 1e-6  # covers the rounding errors of the bounds, which are sums of positive terms


class Sums(NamedTuple):
    """Sums over samples or over features, and bounds on their rounding errors."""

    values: float  # Σ c φ(z) or Σ λ g(w)
    conjs: float  # Σ c φ*(−a) or Σ λ g*(u)
    gap: float  # the sum of the parts
    primal_error: float
    gap_error: float
    dual_error: float


def total(parts: Sequence[Any]) -> Sums:
    """Add up the sums of pieces or partitions. Each sum is rounded once."""
    alone = len(parts) == 1
    values, conjs, gap, primal, whole, dual = (
        parts[0] if alone else (_exact_sum(column) for column in zip(*parts))
    )
    return Sums(values, conjs, gap, _COVERED * primal, _COVERED * whole, _COVERED * dual)


def _exact_sum(numbers: tuple[float, ...]) -> float:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # it overflows, or has infinities of both signs
        return float(sum(numbers))


def no_error(samples: slice) -> Any:
    """The ``z_error`` of sums that need no bounds on their rounding errors."""
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
    """The sums over samples. Fills in their parts of the gap, unless ``parts`` is empty.

    ``z_error(samples)`` bounds |z − Xw|, for blocks their Euclidean norms; it is empty where no
    bounds are needed. ``weight_error`` bounds the relative error of c, in units of EPS.
    """
    multiplied = contains_yz(loss)
    action = block_terms.sample_terms if targets_of(loss).block else sums_over_samples

    def sums(samples: slice, flat: slice) -> Any:
        points = y[samples], c[samples], z[flat], a[flat]
        bounds = z_error(samples), parts[samples], PER_TERM + weight_error
        return action(loss, multiplied, *points, *bounds)

    cut = list(pieces(len(y), loss, width, bounded=True))
    found = [sums(*cut[0])] if len(cut) == 1 else parallel.together(sums, cut)
    return of_samples(found, loss, a, bounded=z_error is not no_error)


def of_samples(found: Sequence[Any], loss: Any, a: Any, *, bounded: bool) -> Sums:
    """Add up what a kernel has found for each piece of the samples."""
    if not bounded or not _has_exponentials(loss):
        return total(found)
    return with_underflow(total(found), _LOST_EXPONENTIAL, LOST_SQUARE * bool(a.any()))


def of_features(sums: Any, lam: float, w: Any, u: Any, *, bounded: bool) -> Sums:
    """The same of what a kernel has found for features."""
    found = total([sums])
    if not bounded:
        return found
    # Squares of small numbers underflow, and λ makes them larger again.
    lost = LOST_SQUARE * len(w) * max(lam, 1.0)
    return with_underflow(found, lost * bool(w.any()), lost * bool(u.any()))


def _has_exponentials(loss: Any) -> bool:
    made_of_pieces = hasattr(loss, "face") or not getattr(loss, "differentiable", True)
    return not (made_of_pieces or getattr(loss, "quadratic", False))


def pieces(
    n: int, loss: Any, width: int = 1, *, bounded: bool = False
) -> Iterator[tuple[slice, slice]]:
    """Slices of samples and of their entries in flat vectors; a single one if n is small."""
    size = max(n, 1)
    if n >= (_THREADED_COSTLY_SAMPLES if _has_exponentials(loss) else _THREADED_SAMPLES):
        most = _BOUNDED_PIECE if bounded else _PIECE
        size = -(-n // (2 * -(-n // (2 * most))))  # an even number of pieces
    for first in range(0, n, size):
        last = min(first + size, n)
        yield slice(first, last), slice(first * width, last * width)


def few_at_once(n: int) -> Iterator[slice]:
    """Slices of samples, for expressions whose temporary vectors should be short."""
    return (slice(first, min(first + _SHORT_VECTOR, n)) for first in range(0, n, _SHORT_VECTOR))


@ordered_kernel
def sums_over_samples(
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
    primal_error, gap_error, dual_error = 0.0, 0.0, 0.0
    share, of_value, of_conj = np.empty(BATCH), np.empty(BATCH), np.empty(BATCH)
    part, off_primal, off_gap = np.empty(BATCH), np.empty(BATCH), np.empty(BATCH)
    off_dual, size_of_value, size_of_conj = np.empty(BATCH), np.empty(BATCH), np.empty(BATCH)
    bounded = len(z_error) > 0
    for first in range(0, len(y), BATCH):
        # Slices, whose indices need not be asked whether they count from the end, and a copy of the
        # shares, which may have strides of 0: else these loops have no vector instructions.
        here = slice(first, first + BATCH)
        y_now, c_now, z_now, a_now = y[here], c[here], z[here], a[here]
        size = len(y_now)
        for k in range(size):
            share[k] = c_now[k]
        for k in range(size):
            own = share[k]
            loss_value, loss_conj = value(loss, z_now[k], y_now[k]), conj(loss, a_now[k], y_now[k])
            whole = own * (loss_value + loss_conj + a_now[k] * z_now[k])
            whole = max(whole, 0.0) if whole == whole else inf
            size_of_value[k], size_of_conj[k] = abs(loss_value), abs(loss_conj)
            of_value[k] = own * loss_value if own > 0.0 else 0.0
            of_conj[k] = own * loss_conj if own > 0.0 else 0.0
            part[k] = whole if own > 0.0 else 0.0
        if bounded:
            error_now = z_error[here]
            for k in range(size):
                z_k, a_k, y_k = z_now[k], a_now[k], y_now[k]
                # A loss with an offset evaluates φ(z + o) and φ*(−a) + a·o: y has o as its
                # imaginary part, which is 0 for others.
                target, offset = target_size(loss, y_k), 2.0 * abs(y_k.imag)
                error = error_now[k] + EPS * (target + abs(z_k) + offset)
                left, right = slope(loss, z_k - error, y_k), slope(loss, z_k + error, y_k)
                # Values can be small differences of large terms: |r| − ε, e^z − yz.
                steep = max(abs(left), abs(right))
                z_size = size_of_value[k] + steep * (target + abs(z_k) + offset)
                z_size += value_size(loss, z_k, y_k)
                a_size = size_of_conj[k] + abs(a_k) * target + abs(a_k) * offset
                a_size += conj_size(loss, a_k, y_k)
                if multiplied:
                    z_size += target * abs(z_k) + target * offset
                    a_size += target + abs(a_k)
                all_size = z_size + a_size + abs(a_k * z_k)
                tilt = max(abs(a_k + left), abs(a_k + right))
                own = share[k]
                off_primal[k] = (
                    own * (per_term * EPS * z_size + steep * error) if own > 0.0 else 0.0
                )
                off_gap[k] = own * (per_term * EPS * all_size + tilt * error) if own > 0.0 else 0.0
                off_dual[k] = own * per_term * EPS * a_size if own > 0.0 else 0.0
        parts_now = parts[here]
        for k in range(len(parts_now)):
            parts_now[k] = part[k]
        for k in range(size, min(size + CHUNK, BATCH)):  # the last chunk may not be full
            of_value[k] = of_conj[k] = part[k] = 0.0
            off_primal[k] = off_gap[k] = off_dual[k] = 0.0
        for k in range(0, size, CHUNK):
            values = added(*values, chunk_sum(of_value, k))
            conjs = added(*conjs, chunk_sum(of_conj, k))
            gap = added(*gap, chunk_sum(part, k))
        for k in range(0, size if bounded else 0, CHUNK):
            primal_error = plus(primal_error, chunk_sum(off_primal, k))
            gap_error = plus(gap_error, chunk_sum(off_gap, k))
            dual_error = plus(dual_error, chunk_sum(off_dual, k))
    sums = values[0] + values[1], conjs[0] + conjs[1], gap[0] + gap[1]
    return *sums, primal_error, gap_error, dual_error


@careful
def chunk_sum(x: Any, k: int) -> float:
    """The sum of the CHUNK numbers from place k on."""
    four = ((x[k] + x[k + 1]) + x[k + 2]) + x[k + 3]
    eight: float = (((four + x[k + 4]) + x[k + 5]) + x[k + 6]) + x[k + 7]
    return eight


def with_underflow(sums: Sums, of_values: float, of_conjs: float) -> Sums:
    """The sums with what underflow can have taken from values and from conjugates."""
    return sums._replace(
        primal_error=sums.primal_error + of_values,
        gap_error=sums.gap_error + of_values + of_conjs,
        dual_error=sums.dual_error + of_conjs,
    )


@kernel
def _slopes(loss: Any, y: Any, z: Any, out: Any) -> None:
    """out = −φ'(z), which is a feasible dual point for any z."""
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


def _for_any_loss(scalar: Callable[..., Any], block: Callable[..., Any]) -> Callable[..., Any]:
    """Runs the kernel for scalar or for block losses, on pieces of targets, points and results."""

    def run(loss: Any, y: Any, at: Any, out: Any) -> None:
        action = block if targets_of(loss).block else scalar
        slices = pieces(len(y), loss, len(at) // len(y))
        calls = [(loss, y[samples], at[flat], out[flat]) for samples, flat in slices]
        parallel.together(action, calls)

    return run


slopes = _for_any_loss(_slopes, block_terms.slopes)
projections = _for_any_loss(_projections, block_terms.projections)
curvatures = _for_any_loss(_curvatures, _curvatures)


@kernel
def conj_slopes(penalty: Any, u: Any, out: Any, near: float = 0.0) -> None:
    """out = ∇g*(u); of several slopes, the one nearest to ``near``."""
    for j in range(len(u)):
        out[j] = conj_slope(penalty, u[j], near, j)


def projected(penalty: Any, w: Any, out: Any) -> None:
    """out = the coefficients nearest to ``w`` where the penalty is finite."""
    (group_terms.projected if is_on_groups(penalty) else _projected)(penalty, w, out)


@kernel
def _projected(penalty: Any, w: Any, out: Any) -> None:
    for j in range(len(w)):
        out[j] = prox(penalty, w[j], 0.0, j)
