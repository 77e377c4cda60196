"""Gap-safe screening: features that a certificate proves to be zero at the optimum.

If φ is 1/γ-smooth, D is strongly concave, so that  ½γ Σ_i c_i (a_i − a_i*)² ≤ D(a*) − D(a) ≤ gap.
By Cauchy and Schwarz  |u_j − u_j*| ≤ √(2·gap/γ · Σ_i c_i x_ij²)/λ,  and w_j* is a slope of g_j* at
u_j*. Slopes grow, so where those at both ends of the interval are 0, w_j* is 0.
(Fercoq, Gramfort, Salmon 2015, for any smooth loss and separable penalty.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import terms
from dualgap._scalar import EPS
from dualgap._validate import Floats
from dualgap.certificate import Certificate, error_of_u
from dualgap.linalg import products
from dualgap.problem import Problem


def proven_zero(problem: Problem, certificate: Certificate, dual: Any) -> np.ndarray[Any, Any]:
    """For each feature, whether its coefficients are zero at every optimum.

    ``certificate`` and ``dual`` belong together, as those of a Solution do. Nothing can be proven
    for a loss with kinks.
    """
    if problem.loss.gamma == 0.0 or not np.isfinite(certificate.gap):
        return np.zeros(problem.p, dtype=bool)
    a = problem.flat(dual, "dual", problem.n)
    u = problem.average(a)
    # The last factor is for the rounding errors of this very line.
    distance = np.sqrt(2.0 * certificate.gap / problem.loss.gamma * _squares(problem))
    distance *= (1.0 + 8.0 * EPS) / problem.lam
    reach = error_of_u(problem, a) + np.repeat(distance, problem.width) + 2.0 * EPS * np.abs(u)
    lowest, highest = np.empty((2, problem.coef_size))
    terms.conj_slopes(problem.penalty, u - reach, lowest)
    terms.conj_slopes(problem.penalty, u + reach, highest)
    zero = (lowest == 0.0) & (highest == 0.0) & ~problem.features.free
    return np.asarray(zero.reshape(problem.d, -1).all(axis=1)[: problem.p])


def _squares(problem: Problem) -> Floats:
    """Σ_i c_i x_ij² of each feature, with room for its rounding errors."""
    if problem.c.min() == problem.c.max():
        squares = problem.c[0] * problem.column_squares
    else:
        squares = np.empty(problem.d)
        products.weighted_squares(problem.columns, problem.c, squares)
    return np.asarray(squares * (1.0 + (2.0 + problem.n) * EPS))
