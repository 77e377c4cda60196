"""The laws of samplings: coherence, marginals that follow the weights, reproducibility.

Those of sets: the weights are the marginals, and no set has a sample twice.
"""

from __future__ import annotations

import numpy as np

from dualgap.problem import Problem
from dualgap.samplings import Sampling, Scores, SetSampling
from dualgap.samplings.base import checked_draw, checked_weights
from dualgap.testing._common import check_marginals, holds


def check_sampling(sampling: Sampling, seed: int = 0, problem: Problem | None = None) -> None:
    """Raise AssertionError if a sampling breaks a law.

    Sets are drawn from the samples of ``problem``; by default these are 17 without common features.
    """
    if isinstance(sampling, SetSampling):
        _check_sets(sampling, seed, problem or Problem(np.eye(17), np.zeros(17)))
        return
    rng = np.random.default_rng(seed)
    n = 17
    residue = rng.exponential(size=n) * (rng.random(n) < 0.7)
    scores = Scores(
        residue,
        residue**2,
        rng.exponential(size=n) + 0.01,
        np.full(n, 0.1),
        np.full(n, 2.0),
    )
    weights = sampling.weights(scores)
    holds(weights.shape == (n,), "one weight for each coordinate", shape=weights.shape)
    holds(
        np.isfinite(weights).all() and (weights >= 0.0).all(),
        "weights must be >= 0",
        weights=weights,
    )
    holds(
        (weights[residue > 0.0] > 0.0).all(), "coherence: a residue needs a weight", weights=weights
    )
    # The first index of a block follows the weights, whatever a sampling does inside the block.
    draws = 20_000
    first = np.array([sampling.draw(weights, n, rng)[0] for _ in range(draws)])
    check_marginals(first, weights / weights.sum(), draws)
    one = sampling.draw(weights, n, np.random.default_rng(7))
    two = sampling.draw(weights, n, np.random.default_rng(7))
    holds(0 < len(one) <= n and np.array_equal(one, two), "the same seed draws the same", one=one)
    holds(np.min(one) >= 0 and np.max(one) < n, "indices are coordinates", one=one)


def _check_sets(sampling: SetSampling, seed: int, problem: Problem) -> None:
    refusal = sampling.refusal(problem, "dual")
    holds(refusal is None, "the sampling must accept the problem", says=refusal)
    holds(sampling.refusal(problem, "primal"), "sets of features must be refused")
    bound, n = sampling.bind(problem), problem.n
    rng = np.random.default_rng(seed)
    p = checked_weights(bound, Scores(*rng.exponential(size=(5, n))))
    other = checked_weights(bound, Scores(*rng.exponential(size=(5, n))))
    holds(np.array_equal(p, other), "marginals depend on no score", p=p, other=other)
    holds(((p > 0.0) & (p <= 1.0)).all(), "marginals must be > 0 and <= 1", p=p)
    count = int(20_000 * p.sum())
    order, offsets = checked_draw(bound, p, count, rng)
    sets = len(offsets) - 1
    set_of = np.repeat(np.arange(sets), np.diff(offsets))
    holds(len(np.unique(set_of * n + order)) == len(order), "a set has no sample twice")
    check_marginals(order, p, sets)
    holds(0.9 * count <= len(order) <= 1.1 * count, "about as many as asked", drawn=len(order))
    one, two = (checked_draw(bound, p, 1, np.random.default_rng(7)) for _ in range(2))
    holds(
        np.array_equal(one.order, two.order) and np.array_equal(one.offsets, two.offsets),
        "the same seed draws the same",
        one=one,
    )
