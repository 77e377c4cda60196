"""The laws of samplings: coherence, marginals that follow the weights, reproducibility."""

from __future__ import annotations

import numpy as np

from dualgap.samplings import Sampling, Scores
from dualgap.testing._common import holds


def check_sampling(sampling: Sampling, seed: int = 0) -> None:
    """Raise AssertionError if a sampling breaks a law."""
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
    p = weights / weights.sum()
    expected = draws * p
    counts = np.bincount(first, minlength=n)
    holds((counts[p == 0.0] == 0).all(), "a weight of zero is never drawn", counts=counts)
    sigma = np.sqrt(expected * (1.0 - p) + 1e-9)
    holds(
        (np.abs(counts - expected) <= 5.0 * sigma + 1.0).all(),
        "marginals differ from the weights",
        counts=counts,
        expected=expected,
    )
    one = sampling.draw(weights, n, np.random.default_rng(7))
    two = sampling.draw(weights, n, np.random.default_rng(7))
    holds(0 < len(one) <= n and np.array_equal(one, two), "the same seed draws the same", one=one)
    holds(np.min(one) >= 0 and np.max(one) < n, "indices are coordinates", one=one)
