"""What a partition adds to the sums that Newton steps need.

A partition computes decision values from the coefficients each time, so it keeps nothing from one
round to the next but its dual variables: the multipliers that round off kinks (``envelope.py``).
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.messages import CompactVector, compact
from dualgap.linalg.validate import Floats
from dualgap.steps.newton.envelope import BlockLosses, Response, SmoothLosses
from dualgap.steps.newton.first_width import TargetMoments, moments
from dualgap.steps.newton.hessian_products import HessianProducts


class Question(NamedTuple):
    """Coefficients ``base + length·move``.

    ``q``: the width of kinks; ``hessian``: whether it is wanted; ``lengths``: others at which the
    slope along the move is.
    """

    base: Floats
    move: Floats
    length: float
    q: float
    hessian: bool = False
    lengths: tuple[float, ...] = ()


class SampleSums(NamedTuple):
    """The answer of a partition, and who gave it after how long.

    ``u``: (1/λ) Σ c b x; ``slopes``: of Σ c e along the move, at the length in question and at the
    others; ``moved``: Σ c (b − a)²; ``value``: Σ c φ(z);
    ``curvature``: Σ c e''; ``hessian``: its upper triangle, or empty.
    """

    u: CompactVector
    slopes: Floats
    moved: float
    value: float
    curvature: float
    hessian: Floats
    seconds: float
    process: tuple[str, int]

    @property
    def nbytes(self) -> int:
        return self.u.nbytes + self.slopes.nbytes + self.hessian.nbytes


def _responder(block: Block, a: Floats, question: Question) -> tuple[Any, Any]:
    """The losses of the samples, and a function from a length to their response there."""
    losses = SmoothLosses(block, a, question.q) if block.width == 1 else BlockLosses(block)
    z, along = block.decision(question.base), block.decision(question.move)

    def at(length: float) -> Response:
        with np.errstate(over="ignore", invalid="ignore"):
            return losses.respond(z, along, length)

    return losses, at


def sample_sums(block: Block, a: Floats, k: int, question: Question) -> tuple[SampleSums, Floats]:
    """What the samples of a partition add up to (a task)."""
    began = time.perf_counter()
    losses, at = _responder(block, a, question)
    slopes = [at(length).slope for length in question.lengths]
    response = at(question.length)
    matrix = losses.hessian(response) if question.hessian else np.empty((0, 0))
    away = response.b - a
    with np.errstate(over="ignore", invalid="ignore"):
        value = block.loss_value(response.z)
    answer = SampleSums(
        compact(block.average(response.b)),
        np.array([response.slope, *slopes]),
        float(np.sum(block.weighted(away) * away)),
        value,
        losses.total_curvature(response) if block.width == 1 else 0.0,
        matrix[np.triu_indices(len(matrix))],
        time.perf_counter() - began,
        (os.uname().nodename, os.getpid()),
    )
    return answer, a


class ProductQuestion(NamedTuple):
    """``at``: the coefficients whose curvatures count; ``v``: what to multiply with the Hessian,
    or None for the weighted sums and squares of features."""

    at: Floats
    v: Floats | None


def hessian_product(
    block: Block, a: Floats, k: int, question: ProductQuestion
) -> tuple[tuple[CompactVector, ...], Floats]:
    """The product of the Hessian of a partition, or what its diagonal is made of (a task)."""
    losses, products = SmoothLosses(block, a, 0.0), HessianProducts(block)
    weights = losses.curvatures(block.decision(question.at))
    if question.v is None:
        return tuple(compact(each) for each in products.moments(weights)), a
    return (compact(products.times(weights, question.v)[1]),), a


def adopt_slopes(
    block: Block, a: Floats, k: int, message: tuple[Question, float]
) -> tuple[SampleSums, Floats]:
    """Make the slopes at these coefficients the dual variables, and sum up what follows from them
    at another width (a task)."""
    question, q = message
    b = _responder(block, a, question)[1](question.length).b
    return sample_sums(block, b, k, question._replace(q=q, lengths=()))[0], b


def target_moments(
    block: Block, a: Floats, k: int, mean: float | None
) -> tuple[TargetMoments, Floats]:
    """TargetMoments of the targets of a partition (a task)."""
    return moments(block, mean), a
