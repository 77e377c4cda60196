"""The sums of ``feature_terms.py`` for penalties on groups: of λ(g_k(w_k) + g_k*(u_k) − w_k·u_k).

A penalty on groups is least at 0, where it is 0. Each of its terms is strongly convex, so that g_k*
is finite everywhere, or else g_k* is 0 where ``gauge`` is at most 1, and infinite elsewhere. Gauges
are sublinear and do not fall when entries grow in size: gauge(s u + e) ≤ s·gauge(u) + gauge(|e|).
docs/decisions/rounding.md derives the bounds.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.compile.group_rules import conj_slope_into, gauge, prox_into, zeros_into
from dualgap.compile.kernels import kernel, ordered_kernel
from dualgap.compile.rules import conj, strength, value
from dualgap.compile.scalar import EPS, length
from dualgap.linalg.exact import added
from dualgap.linalg.validate import Floats
from dualgap.proof.block_terms import PER_TERM

_PER_ENTRY = 4.0  # more of a term's error, in EPS, for each entry of its block
# The relative error of a gauge, in EPS: so much, and so much more for each entry.
_GAUGE_ERROR, _GAUGE_ENTRY_ERROR = 64.0, 8.0


def sums_over_groups(
    blocks: Any, lam: float, w: Floats, u: Floats, u_error: Floats, parts: Floats
) -> Any:
    """The sums of values, conjugates and parts, and bounds on the errors of each.

    The features of a group have equal shares of its part.
    """
    error = blocks.sorted(u_error) if len(u_error) else u_error
    own = np.empty(len(w))
    found = _sums(blocks, lam, blocks.sorted(w), blocks.sorted(u), error, own)
    parts[:] = blocks.unsorted(own)
    return found


@ordered_kernel
def _sums(blocks: Any, lam: float, w: Any, u: Any, u_error: Any, parts: Any) -> Any:
    values, conjs, gap = (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)
    primal_error, gap_error, dual_error = 0.0, 0.0, 0.0
    slope = np.empty(len(w))
    for k in range(len(blocks.starts) - 1):
        first, last = blocks.starts[k] * blocks.width, blocks.starts[k + 1] * blocks.width
        size = last - first
        if size == 0:
            continue
        w_k, u_k, out = w[first:last], u[first:last], slope[first:last]
        own_value, own_conj = value(blocks, w_k, k), conj(blocks, u_k, k)
        dot, dot_size = 0.0, 0.0
        for i in range(size):
            dot += w_k[i] * u_k[i]
            dot_size += abs(w_k[i] * u_k[i])
        part = lam * (own_value + own_conj - dot)
        part = max(part, 0.0) if part == part else inf
        values, conjs = added(*values, lam * own_value), added(*conjs, lam * own_conj)
        gap = added(*gap, part)
        for i in range(size):
            parts[first + i] = part / size
        if len(u_error):
            unit = (PER_TERM + _PER_ENTRY * size) * EPS
            primal_error += lam * unit * abs(own_value)
            gap_error += lam * unit * (abs(own_value) + abs(own_conj) + dot_size)
            dual_error += lam * unit * abs(own_conj)
            mu = strength(blocks, k)
            if mu > 0.0:
                # g_k* is (1/μ)-smooth. Its own formula subtracts norms, which counts as an error
                # of u as well.
                radius = length(u_error[first:last]) + unit * length(u_k)
                conj_slope_into(blocks, u_k, k, out)
                reach = length(out) + radius / mu
                for i in range(size):
                    out[i] -= w_k[i]
                gap_error += lam * (length(out) + radius / mu) * radius
                dual_error += lam * reach * radius
            else:
                for i in range(size):
                    gap_error += lam * abs(w_k[i]) * u_error[first + i]
    sums = values[0] + values[1], conjs[0] + conjs[1], gap[0] + gap[1]
    return *sums, primal_error, gap_error, dual_error


# --- the domain of g* -----------------------------------------------------------------------------


def feasible_length(blocks: Any, u: Floats, error: Floats) -> float:
    """The largest factor up to 1 that brings u into the domain of g*, for any error of u."""
    error = blocks.sorted(error) if len(error) else error
    return float(_feasible_length(blocks, blocks.sorted(u), error))


@ordered_kernel
def _feasible_length(blocks: Any, u: Any, error: Any) -> float:
    factor = 1.0
    for k in range(blocks.penalised):
        first, last = blocks.starts[k] * blocks.width, blocks.starts[k + 1] * blocks.width
        if first == last or strength(blocks, k) > 0.0:
            continue
        size = gauge(blocks, u[first:last], k)
        lost = gauge(blocks, error[first:last], k) if len(error) else 0.0
        if not size < inf:  # without a penalty: no factor helps
            continue
        slack = (_GAUGE_ERROR + _GAUGE_ENTRY_ERROR * (last - first)) * EPS
        if size + lost > 1.0 - slack:
            room = 1.0 - 2.0 * slack - lost * (1.0 + slack)
            factor = min(factor, max(room, 0.0) / size if size > 0.0 else 0.0)
    return factor


def largest_gauge(blocks: Any, u: Floats) -> float:
    """The least t at which u is a subgradient of t·g at 0, without regard to free groups."""
    return float(_largest_gauge(blocks, blocks.sorted(u)))


@kernel
def _largest_gauge(blocks: Any, u: Any) -> float:
    largest = 0.0
    for k in range(blocks.penalised):
        first, last = blocks.starts[k] * blocks.width, blocks.starts[k + 1] * blocks.width
        if not _is_free(blocks, k):
            largest = max(largest, gauge(blocks, u[first:last], k))
    return largest


# --- facts ----------------------------------------------------------------------------------------


def facts_of_coefficients(blocks: Any) -> Any:
    """The fields of ``FeatureFacts``; only those of free features are bounds of g*."""
    size = len(blocks.order) * blocks.width
    strengths, free = np.zeros(size), np.zeros(size, np.bool_)
    _fill_facts(blocks, strengths, free)
    strengths, free = blocks.unsorted(strengths), blocks.unsorted(free)
    origin, reach = np.zeros(size), np.full(size, inf)
    high = np.where(free, 0.0, inf)
    return origin, reach, strengths, -high, high, np.zeros(size)


@kernel
def _fill_facts(blocks: Any, strengths: Any, free: Any) -> None:
    for k in range(len(blocks.starts) - 1):
        own, is_free = strength(blocks, k), _is_free(blocks, k)
        for i in range(blocks.starts[k] * blocks.width, blocks.starts[k + 1] * blocks.width):
            strengths[i], free[i] = own, is_free


@kernel
def _is_free(blocks: Any, k: int) -> bool:
    """Whether g_k = 0: without strong convexity, 0 is a minimum of g_k(w) − u·w for u = 0 alone."""
    if k >= blocks.penalised:
        return True
    size = (blocks.starts[k + 1] - blocks.starts[k]) * blocks.width
    return bool(strength(blocks, k) == 0.0 and gauge(blocks, np.ones(size), k) == inf)


def proven_zeros(blocks: Any, u: Floats, error: Floats) -> np.ndarray[Any, Any]:
    """Which coefficients every slope of g* sets to 0, at all points within ``error`` of u."""
    out = np.zeros(len(u), np.bool_)
    _proven_zeros(blocks, blocks.sorted(u), blocks.sorted(error), out)
    return np.asarray(blocks.unsorted(out))


@kernel
def _proven_zeros(blocks: Any, u: Any, error: Any, out: Any) -> None:
    for k in range(blocks.penalised):
        one = slice(blocks.starts[k] * blocks.width, blocks.starts[k + 1] * blocks.width)
        zeros_into(blocks, u[one], error[one], k, out[one])


def projected(blocks: Any, w: Floats, out: Floats) -> None:
    """out = the coefficients nearest to ``w`` where the penalty is finite."""
    own = np.empty(len(w))
    _prox(blocks, blocks.sorted(w), 0.0, own)
    out[:] = blocks.unsorted(own)


@kernel
def _prox(blocks: Any, u: Any, t: float, out: Any) -> None:
    for k in range(len(blocks.starts) - 1):
        one = slice(blocks.starts[k] * blocks.width, blocks.starts[k + 1] * blocks.width)
        prox_into(blocks, u[one], t, k, out[one])


def worst_feature(blocks: Any, lam: float, w: Floats, u: Floats) -> tuple[int, float]:
    """A feature of the group with the smallest term, and that term, which should not be < 0."""
    worst, least = 0, inf
    own_w, own_u = blocks.sorted(w), blocks.sorted(u)
    for k in range(blocks.penalised):
        one = slice(blocks.starts[k] * blocks.width, blocks.starts[k + 1] * blocks.width)
        part = value(blocks, own_w[one], k) + conj(blocks, own_u[one], k)
        part = lam * (part - float(np.sum(own_w[one] * own_u[one])))
        if part < least and one.stop > one.start:
            worst, least = int(blocks.order[blocks.starts[k]]) * blocks.width, float(part)
    return worst, least
