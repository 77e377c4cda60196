"""What a partition adds to the sums that Newton steps need.

A partition computes decision values from the coefficients each time, so it keeps nothing from one
round to the next but its dual variables: the multipliers that round off kinks (``envelope.py``).
What it has computed for the last coefficients it may keep in ``block.tables`` (``kept``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.messages import CompactVector, PartitionSums, compact
from dualgap.linalg import storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.gram import gram
from dualgap.linalg.validate import Floats
from dualgap.steps.newton.envelope import BlockLosses, Response, SmoothLosses
from dualgap.steps.newton.first_width import TargetMoments, moments
from dualgap.steps.newton.hessian_products import HessianProducts

# Where the numbers of an answer are: Σ c (b − a)², Σ c φ(z), Σ c e'', and from there on slopes of
# Σ c e along the move, at the length in question and at the others.
MOVED, VALUE, CURVATURE, SLOPES = range(4)


class Question(NamedTuple):
    """Coefficients ``base + length·move``.

    ``q``: the width of kinks; ``hessian``: whether it is wanted; ``lengths``: others at which the
    slope along the move is.
    """

    base: CompactVector
    move: CompactVector
    length: float
    q: float
    hessian: bool = False
    lengths: tuple[float, ...] = ()

    @property
    def nbytes(self) -> int:
        return self.base.nbytes + self.move.nbytes


def kept(block: Block, name: str, key: bytes, compute: Callable[[], Any]) -> Any:
    """What ``compute`` returns; not computed again while the key stays the same."""
    found = block.tables.get(name)
    if found is None or found[0] != key:
        found = block.tables[name] = key, compute()
    return found[1]


def _responder(block: Block, a: Floats, question: Question) -> tuple[Any, Any]:
    """The losses of the samples, and a function from a length to their response there."""
    losses = SmoothLosses(block, a, question.q) if block.width == 1 else BlockLosses(block)
    z, along = block.decision(question.base.full()), block.decision(question.move.full())

    def at(length: float) -> Response:
        with np.errstate(over="ignore", invalid="ignore"):
            return losses.respond(z, along, length)

    return losses, at


def sample_sums(
    block: Block, a: Floats, k: int, question: Question
) -> tuple[PartitionSums, Floats]:
    """What the samples of a partition add up to (a task).

    The vectors are u = (1/λ) Σ c b x, and the upper triangle of the Hessian or nothing.
    """
    began = time.perf_counter()
    losses, at = _responder(block, a, question)
    slopes = [at(length).slope for length in question.lengths]
    response = at(question.length)
    matrix = losses.hessian(response) if question.hessian else np.empty((0, 0))
    away = response.b - a
    with np.errstate(over="ignore", invalid="ignore"):
        value = block.loss_value(response.z)
    moved = float(np.sum(block.weighted(away) * away))
    curvature = losses.total_curvature(response) if block.width == 1 else 0.0
    numbers = (moved, value, curvature, response.slope, *slopes)
    u = compact(block.average(response.b))
    return PartitionSums.of_partition(began, numbers, u, triangle(matrix)), a


def triangle(matrix: Floats) -> CompactVector:
    """The upper triangle of a symmetric matrix."""
    own = matrix[np.triu_indices(len(matrix))]
    return CompactVector(len(own), own)


def symmetric(own: CompactVector, size: int) -> Floats:
    """The matrix of an upper triangle."""
    matrix, upper = np.empty((size, size)), np.triu_indices(size)
    matrix[upper] = matrix.T[upper] = own.full()
    return matrix


class ProductQuestion(NamedTuple):
    """``at``: the coefficients whose curvatures count; ``v``: what to multiply with the Hessian,
    or None for the weighted sums and squares of features."""

    at: CompactVector
    v: CompactVector | None


def _curvatures(block: Block, a: Floats, at: CompactVector) -> Floats:
    """c φ'' at these coefficients."""
    w = at.full()

    def compute() -> Floats:
        return SmoothLosses(block, a, 0.0).curvatures(block.decision(w))

    found: Floats = kept(block, "curvatures", w.tobytes(), compute)
    return found


def hessian_product(
    block: Block, a: Floats, k: int, question: ProductQuestion
) -> tuple[PartitionSums, Floats]:
    """The product of the Hessian of a partition, or what its diagonal is made of (a task)."""
    began, products = time.perf_counter(), HessianProducts(block)
    weights = _curvatures(block, a, question.at)
    vectors: Any
    if question.v is None:
        vectors = products.moments(weights)
    else:
        vectors = (products.times(weights, question.v.full())[1],)
    return PartitionSums.of_partition(began, (), *map(compact, vectors)), a


class SetQuestion(NamedTuple):
    """Coefficients, and the features, in ascending order, whose Hessian is wanted there."""

    at: CompactVector
    features: Any


def set_hessian(
    block: Block, a: Floats, k: int, question: SetQuestion
) -> tuple[PartitionSums, Floats]:
    """The upper triangle of the Hessian on some features (a task)."""
    began, features = time.perf_counter(), question.features
    columns = kept(block, "set", features.tobytes(), lambda: _on_features(block, features))
    matrix = gram(columns, _curvatures(block, a, question.at))
    return PartitionSums.of_partition(began, (), triangle(matrix)), a


def _on_features(block: Block, features: Any) -> DesignMatrix:
    """Some columns of a partition, with the constant feature if it is one of them."""
    own = features[features < block.p]
    X = block.X
    X = X.tocsr()[:, own] if storage.is_sparse(X) else np.ascontiguousarray(X[:, own])
    intercept = block.intercept if len(own) < len(features) else False
    return DesignMatrix(X, intercept, block.spec.intercept_scaling, is_whole=False)


def adopt_slopes(
    block: Block, a: Floats, k: int, message: tuple[Question, float]
) -> tuple[PartitionSums, Floats]:
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
