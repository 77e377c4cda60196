"""The objective and the gap, term by term: the sums that problem, certificate and scores share.

By Fenchel and Young each part  c_i(φ(z_i) + φ*(−a_i) + a_i z_i)  of a sample and each part
λ(g_j(w_j) + g_j*(u_j) − w_j u_j)  of a feature is non-negative, and for z = Xw, u = (1/λ)Σ c a x
they add up to P(w) − D(a). The kernels fill in terms and parts, and bound what rounding can do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from dualgap import block_terms
from dualgap._compile import kernel
from dualgap._rules import (
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
from dualgap._scalar import EPS
from dualgap.block_terms import PER_TERM


def _scalar_terms(loss: Any, *args: Any) -> tuple[float, float]:
    # Counts are multiplied by z. Labels are signs, and other targets are compared with z.
    return _sample_terms(loss, loss.targets == "count", *args)


@kernel
def _sample_terms(
    loss: Any,
    multiplied: bool,
    y: Any,
    c: Any,
    z: Any,
    a: Any,
    z_error: Any,
    losses: Any,
    conjs: Any,
    parts: Any,
) -> tuple[float, float]:
    """Per sample c φ(z), c φ*(−a) and its part of the gap; ``z_error`` bounds |z − Xw| or is empty.

    Returns what rounding can have done to the sum of the parts, and to that of the conjugates.
    """
    of_gap = 0.0
    of_dual = 0.0
    for i in range(len(y)):
        losses[i] = conjs[i] = parts[i] = 0.0
        if c[i] == 0.0:
            continue
        loss_value = value(loss, z[i], y[i])
        loss_conj = conj(loss, a[i], y[i])
        losses[i] = c[i] * loss_value
        conjs[i] = c[i] * loss_conj
        part = c[i] * (loss_value + loss_conj + a[i] * z[i])
        parts[i] = max(part, 0.0) if part == part else inf
        if len(z_error):
            error = z_error[i] + EPS * (abs(y[i]) + abs(z[i]))
            left = slope(loss, z[i] - error, y[i])
            right = slope(loss, z[i] + error, y[i])
            # Values can be small differences of large terms such as |r| − ε or e^z − yz.
            hidden = max(abs(left), abs(right)) * (abs(y[i]) + abs(z[i]))
            if multiplied:
                hidden += abs(y[i] * z[i])
            dual_size = abs(loss_conj) + abs(a[i] * y[i])
            size = abs(loss_value) + dual_size + abs(a[i] * z[i]) + hidden
            tilt = max(abs(a[i] + left), abs(a[i] + right))
            of_gap += c[i] * (PER_TERM * EPS * size + tilt * error)
            of_dual += c[i] * PER_TERM * EPS * dual_size
    return of_gap, of_dual


@kernel
def feature_terms(
    penalty: Any, lam: float, w: Any, u: Any, u_error: Any, penalties: Any, conjs: Any, parts: Any
) -> tuple[float, float]:
    """Per feature λ g(w), λ g*(u) and its part of the gap; ``u_error`` bounds that of u."""
    of_gap = 0.0
    of_dual = 0.0
    for j in range(len(w)):
        penalty_value = value(penalty, w[j], j)
        penalty_conj = conj(penalty, u[j], j)
        penalties[j] = lam * penalty_value
        conjs[j] = lam * penalty_conj
        part = lam * (penalty_value + penalty_conj - w[j] * u[j])
        parts[j] = max(part, 0.0) if part == part else inf
        if len(u_error):
            low, high = domain(penalty, j)
            left = conj_slope(penalty, max(u[j] - u_error[j], low), 0.0, j)
            right = conj_slope(penalty, min(u[j] + u_error[j], high), 0.0, j)
            size = abs(penalty_value) + abs(penalty_conj) + abs(w[j] * u[j])
            tilt = max(abs(w[j] - left), abs(w[j] - right))
            of_gap += lam * (PER_TERM * EPS * size + tilt * u_error[j])
            reach = max(abs(left), abs(right))
            of_dual += lam * (PER_TERM * EPS * abs(penalty_conj) + reach * u_error[j])
    return of_gap, of_dual


@kernel
def _slopes(loss: Any, y: Any, z: Any, out: Any) -> None:
    """out = −φ'(z): for any z a feasible dual point."""
    for i in range(len(y)):
        out[i] = project(loss, -slope(loss, z[i], y[i]), y[i])


@kernel
def curvatures(loss: Any, y: Any, z: Any, out: Any) -> None:
    """out = φ''(z)."""
    for i in range(len(y)):
        out[i] = curvature(loss, z[i], y[i])


@kernel
def _projections(loss: Any, y: Any, a: Any, out: Any) -> None:
    """out = the feasible dual point nearest to ``a``."""
    for i in range(len(y)):
        out[i] = project(loss, a[i], y[i])


def _either(scalar: Callable[..., Any], block: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel for the kind of loss that it is called with."""

    def run(loss: Any, *args: Any) -> Any:
        return (block if loss.targets == "classes" else scalar)(loss, *args)

    return run


sample_terms = _either(_scalar_terms, block_terms.sample_terms)
slopes = _either(_slopes, block_terms.slopes)
projections = _either(_projections, block_terms.projections)


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
def conj_slopes(penalty: Any, u: Any, out: Any) -> None:
    """out = ∇g*(u)."""
    for j in range(len(u)):
        out[j] = conj_slope(penalty, u[j], 0.0, j)


@kernel
def projected(penalty: Any, w: Any, out: Any) -> None:
    """out = the coefficients nearest to ``w`` that the penalty allows."""
    for j in range(len(w)):
        out[j] = prox(penalty, w[j], 0.0, j)
