"""A Hessian estimated from a sample, and corrected by how steps change the gradient.

The exact one takes d/2 products for each entry of X, where a step takes two passes. With the
Hessian of m samples a step leaves about the root of d/m of the error (Byrd, Chin, Neveitt, Nocedal
2011), while gradients are exact.
"""

from __future__ import annotations

import numpy as np

from dualgap.linalg import products, storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.newton.tuning import TUNING


def pays(problem: Problem) -> bool:
    """Whether a Hessian costs so much more than a pass that an estimate should be tried."""
    if not problem.loss.differentiable:
        return False
    most = TUNING.estimate_from_quadratic if problem.loss.quadratic else TUNING.estimate_from
    per_entry = 0.5 * problem.entries / problem.n
    if not storage.is_sparse(problem.X):
        per_entry /= TUNING.products_per_read
    return bool(1.0 + per_entry > most)


def has_rare_features(sample: Problem, problem: Problem) -> bool:
    """Whether a feature has much smaller entries in the sample, or none, where it has some."""
    own, _ = products.measure_across(sample.stored_rows)
    expected = problem.column_squares[: problem.p] * (sample.n / problem.n)
    return bool((own < TUNING.least_sampled * expected).any())


def corrected(estimate: Floats, step: Floats, change: Floats) -> Floats | None:
    """The estimate that explains how a step has changed the gradient (Broyden, Fletcher, Goldfarb,
    Shanno 1970); None if it was far off."""
    image = estimate @ step
    along, expected = float(np.sum(change * step)), float(np.sum(image * step))
    if not along > TUNING.least_curvature_share * expected > 0.0:
        return None
    better = estimate + np.outer(change, change) / along - np.outer(image, image) / expected
    return np.asarray(better)
