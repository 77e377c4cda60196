"""Gap-safe screening: coefficients that a certificate proves to be zero at every optimum.

If φ is 1/γ-smooth, D is strongly concave, so that  ½γ Σ_i c_i (a_i − a_i*)² ≤ D(a*) − D(a) ≤ gap.
By Cauchy and Schwarz  |u_j − u_j*| ≤ √(2·gap/γ · Σ_i c_i x_ij²)/λ,  and w_j* is a slope of g_j* at
u_j*. Slopes grow, so where all slopes at both ends of the interval are 0, w_j* is 0. With an
unpenalised intercept Σ c a = Σ c a* = 0, so that x_ij may be taken less its mean.
(Fercoq, Gramfort, Salmon 2015, for any smooth loss and separable penalty.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import products
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import shape_of
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.ballast import ballast
from dualgap.proof.certificate import Certificate
from dualgap.proof.dual_point import Point, balanced
from dualgap.proof.rounding import error_of_u

_ROOM = 1.0 + 16.0 * EPS  # for the rounding errors of the radius itself


def proven_zero(problem: Problem, certificate: Certificate, dual: Any) -> np.ndarray[Any, Any]:
    """For each feature of X, whether its coefficient is zero at every optimum.

    ``certificate`` and ``dual`` belong together, as those of a Solution do. The shape is (p,), for
    a loss of K classes (p, K). Nothing can be proven for a loss with kinks.
    """
    own = problem.p * problem.width
    if problem.loss.gamma == 0.0 or not np.isfinite(certificate.gap) or not _can_be_zero(problem):
        return problem.shaped(np.zeros(own, dtype=bool))
    a = problem.flat(dual, "dual", problem.n)
    point = balanced(
        problem,
        Point(problem.average(a), error_of_u(problem, a)),
        lambda: ballast(problem, a),
        np.zeros(problem.coef_size),
    )
    if point.cost is None:
        return problem.shaped(np.zeros(own, dtype=bool))
    u, error = point.u, point.error
    squares = _squares(problem)
    if problem.intercept is True:
        mean = problem.lam * problem.average(np.ones(problem.dual_size))[:own][:: problem.width]
        # The square of the mean is known as well as the sum that it is taken from.
        squares = np.maximum(squares - mean**2, 0.0) + (4.0 + problem.n) * EPS * squares
    reach = np.sqrt(2.0 * certificate.gap / problem.loss.gamma * squares) / problem.lam * _ROOM
    error[:own] += np.repeat(reach, problem.width) + 2.0 * EPS * np.abs(u[:own])
    lowest, highest = np.empty((2, problem.coef_size))
    terms.conj_slopes(problem.penalty, u - error, lowest, -np.inf)
    terms.conj_slopes(problem.penalty, u + error, highest, np.inf)
    zero = (lowest == 0.0) & (highest == 0.0) & ~problem.features.free
    return problem.shaped(zero[:own])


def _can_be_zero(problem: Problem) -> bool:
    """Whether the penalty has a kink or a bound at 0; otherwise there is nothing to look for."""
    shape = shape_of(problem.penalty, problem.coef_size)
    return shape is None or bool(
        ((shape.l1 > 0.0) | (shape.low >= 0.0) | (shape.high <= 0.0)).any()
    )


def _squares(problem: Problem) -> Floats:
    """Σ_i c_i x_ij² of each feature of X, with room for its rounding errors."""
    out = np.empty(problem.p)
    squares = products.scattered_squares if problem.by_rows else products.weighted_squares
    squares(problem._stored, problem.c, out)
    return np.asarray(out * (1.0 + (2.0 + problem.n) * EPS))
