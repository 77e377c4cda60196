"""What the driver knows about all partitions together, and the certificate that it makes of sums.

The gap is a sum over samples and over features (``proof/terms.py``). Partitions sum over their
samples; the driver adds these sums up exactly, and adds the features. u is the sum of what
partitions compute from their data. Its rounding errors are bounded as in ``proof/rounding.py``, by
those of a sum of products in one partition, then of one number from each partition.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.messages import BlockFacts, Contribution, GapTerms, sum_of
from dualgap.linalg.validate import LARGEST, Floats
from dualgap.problem.baseline import above_rounding
from dualgap.proof import terms
from dualgap.proof.certificate import Certificate, certificate_from_sums
from dualgap.proof.dual_point import DualPoint
from dualgap.proof.feature_terms import feature_terms
from dualgap.proof.rounding import error_of_sums


class DriverFacts(NamedTuple):
    """Facts about all samples; ``skeleton``: the problem without them.

    ``squares``: Σ x² of each feature; ``counts``: the most entries that it has in one partition.
    ``scale``: P(0) above ``least``, the smallest value that losses and penalty can have, of which
    ``floor`` is that of the losses. ``target``: the largest |y|. ``intercept``: that of the best
    model without features, for each class.
    """

    skeleton: Block
    squares: Floats
    counts: Floats
    scale: float
    floor: float
    least: float
    entries: float
    digests: tuple[str, ...]
    target: float = 0.0
    intercept: Any = 0.0


def driver_facts(skeleton: Block, measured: list[BlockFacts]) -> DriverFacts:
    """Add up what the partitions have measured."""
    squares, counts = np.zeros(skeleton.d), np.zeros(skeleton.d)
    for each in measured:
        squares += each.squares
        np.maximum(counts, each.counts, out=counts)
    origin = terms.total([each.at_origin for each in measured])
    floor = -origin.conjs
    scale = above_rounding(origin.values + skeleton.origin_value - floor, floor)
    if not scale < LARGEST:
        raise ValueError("X and y are so large that the objective overflows at the start: rescale")
    entries = math.fsum(each.entries for each in measured)
    digests = tuple(each.digest for each in measured)
    target = max(each.target for each in measured)
    least = floor + skeleton.origin_value
    return DriverFacts(skeleton, squares, counts, scale, floor, least, entries, digests, target)


def dual_point(facts: DriverFacts, contributions: list[Contribution]) -> DualPoint:
    """u = Σ_k u_k, with a bound on its error: adding K numbers errs by less than K products do."""
    sizes = np.sqrt(sum(each.sizes**2 for each in contributions))
    counts = facts.counts + len(contributions)
    error = error_of_sums(counts, facts.squares, sizes, weight_error=facts.skeleton.weight_error)
    return DualPoint(sum_of([each.u for each in contributions]), error)


def objectives(
    facts: DriverFacts, w: Floats, u: Floats, gap_terms: list[GapTerms]
) -> tuple[float, float]:
    """P(w) and D(a) for u as the rounds maintain it, without bounds on rounding errors."""
    skeleton = facts.skeleton
    samples = terms.total([each.sums for each in gap_terms])
    parts, none = np.empty(skeleton.coef_size), np.empty(0)
    features = feature_terms(skeleton.penalty, skeleton.lam, w, u, none, parts)
    primal, dual = samples.values + features.values, -(samples.conjs + features.conjs)
    return (
        primal if np.isfinite(primal) else np.inf,
        dual if np.isfinite(dual) else -np.inf,
    )


def certificate(
    facts: DriverFacts, w: Floats, point: DualPoint, gap_terms: list[GapTerms]
) -> Certificate:
    """The proof for w and the dual variables that ``point`` was computed from."""
    samples = terms.total([each.sums for each in gap_terms])
    parts = np.concatenate([each.parts for each in gap_terms])
    scales = facts.scale, facts.least
    return certificate_from_sums(facts.skeleton, samples, parts, w, point, *scales)[0]
