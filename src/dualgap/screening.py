"""The gap-safe sphere rule: coefficients that are zero in every optimum.

Where φ is (1/γ)-smooth the dual is strongly concave, so that Σ_i c_i (a_i − a_i*)² ≤ 2 gap/γ and

    |u_j − u_j*| ≤ √(2 gap/γ) · √(Σ_i c_i x_ij²) / λ.

If all of this interval lies inside ∂g_j(0), then w_j* = 0. With an unpenalised intercept
Σ c a = Σ c a* = 0, and the same holds with x_ij less its mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap._scalar import EPS
from dualgap._validate import Floats
from dualgap.certificate import Certificate
from dualgap.linalg import products
from dualgap.penalties.shape import shape_of
from dualgap.problem import Problem

_LOOSE = 1.0 + 1e-9  # covers the rounding errors of the radius itself


def proven_zero(problem: Problem, certificate: Certificate, dual: Any) -> Any:
    """Which coefficients of X are zero in every optimum; ``dual`` is the certificate's own point.

    Shape (p,), for a loss of K classes (p, K). Nothing is proven for a loss with kinks, for
    penalties without an L1 part, and for those of other packages.
    """
    own = problem.p * problem.width
    none = problem.shaped(np.zeros(own, dtype=bool))
    shape = shape_of(problem.penalty, problem.coef_size)
    gamma = float(problem.loss.gamma)
    if shape is None or gamma == 0.0 or not np.isfinite(certificate.gap):
        return none
    high = np.where(shape.high > 0.0, shape.l1, np.inf)[:own]
    low = np.where(shape.low < 0.0, -shape.l1, -np.inf)[:own]
    if not (high > low).any():
        return none
    a = problem.flat(dual, "dual", problem.n)
    u = problem.average(a)[:own]
    squares = _column_squares(problem, problem.c)
    # Of u, and of how nearly Σ c a = 0, both of which err by n·EPS times norms.
    size = np.sqrt(np.sum(problem.weighted(a) * a) * problem.n * problem.c.max())
    rounding = 2.0 * (2.0 + problem.n) * EPS * np.sqrt(squares) * size / problem.lam
    if problem.intercept is True:
        mean = problem.lam * problem.average(np.ones(problem.dual_size))[: own : problem.width]
        # What the difference of two large numbers is worth, added to it.
        squares = np.maximum(squares - mean**2, 0.0) + (4.0 + problem.n) * EPS * squares
    reach = np.sqrt(2.0 * certificate.gap / gamma) * np.sqrt(squares) / problem.lam
    away = np.repeat((reach + rounding) * _LOOSE, problem.width)
    return problem.shaped((u + away < high) & (u - away > low))


def _column_squares(problem: Problem, weights: Floats) -> Floats:
    """Σ_i weights_i x_ij² for each feature of X."""
    out = np.empty(problem.p)
    squares = products.scattered_squares if problem.by_rows else products.weighted_squares
    squares(problem._stored, weights, out)
    return out
