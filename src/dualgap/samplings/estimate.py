"""v for any sampling of sets, by power iteration on the sets that it draws.

(15) of Qu et al. 2014 holds with v = t·w, w_i = ‖x_i‖² and t the largest eigenvalue of
D^{-1/2}(P ∘ XXᵀ)D^{-1/2}, where D = diag(p∘w) and P_ik is the probability that i and k are drawn
together. P is never formed: a product with it is a mean over sets, linear in their entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg import products
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.samplings.base import Sets, SetSampling, checked_draw, checked_weights, metric_squares
from dualgap.samplings.scores import Scores

_SEED = 0


@dataclass(frozen=True)
class Tuning:
    """What an estimate of v costs, and how safe it is; not measured."""

    # Mean number of draws of the rarest sample; fewer leave its pairs unseen.
    rarest_visits: int = 30
    # The most draws per sample, averaged over all samples: it bounds the work for very unequal p.
    max_visits: int = 300
    max_power_iterations: int = 100
    # Relative growth of the eigenvalue in an iteration that ends the iterations; small beside the
    # margin.
    small_growth: float = 3e-4
    # By which the eigenvalue of the drawn sets is multiplied, for the sets that were not drawn.
    margin: float = 1.1
    # Random h, besides the worst one, with which v is verified on fresh sets.
    verifications: int = 5


TUNING = Tuning()


def estimated(problem: Problem, sampling: SetSampling) -> Floats:
    """v = t·w in the metric of the penalty, from a fixed sequence of random sets.

    Guaranteed: if all sets have one size, t at that size, at which the estimate is capped. By
    Cauchy and Schwarz, ‖Σ_{i∈S} h_i x_i‖² ≤ |S| Σ_{i∈S} h_i² w_i; the cap is the largest set seen.
    Not guaranteed: t below the cap. It is 10 % more than the largest eigenvalue for the sets of
    the sample, an eigenvalue that tends to err upwards (few sets look more alike than many) but
    cannot know of sets that were not drawn. It is then verified on fresh sets, with random h and
    with the h that was the worst for the first ones, and enlarged until it passes.
    """
    rng = np.random.default_rng(_SEED)
    p = marginals_of(sampling, problem.n)
    norms = metric_squares(problem, np.ones(problem.d))
    sets = _sample(sampling, p, rng)
    largest, worst = _largest_eigenvalue(problem, norms, sets, rng)
    t, needed, cap = 0.0, largest, 1.0
    while t < min(needed, cap) or t == 0.0:
        cap = max(cap, float(np.diff(sets.offsets).max()))
        t = min(max(TUNING.margin * needed, 1.0), cap)
        sets = _sample(sampling, p, rng)
        trials = [worst, *rng.standard_normal((TUNING.verifications, problem.n))]
        needed = max(_ratio(problem, norms, h, sets) for h in trials)
    return t * norms


def marginals_of(sampling: SetSampling, n: int) -> Floats:
    """p of a bound sampling; no score can change it."""
    return sampling.marginals(checked_weights(sampling, Scores(*np.ones((5, n)))))


def _sample(sampling: SetSampling, p: Floats, rng: np.random.Generator) -> Sets:
    visits = min(TUNING.rarest_visits * p.sum() / p.min(), TUNING.max_visits * len(p))
    return checked_draw(sampling, p, int(visits), rng)


def _largest_eigenvalue(
    problem: Problem, norms: Floats, sets: Sets, rng: np.random.Generator
) -> tuple[float, Floats]:
    """t for the sets of a sample, each as likely as the next, and its h.

    From a random start, k power iterations fall short by less than log(n)/k, whatever the other
    eigenvalues (Kuczyński and Woźniakowski 1992), on average over starts.
    """
    count = len(sets.offsets) - 1
    seen = np.bincount(sets.order, minlength=problem.n) / count * norms
    root = np.zeros(problem.n)
    np.divide(1.0, np.sqrt(seen), out=root, where=seen > 0.0)
    u = rng.standard_normal(problem.n) * (root > 0.0)
    t = 0.0
    for iteration in range(TUNING.max_power_iterations):
        size = np.sqrt(np.sum(u * u))
        if size == 0.0:  # no sample has a feature
            break
        u /= size
        images, _ = _images(problem, root * u, sets)
        before, t = t, float(np.sum(images * root * u)) / count
        if iteration > 10 and t - before < TUNING.small_growth * t:
            break
        u = images * root
    return t, root * u


def _ratio(problem: Problem, norms: Floats, h: Floats, sets: Sets) -> float:
    """Mean of ‖Σ_{i∈S} h_i x_i‖² over mean of Σ_{i∈S} w_i h_i²: a t that is less would fail."""
    _, squares = _images(problem, h, sets)
    total = float(np.sum((norms * h * h)[sets.order]))
    return float(np.sum(squares)) / total if total > 0.0 else 0.0


def _images(problem: Problem, h: Floats, sets: Sets) -> tuple[Floats, Floats]:
    images, squares = np.zeros(problem.n), np.empty(len(sets.offsets) - 1)
    metric = 1.0 / problem.features.strength
    products.set_images(problem.rows, metric, h, sets.order, sets.offsets, images, squares)
    return images, squares
