"""Gap-safe screening: coefficients that a certificate proves to be zero at every optimum.

If φ is 1/γ-smooth, D is strongly concave, so that  ½γ Σ_i c_i (a_i − a_i*)² ≤ D(a*) − D(a) ≤ gap.
By Cauchy and Schwarz  |u_j − u_j*| ≤ √(2·gap/γ · Σ_i c_i x_ij²)/λ,  and w_j* is a slope of g_j* at
u_j*. Slopes never fall, so if all slopes at both ends of the interval are 0, then w_j* = 0. With an
unpenalised intercept Σ c a = Σ c a* = 0, so the mean of x_ij may be subtracted.
(Fercoq, Gramfort, Salmon 2015, for any smooth loss and separable penalty.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import group_terms, terms
from dualgap.proof.certificate import Certificate
from dualgap.proof.dual_point import DualPoint, balance_exactly
from dualgap.proof.rounding import LOST_SQUARE, error_of_u
from dualgap.proof.several_targets import ballast_of

_RADIUS_ERROR = 1.0 + 16.0 * EPS  # covers the rounding errors of the radius


def proven_zero(problem: Problem, certificate: Certificate, dual: Any) -> np.ndarray[Any, Any]:
    """For each feature of X, whether its coefficient is zero at every optimum.

    ``certificate`` must rest on ``dual``, as in a Solution. The result has shape (p,), or (p, K)
    for a loss of K classes. For a loss with kinks nothing is proven, and all entries are False.
    """
    if not _can_prove(problem, certificate):
        return problem.shaped(np.zeros(problem.p * problem.width, dtype=bool))
    a = problem.flat(dual, "dual", problem.n)
    point = balance_exactly(
        problem,
        DualPoint(problem.average(a), error_of_u(problem, a)),
        lambda: ballast_of(problem, a),
        np.zeros(problem.coef_size),
    )
    return zeros_later(problem, certificate, point)()


def zeros_later(
    problem: Problem, certificate: Certificate, point: DualPoint
) -> Callable[[], np.ndarray[Any, Any]]:
    """A function that computes the same when it is needed, from a balanced dual point. It keeps
    what that takes, and not X."""
    p, d, width = problem.p, problem.d, problem.width
    if not _can_prove(problem, certificate) or point.cost is None:
        return lambda: np.zeros(p if width == 1 else (p, width), dtype=bool)
    squares = _squares(problem)
    if problem.intercept is True:
        mean = problem.lam * problem.average(np.ones(problem.dual_size))[: p * width : width]
        # The square of the mean is known as well as the sum that it is taken from.
        squares = np.maximum(squares - mean**2, 0.0) + (4.0 + problem.n) * EPS * squares
    penalty, lam, gamma = problem.penalty, problem.lam, problem.loss.gamma
    free, own, lost = problem.features.free, p * width, LOST_SQUARE * problem.n

    on_groups = problem.on_groups

    def compute() -> np.ndarray[Any, Any]:
        u, error = point.u, point.error.copy()
        # Roots apart, and with what squares lose that underflow: a reach of 0 would prove zeros.
        reach = np.sqrt(2.0 * certificate.gap / gamma) * np.sqrt(squares + lost) / lam
        reach *= _RADIUS_ERROR
        error[:own] += np.repeat(reach, width) + 2.0 * EPS * np.abs(u[:own])
        if on_groups:
            zero = group_terms.proven_zeros(penalty, u, error)
        else:
            lowest, highest = np.empty((2, d * width))
            terms.conj_slopes(penalty, u - error, lowest, -np.inf)
            terms.conj_slopes(penalty, u + error, highest, np.inf)
            zero = (lowest == 0.0) & (highest == 0.0)
        zero = (zero & ~free)[:own]
        return np.asarray(zero if width == 1 else zero.reshape(p, width))

    return compute


def _can_prove(problem: Problem, certificate: Certificate) -> bool:
    known = problem.loss.gamma > 0.0 and np.isfinite(certificate.gap)
    return bool(known and _can_be_zero(problem))


def _can_be_zero(problem: Problem) -> bool:
    """Whether the penalty has a kink or a bound at 0; otherwise no zero can be proven."""
    shape = problem.penalty_shape
    return shape is None or bool(
        ((shape.l1 > 0.0) | (shape.low >= 0.0) | (shape.high <= 0.0)).any()
    )


def _squares(problem: Problem) -> Floats:
    """An upper bound on Σ_i c_i x_ij² for each feature of X, rounding errors included."""
    out = problem.mean_squares()[: problem.p]
    return np.asarray(out * (1.0 + (2.0 + problem.n) * EPS))
