"""The sums of ``terms.py`` over features: of the terms λ(g_j(w_j) + g_j*(u_j) − w_j u_j)."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.compile.kernels import ordered_inner, ordered_kernel
from dualgap.compile.rules import (
    conj,
    conj_size,
    conj_slope,
    domain,
    value,
    value_size,
)
from dualgap.compile.scalar import EPS
from dualgap.linalg.exact import added
from dualgap.penalties.structure import is_on_groups
from dualgap.proof.block_terms import BATCH, CHUNK, PER_TERM
from dualgap.proof.group_terms import sums_over_groups
from dualgap.proof.terms import Sums, chunk_sum, of_features


def feature_terms(penalty: Any, lam: float, w: Any, u: Any, u_error: Any, parts: Any) -> Sums:
    """The sums over features; fills in their parts. ``u_error`` bounds that of u, or is empty."""
    action = sums_over_groups if is_on_groups(penalty) else sums_over_features
    sums = action(penalty, lam, w, u, u_error, parts)
    return of_features(sums, lam, w, u, bounded=len(u_error) > 0)


@ordered_kernel
def sums_over_features(penalty: Any, lam: float, w: Any, u: Any, u_error: Any, parts: Any) -> Any:
    """The sums of values, conjugates and parts, and bounds on the errors of each."""
    values, conjs, gap = _feature_terms(penalty, lam, w, u, parts)
    of_values, of_gap, of_conjs = _feature_errors(penalty, lam, w, u, u_error)
    return values, conjs, gap, of_values, of_gap, of_conjs


@ordered_inner
def _feature_terms(penalty: Any, lam: float, w: Any, u: Any, parts: Any) -> Any:
    values, conjs, gap = (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)
    of_value, of_conj, part = np.empty(BATCH), np.empty(BATCH), np.empty(BATCH)
    for first in range(0, len(w), BATCH):
        here = slice(first, first + BATCH)  # as for samples, for vector instructions
        w_now, u_now, parts_now = w[here], u[here], parts[here]
        size = len(w_now)
        for k in range(size):
            j = first + k
            penalty_value = value(penalty, w_now[k], j)
            penalty_conj = conj(penalty, u_now[k], j)
            whole = lam * (penalty_value + penalty_conj - w_now[k] * u_now[k])
            part[k] = max(whole, 0.0) if whole == whole else inf
            of_value[k], of_conj[k] = lam * penalty_value, lam * penalty_conj
        for k in range(size):
            parts_now[k] = part[k]
        for k in range(size, min(size + CHUNK, BATCH)):  # the last chunk may not be full
            of_value[k] = of_conj[k] = part[k] = 0.0
        for k in range(0, size, CHUNK):
            values = added(*values, chunk_sum(of_value, k))
            conjs = added(*conjs, chunk_sum(of_conj, k))
            gap = added(*gap, chunk_sum(part, k))
    return values[0] + values[1], conjs[0] + conjs[1], gap[0] + gap[1]


@ordered_inner
def _feature_errors(penalty: Any, lam: float, w: Any, u: Any, u_error: Any) -> Any:
    """Bounds on the rounding errors of the sums of values, of all parts, and of conjugates."""
    primal_error, gap_error, dual_error = 0.0, 0.0, 0.0
    of_value, of_part, of_conj = np.empty(BATCH), np.empty(BATCH), np.empty(BATCH)
    for first in range(0, len(u_error), BATCH):
        here = slice(first, first + BATCH)
        w_now, u_now, error_now = w[here], u[here], u_error[here]
        size = len(w_now)
        for k in range(size):
            j, w_k, u_k, error = first + k, w_now[k], u_now[k], error_now[k]
            low, high = domain(penalty, j)
            left = conj_slope(penalty, max(u_k - error, low), 0.0, j)
            right = conj_slope(penalty, min(u_k + error, high), 0.0, j)
            own = abs(conj(penalty, u_k, j)) + conj_size(penalty, u_k, j)
            penalty_value = abs(value(penalty, w_k, j)) + value_size(penalty, w_k, j)
            whole = penalty_value + own + abs(w_k * u_k)
            tilt = max(abs(w_k - left), abs(w_k - right))
            reach = max(abs(left), abs(right))
            of_value[k] = lam * PER_TERM * EPS * penalty_value
            of_part[k] = lam * (PER_TERM * EPS * whole + tilt * error)
            of_conj[k] = lam * (PER_TERM * EPS * own + reach * error)
        for k in range(size, min(size + CHUNK, BATCH)):
            of_value[k] = of_part[k] = of_conj[k] = 0.0
        for k in range(0, size, CHUNK):
            primal_error += chunk_sum(of_value, k)
            gap_error += chunk_sum(of_part, k)
            dual_error += chunk_sum(of_conj, k)
    return primal_error, gap_error, dual_error
