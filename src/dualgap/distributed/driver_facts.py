"""The driver's side of the problem: what is known of all partitions together, and the certificate.

The gap is a sum over samples and over features (``terms.py``). Partitions sum over their samples,
the driver adds these sums up exactly and adds the features' part. u is the sum of what partitions
compute from their data, and its rounding errors are bounded as in ``rounding.py``: sums of at most
so many products in one partition, then of one number from each partition.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dualgap.distributed.block import Block, Model, Raw, Shape
from dualgap.distributed.local import Average, Judgement, Measures
from dualgap.distributed.packed import summed
from dualgap.linalg.validate import LARGEST, Floats
from dualgap.problem.baseline import above_rounding
from dualgap.proof import terms
from dualgap.proof.certificate import Certificate, judged
from dualgap.proof.dual_point import Point
from dualgap.proof.rounding import error_of_sums


def frame_of(model: Model, shape: Shape) -> Block:
    """The problem without its samples: one that is all zeros answers what the penalty is asked."""
    y = np.zeros(1) if shape.labels is None else shape.labels[:1]
    return Block(Raw(sp.csr_matrix((1, shape.p)), y, None), model, shape)


class Whole(NamedTuple):
    """Facts about all samples.

    ``squares``: Σ x² of each feature; ``counts``: the most entries that it has in one partition;
    ``scale``: P(0), counted from the least that losses and penalty can be, which is ``least``, of
    which losses make up ``floor``; ``target``: the largest |y|; ``intercept``: that of the best
    model without features, for each class.
    """

    frame: Block
    squares: Floats
    counts: Floats
    scale: float
    floor: float
    least: float
    entries: float
    digests: tuple[str, ...]
    target: float = 0.0
    intercept: Any = 0.0


def whole_of(frame: Block, measured: list[Measures]) -> Whole:
    """From what the partitions have measured."""
    squares, counts = np.zeros(frame.d), np.zeros(frame.d)
    for each in measured:
        squares += each.squares
        np.maximum(counts, each.counts, out=counts)
    origin = terms.total([each.at_origin for each in measured])
    floor = -origin.conjs
    scale = above_rounding(origin.values + frame.origin_value - floor, floor)
    if not scale < LARGEST:
        raise ValueError("X and y are so large that the objective overflows at the start: rescale")
    entries = math.fsum(each.entries for each in measured)
    digests = tuple(each.digest for each in measured)
    target = max(each.target for each in measured)
    least = floor + frame.origin_value
    return Whole(frame, squares, counts, scale, floor, least, entries, digests, target)


def point_of(whole: Whole, averages: list[Average]) -> Point:
    """u = Σ_k u_k. Adding up K numbers errs by less than K more products would."""
    sizes = np.sqrt(sum(each.sizes**2 for each in averages))
    counts = whole.counts + len(averages)
    error = error_of_sums(counts, whole.squares, sizes, weight_error=whole.frame.weight_error)
    return Point(summed([each.u for each in averages]), error)


def bounds(whole: Whole, w: Floats, u: Floats, judgements: list[Judgement]) -> tuple[float, float]:
    """P(w) and D(a) as a run maintains u: without rounding errors."""
    frame = whole.frame
    samples = terms.total([each.sums for each in judgements])
    parts, none = np.empty(frame.coef_size), np.empty(0)
    features = terms.feature_terms(frame.penalty, frame.lam, w, u, none, parts)
    primal, dual = samples.values + features.values, -(samples.conjs + features.conjs)
    return (
        primal if np.isfinite(primal) else np.inf,
        dual if np.isfinite(dual) else -np.inf,
    )


def certificate(whole: Whole, w: Floats, point: Point, judgements: list[Judgement]) -> Certificate:
    """The proof for w and the dual variables that ``point`` was computed from."""
    samples = terms.total([each.sums for each in judgements])
    parts = np.concatenate([each.parts for each in judgements])
    return judged(whole.frame, samples, parts, w, point, whole.scale)[0]
