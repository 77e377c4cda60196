"""What a partition adds to the sums that Newton steps for many classes need."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from dualgap.distributed.data.block import Block
from dualgap.distributed.messages import CompactVector, PartitionSums, compact
from dualgap.distributed.schemes.newton_tasks import kept
from dualgap.linalg.validate import Floats
from dualgap.steps.newton_cg.losses_at import ClassLosses, ClassResponse, Curvature
from dualgap.steps.newton_cg.products import Products


class ClassQuestion(NamedTuple):
    """Coefficients W, and what to multiply with the Hessian there; both flat."""

    at: CompactVector
    v: CompactVector | None = None

    @property
    def nbytes(self) -> int:
        return self.at.nbytes + (0 if self.v is None else self.v.nbytes)


def class_sums(
    block: Block, a: Floats, k: int, question: ClassQuestion
) -> tuple[PartitionSums, Floats]:
    """The losses at W and their gradient (a task)."""
    began = time.perf_counter()
    found = _response(block, question.at)
    gradient = compact(Products(block).summed(found.slopes).ravel())
    return PartitionSums.of_partition(began, (found.value,), gradient), a


def class_product(
    block: Block, a: Floats, k: int, question: ClassQuestion
) -> tuple[PartitionSums, Floats]:
    """The product of the Hessian of a partition (a task)."""
    began, curvature = time.perf_counter(), _curvature(block, question.at)
    assert question.v is not None
    product = Products(block).hessian_times(_matrix(block, question.v), curvature)
    return PartitionSums.of_partition(began, (), compact(product.ravel())), a


def class_squares(
    block: Block, a: Floats, k: int, question: ClassQuestion
) -> tuple[PartitionSums, Floats]:
    """What a partition adds to the diagonals of the Hessian (a task)."""
    began, curvature = time.perf_counter(), _curvature(block, question.at)
    squares = Products(block).squares(curvature.diagonals())
    return PartitionSums.of_partition(began, (), compact(squares.ravel())), a


def _matrix(block: Block, vector: CompactVector) -> Floats:
    return vector.full().reshape(block.d, block.width)


def _response(block: Block, at: CompactVector) -> ClassResponse:
    """The losses at W: of the last W they are kept, for products."""
    W = _matrix(block, at)

    def compute() -> ClassResponse:
        return ClassLosses(block).at(Products(block).times(W))

    found: ClassResponse = kept(block, "response", W.tobytes(), compute)
    return found


def _curvature(block: Block, at: CompactVector) -> Curvature:
    def compute() -> Any:
        return ClassLosses(block).curvature(_response(block, at))

    found: Curvature = kept(block, "curvature", at.full().tobytes(), compute)
    return found
