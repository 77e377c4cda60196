"""The sums of ``terms.py`` over features: of the terms λ(g_j(w_j) + g_j*(u_j) − w_j u_j)."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.compile.kernels import ordered_kernel
from dualgap.compile.rules import conj, conj_slope, domain, value
from dualgap.compile.scalar import EPS
from dualgap.linalg.exact import added, plus
from dualgap.penalties.blocks import is_on_groups
from dualgap.proof.block_terms import CHUNK, PER_TERM
from dualgap.proof.group_terms import sums_over_groups
from dualgap.proof.terms import LOST_SQUARE, Sums, total, with_underflow


def feature_terms(penalty: Any, lam: float, w: Any, u: Any, u_error: Any, parts: Any) -> Sums:
    """The sums over features; fills in their parts. ``u_error`` bounds that of u, or is empty."""
    action = sums_over_groups if is_on_groups(penalty) else sums_over_features
    sums = action(penalty, lam, w, u, u_error, parts)
    return of_features(sums, lam, w, u, bounded=len(u_error) > 0)


def of_features(sums: Any, lam: float, w: Any, u: Any, *, bounded: bool) -> Sums:
    """What a kernel has found for features, with what underflow can have taken."""
    found = total([sums])
    if not bounded:
        return found
    # Squares of small numbers underflow, and λ makes them larger again.
    of_w, of_u = (LOST_SQUARE * len(w) * max(lam, 1.0) * bool(np.any(v)) for v in (w, u))
    return with_underflow(found, of_w, of_u)


@ordered_kernel
def sums_over_features(penalty: Any, lam: float, w: Any, u: Any, u_error: Any, parts: Any) -> Any:
    """The sums of values, conjugates and parts, and bounds on the errors of each."""
    values, conjs, gap = _feature_terms(penalty, lam, w, u, parts)
    of_values, of_gap, of_conjs = _feature_errors(penalty, lam, w, u, u_error)
    return values, conjs, gap, of_values, of_gap, of_conjs


@ordered_kernel
def _feature_terms(penalty: Any, lam: float, w: Any, u: Any, parts: Any) -> Any:
    values, conjs, gap = (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)
    for first in range(0, len(w), CHUNK):
        chunk_values, chunk_conjs, chunk_parts = 0.0, 0.0, 0.0
        for j in range(first, min(first + CHUNK, len(w))):
            penalty_value = value(penalty, w[j], j)
            penalty_conj = conj(penalty, u[j], j)
            part = lam * (penalty_value + penalty_conj - w[j] * u[j])
            parts[j] = max(part, 0.0) if part == part else inf
            chunk_values = plus(chunk_values, lam * penalty_value)
            chunk_conjs = plus(chunk_conjs, lam * penalty_conj)
            chunk_parts = plus(chunk_parts, parts[j])
        values, conjs = added(*values, chunk_values), added(*conjs, chunk_conjs)
        gap = added(*gap, chunk_parts)
    return values[0] + values[1], conjs[0] + conjs[1], gap[0] + gap[1]


@ordered_kernel
def _feature_errors(penalty: Any, lam: float, w: Any, u: Any, u_error: Any) -> Any:
    """Bounds on the rounding errors of the sums of values, of all parts, and of conjugates."""
    primal_error, gap_error, dual_error = 0.0, 0.0, 0.0
    for j in range(len(u_error)):
        low, high = domain(penalty, j)
        left = conj_slope(penalty, max(u[j] - u_error[j], low), 0.0, j)
        right = conj_slope(penalty, min(u[j] + u_error[j], high), 0.0, j)
        own, penalty_value = abs(conj(penalty, u[j], j)), abs(value(penalty, w[j], j))
        size = penalty_value + own + abs(w[j] * u[j])
        tilt = max(abs(w[j] - left), abs(w[j] - right))
        reach = max(abs(left), abs(right))
        primal_error += lam * PER_TERM * EPS * penalty_value
        gap_error += lam * (PER_TERM * EPS * size + tilt * u_error[j])
        dual_error += lam * (PER_TERM * EPS * own + reach * u_error[j])
    return primal_error, gap_error, dual_error
