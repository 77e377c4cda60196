"""SPDC: how many iterations it takes (Zhang, Xiao 2015).

In the paper's notation g has the strength λ; here it is λμ, μ = ``problem.features.strength``.
"""

from __future__ import annotations

from math import ceil, inf, log, sqrt
from typing import Any

import numpy as np

from dualgap.linalg.validate import finite_vector, positive, whole
from dualgap.problem import Problem


def spdc_iterations(
    problem: Problem, target: float, coef: Any, dual: Any, m: int = 1, start: Any = None
) -> int:
    """T of Corollary 1: E‖w − w*‖² and E‖a − a*‖² are at most ``target`` after T iterations.

    ``coef`` and ``dual`` are the optimum, ``start`` the point (coef, dual) where a run starts, by
    default the origin; ``m`` the size of mini-batches.
    """
    from dualgap.steps.sets.spdc import batch_step_sizes  # late: steps import samplings

    n, gamma = problem.n, problem.loss.gamma
    mu = problem.lam * float(problem.features.strength.min())
    if gamma == 0.0 or mu == 0.0:
        raise ValueError(
            "Corollary 1 needs a smooth loss and a strongly convex penalty; "
            "for others see perturbed_iterations"
        )
    lengths = np.sqrt(n * problem.c * problem.row_squares)
    tau, sigma, theta = batch_step_sizes(lengths, whole(m, "m", 1), mu, gamma)
    w, a = (np.zeros(problem.d), np.zeros(n)) if start is None else start
    away = float(np.sum((np.asarray(w) - finite_vector(coef, "coef", problem.d)) ** 2))
    apart = float(n * (problem.c @ (np.asarray(a) - finite_vector(dual, "dual", n)) ** 2))
    near, far = 1.0 / (2.0 * tau) + mu, 1.0 / (2.0 * sigma) + gamma
    first = near * away + far * apart / m
    constant = first / min(near, (1.0 / (4.0 * sigma) + gamma) / m)
    return max(0, ceil(log(max(constant / positive(target, "target"), 1.0)) / (1.0 - theta)))


def perturbation_constant(coef: Any, lipschitz: float) -> float:
    """C₁ = ‖w*‖² + G² (Corollary 2): δ = ε/C₁ perturbs by at most ε/2."""
    return float(np.sum(np.square(coef))) + positive(lipschitz, "lipschitz") ** 2


def perturbed_iterations(
    problem: Problem, target: float, coef: Any, distances: tuple[float, float], m: int = 1
) -> int:
    """T of Corollary 2, for a loss with kinks and a penalty that is not strongly convex, both
    Lipschitz: E[P(w) − P(w*)] is at most ``target`` after T iterations with δ = ε/C₁.

    ``distances``: ‖w⁰ − w_δ*‖² and ‖a⁰ − a_δ*‖², to the saddle point of the perturbed problem.
    """
    n, bound = int(problem.n), float(problem.loss.lipschitz)
    if bound == inf:
        raise ValueError(
            f"the slope of the {type(problem.given_loss).__name__} loss has no bound, as "
            "Corollary 2 needs"
        )
    largest = float(np.sqrt(n * problem.c * problem.row_squares).max())
    target, m = positive(target, "target"), whole(m, "m", 1)
    first = perturbation_constant(coef, bound)
    slope = problem.lam * sqrt(problem.d)  # of λ‖w‖₁
    second = (bound * largest + slope) ** 2 * (distances[0] + distances[1] / m)
    pace: float = n / m + first * largest / target * sqrt(n / m)
    return max(0, ceil(pace * log(max(4.0 * second / target**2, 1.0))))


def spdc_passes(
    n: int, target: float, lam: float = 0.0, gamma: float = 0.0, m: int = 1, largest: float = 1.0
) -> float:
    """The batch complexity of table 1 up to a constant: passes over the data to ``target``.

    ``lam`` 0: the penalty is not strongly convex; ``gamma`` 0: the loss is not smooth; each is then
    perturbed by δ of the order of the target. ``largest``: R, the norm of the longest sample.
    """
    target = positive(target, "target")
    easy = (lam or target) * (gamma or target) * whole(n, "n", 1)
    both = lam > 0.0 and gamma > 0.0
    passes = 1.0 + positive(largest, "largest") * sqrt(whole(m, "m", 1) / easy)
    return passes * log(1.0 / target) if both else passes
