"""The objective and the gap, term by term: the sums that problem, certificate and scores share.

By Fenchel and Young each part  c_i(φ(z_i) + φ*(−a_i) + a_i z_i)  of a sample and each part
λ(g_j(w_j) + g_j*(u_j) − w_j u_j)  of a feature is non-negative, and for z = Xw, u = (1/λ)Σ c a x
they add up to P(w) − D(a). The kernels fill in terms and parts, and return a bound on what
rounding can have taken from the sum of the parts.
"""

from __future__ import annotations

from math import inf
from typing import Any

from dualgap._compile import kernel
from dualgap._rules import conj, conj_slope, curvature, domain, project, slope, strength, value

EPS = 2.0**-52
# Operations per term, each with a relative error of at most EPS/2 (exp and log included).
_PER_TERM = 8.0


@kernel
def sample_terms(
    loss: Any, y: Any, c: Any, z: Any, a: Any, z_error: Any, terms: Any, parts: Any
) -> float:
    """Per sample c φ(z) and its part of the gap; ``z_error`` bounds |z − Xw|, or is empty."""
    rounding = 0.0
    for i in range(len(y)):
        loss_value = value(loss, z[i], y[i])
        loss_conj = conj(loss, a[i], y[i])
        terms[i] = c[i] * loss_value if c[i] > 0.0 else 0.0
        part = c[i] * (loss_value + loss_conj + a[i] * z[i]) if c[i] > 0.0 else 0.0
        parts[i] = max(part, 0.0) if part == part else inf
        if len(z_error) and c[i] > 0.0:
            size = abs(loss_value) + abs(loss_conj) + abs(a[i] * z[i])
            tilt = max(
                abs(a[i] + slope(loss, z[i] - z_error[i], y[i])),
                abs(a[i] + slope(loss, z[i] + z_error[i], y[i])),
            )
            rounding += c[i] * (_PER_TERM * EPS * size + tilt * z_error[i])
    return rounding


@kernel
def feature_terms(
    penalty: Any, lam: float, w: Any, u: Any, u_error: Any, terms: Any, parts: Any
) -> float:
    """Per feature λ g(w) and its part of the gap; ``u_error`` bounds that of u, or is empty."""
    rounding = 0.0
    for j in range(len(w)):
        penalty_value = value(penalty, w[j], j)
        penalty_conj = conj(penalty, u[j], j)
        terms[j] = lam * penalty_value
        part = lam * (penalty_value + penalty_conj - w[j] * u[j])
        parts[j] = max(part, 0.0) if part == part else inf
        if len(u_error):
            low, high = domain(penalty, j)
            size = abs(penalty_value) + abs(penalty_conj) + abs(w[j] * u[j])
            tilt = max(
                abs(w[j] - conj_slope(penalty, max(u[j] - u_error[j], low), 0.0, j)),
                abs(w[j] - conj_slope(penalty, min(u[j] + u_error[j], high), 0.0, j)),
            )
            rounding += lam * (_PER_TERM * EPS * size + tilt * u_error[j])
    return rounding


@kernel
def slopes(loss: Any, y: Any, z: Any, out: Any) -> None:
    """out = −φ'(z): for any z a feasible dual point."""
    for i in range(len(y)):
        out[i] = project(loss, -slope(loss, z[i], y[i]), y[i])


@kernel
def curvatures(loss: Any, y: Any, z: Any, out: Any) -> None:
    """out = φ''(z)."""
    for i in range(len(y)):
        out[i] = curvature(loss, z[i], y[i])


@kernel
def projections(loss: Any, y: Any, a: Any, out: Any) -> None:
    """out = the feasible dual point nearest to ``a``."""
    for i in range(len(y)):
        out[i] = project(loss, a[i], y[i])


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
