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

from dualgap import terms
from dualgap._validate import LARGEST, Floats
from dualgap.certificate import Certificate
from dualgap.distributed.block import Block, Model, Raw, Shape
from dualgap.distributed.local import Average, Judgement, Measures
from dualgap.distributed.packed import summed
from dualgap.dual_point import SHRINKS
from dualgap.rounding import error_of_sums


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
    origin = total([each.at_origin for each in measured])
    floor = -origin.conjs
    scale = origin.values + frame.origin_value - floor
    if not scale < LARGEST:
        raise ValueError("X and y are so large that the objective overflows at the start: rescale")
    entries = math.fsum(each.entries for each in measured)
    digests = tuple(each.digest for each in measured)
    target = max(each.target for each in measured)
    least = floor + frame.origin_value
    return Whole(frame, squares, counts, scale, floor, least, entries, digests, target)


def total(parts: list[terms.Sums]) -> terms.Sums:
    """Sums over all partitions, rounded once."""
    return terms.Sums(*(_exact_sum(column) for column in zip(*parts)))


def _exact_sum(numbers: tuple[float, ...]) -> float:
    return math.fsum(numbers) if np.isfinite(numbers).all() else float(sum(numbers))


class Point(NamedTuple):
    """u from the data, with a bound on its errors."""

    u: Floats
    error: Floats


def point_of(whole: Whole, averages: list[Average]) -> Point:
    """u = Σ_k u_k. Adding up K numbers errs by less than K more products would."""
    sizes = np.sqrt(sum(each.sizes**2 for each in averages))
    counts = whole.counts + len(averages)
    return Point(summed([each.u for each in averages]), error_of_sums(counts, whole.squares, sizes))


def shortened(frame: Block, point: Point) -> tuple[Point, float]:
    """The point made shorter until g* is finite for u up to its error, and by which factor; as
    ``dual_point.py`` has it."""
    if not frame.has_bounded_conj:
        return point, 1.0
    (u, error), length = point, 1.0
    for trial in range(SHRINKS):
        room = terms.room(u, error, frame.features.low, frame.features.high)
        if room == 1.0:
            return Point(u, error), length
        length *= max(1.0 - (1.0 - room) * 4.0**trial, 0.0)
        u = point.u * length
    return Point(0.0 * u, 0.0 * error), 0.0  # a = 0 is always feasible


def bounds(whole: Whole, w: Floats, u: Floats, judgements: list[Judgement]) -> tuple[float, float]:
    """P(w) and D(a) as a run maintains u: without rounding errors."""
    frame = whole.frame
    samples = total([each.sums for each in judgements])
    parts, none = np.empty(frame.coef_size), np.empty(0)
    features = terms.feature_terms(frame.penalty, frame.lam, w, u, none, parts)
    primal, dual = samples.values + features.values, -(samples.conjs + features.conjs)
    return (
        primal if np.isfinite(primal) else np.inf,
        dual if np.isfinite(dual) else -np.inf,
    )


def certificate(whole: Whole, w: Floats, point: Point, judgements: list[Judgement]) -> Certificate:
    """The proof for w and the dual variables that ``point`` was computed from."""
    frame = whole.frame
    point, slack = _balanced(whole, w, point)
    samples = total([each.sums for each in judgements])
    parts = np.empty(frame.coef_size)
    with np.errstate(over="ignore", invalid="ignore"):
        features = terms.feature_terms(frame.penalty, frame.lam, w, point.u, point.error, parts)
        primal = samples.values + features.values
        gap = samples.gap + features.gap + samples.of_gap + features.of_gap + slack
        dual = -(samples.conjs + features.conjs + samples.of_dual + features.of_dual + slack)
    gap = np.inf if np.isnan(gap) or not np.isfinite(primal) else gap
    return Certificate(
        primal=np.inf if np.isnan(primal) else primal,
        dual=-np.inf if np.isnan(dual) else dual,
        gap=gap,
        scale=whole.scale,
        radius=_radius(gap, frame.lam * frame.least_strength),
        sample_parts=np.concatenate([each.parts for each in judgements]),
        feature_parts=parts.reshape(frame.d, -1).sum(axis=1),
        constant=frame.constant,
    )


def _balanced(whole: Whole, w: Floats, point: Point) -> tuple[Point, float]:
    """With the constraint Σ c a = 0 of unpenalised intercepts met, and what that may cost.

    It is met to rounding only. As in ``dual_point.py``, that is charged by twice the size that an
    intercept may have at the optimum, of which its size here and that of targets tell.
    """
    free = whole.frame.free_places
    if not len(free):
        return point, 0.0
    if (np.abs(point.u[free]) > point.error[free]).any():
        return point, np.inf  # it is not met
    reach = np.abs(w[free]) + 1.0 + whole.target
    missing = np.abs(point.u[free]) + point.error[free]
    u = point.u.copy()
    u[free] = 0.0
    return point._replace(u=u), float(2.0 * whole.frame.lam * np.sum(missing * reach))


def _radius(gap: float, strength: float) -> Any:
    if strength == 0.0:
        return None
    return float(np.sqrt(2.0 * gap / strength)) if gap < np.inf else np.inf
