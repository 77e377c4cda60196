"""Coordinate descent by gap and residue: what a step gains, and 1/t rates (Perekrestenko et al.
2017).

``scores`` are those of a run: κ_i ``residue``, G_i ``gap``, ‖a_i‖²/β ``curvature``, μ_i
``strength``, in either view of a problem; ``coordinate_scores`` computes them.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from dualgap.linalg.validate import finite_vector, number, positive, whole
from dualgap.problem import Problem
from dualgap.samplings.scores import Scores


def coordinate_scores(problem: Problem, point: Any, view: str = "auto") -> Scores:
    """The scores at a point: coefficients in the primal view, dual variables in the dual view."""
    from dualgap.proof.certificate import evaluate  # late: steps import samplings
    from dualgap.steps.base import Start
    from dualgap.steps.coordinate.coordinate import Coordinate

    step = Coordinate(view)  # type: ignore[arg-type]
    primal = step.view_of(problem) == "primal"
    point = finite_vector(point, "point", problem.d if primal else problem.n)
    run = step.start(problem, Start(point, None) if primal else Start(None, point))
    pair = run.pair()
    return Scores(*(np.asarray(getattr(run.scores(pair, evaluate(problem, pair)), name))
                    for name in Scores._fields))  # fmt: skip


def expected_decrease(scores: Scores, p: Any, s: Any) -> float:
    """Lemma 3.1: by how much a step is expected to lower the objective, at least.

    ``s``: a number in [0, 1] for each coordinate; the lemma holds for all of them.
    """
    n = len(scores.gap)
    p, s = finite_vector(p, "p", n), np.broadcast_to(np.asarray(s, float), n)
    if not ((s >= 0.0) & (s <= 1.0)).all():
        raise ValueError("s must hold numbers from 0 to 1")
    curved = 0.5 * scores.strength * (s - s**2) - 0.5 * s**2 * scores.curvature
    return float(np.sum(s * p * scores.gap) + np.sum(p * curved * scores.residue**2))


def spread(scores: Scores, p: Any) -> float:
    """F of (8), for terms that are not strongly convex: (1/n²) Σ κ_i²‖a_i‖²/(β p_i)."""
    used = scores.residue > 0.0
    p = finite_vector(p, "p", len(used))
    if not (p[used] > 0.0).all():
        raise ValueError("p must be positive where the residue is not 0")
    size = scores.residue[used] ** 2 * scores.curvature[used] / p[used]
    return float(np.sum(size)) / len(used) ** 2


def gapwise_spread(scores: Scores) -> float:
    """F_g of (13), for p_i ∝ G_i."""
    size = scores.residue**2 * scores.curvature
    if not size.any():
        return 0.0
    uneven = nonuniformity(size) / nonuniformity(scores.gap) ** 3
    return float(uneven * np.sum(size)) / len(size)


def nonuniformity(x: Any) -> float:
    """χ(x) = √(1 + n² Var[x/‖x‖₁]), from 1 (all equal) to √n (a single one) (Definition 3.5)."""
    x = np.abs(np.asarray(x, float))
    return float(sqrt(len(x)) * np.linalg.norm(x) / np.sum(x))


def suboptimality(t: int, n: int, spread: float, distance: float, least: float) -> float:
    """The bound of E[O(α_t) − O(α*)] after t iterations (9); with the F_g of ``gapwise_spread``
    and ``least`` = 1/n it is (12), Theorem 3.7.

    ``spread`` bounds F of all iterations, ``distance`` is that of the start from the optimum,
    ``least`` the smallest probability of a coordinate whose residue is not 0.
    """
    least = positive(least, "least")
    whole(t, "t", 0)
    return (2.0 * spread * n**2 + 2.0 * distance / least) / (2.0 / least + t)


def gap_iterations(n: int, target: float, spread: float, distance: float, least: float) -> float:
    """T of (10): after so many iterations the mean of the iterates since T₀ has a gap of at most
    ``target``; see ``suboptimality`` for the others."""
    first = _burn_in(n, spread, distance, least)
    return first + 5.0 * spread * n**2 / positive(target, "target") - 1.0 / least


def burn_in(n: int, target: float, spread: float, distance: float, least: float) -> float:
    """T₀ of (11): from then on the expected suboptimality is at most half of ``target``."""
    first = _burn_in(n, spread, distance, least)
    return first + 4.0 * spread * n**2 / positive(target, "target") - 2.0 / least


def _burn_in(n: int, spread: float, distance: float, least: float) -> float:
    ratio = 2.0 * distance / (n**2 * positive(least, "least") * positive(spread, "spread"))
    return max(0.0, log(ratio) / least) if ratio > 0.0 else 0.0


def best_sigma(n: int, spread: float, distance: float, support: int) -> float:
    """σ of ``AdaUniform`` that minimises the bound (19).

    ``spread``: F of ``Adaptive`` sampling; ``support``: m, the largest number of coordinates whose
    residue is not 0.
    """
    adaptive = sqrt(number(spread, "spread", 0.0)) * n
    uniform = sqrt(number(distance, "distance", 0.0) * whole(support, "support", 1))
    return uniform / (adaptive + uniform) if adaptive + uniform > 0.0 else 0.5


def mixed_iterations(
    n: int, target: float, spread: float, distance: float, support: int, sigma: float
) -> float:
    """T of (19), for ``AdaUniform(sigma)``."""
    sigma = number(sigma, "sigma", 0.0, 1.0)
    with np.errstate(divide="ignore"):
        parts = np.divide([spread * n**2, distance * support], [1.0 - sigma, sigma])
    return float(5.0 * parts.sum() / positive(target, "target"))
