"""The parts of ``steps/newton_cg`` for samples that are in partitions.

Decision values are named by the coefficients that they belong to, slopes by their gradient. Then
XW, Xᵀ and the sum of slopes along a move mean what they do on one machine; the losses at W, and a
product with the Hessian, are an exchange each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.distributed.messages import CompactVector, compact
from dualgap.distributed.schemes.class_tasks import (
    ClassQuestion,
    class_product,
    class_squares,
    class_sums,
)
from dualgap.distributed.schemes.exchanges import Exchanges
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.newton.cholesky import scaled_factor
from dualgap.steps.newton_cg.losses_at import ClassLosses, ClassResponse
from dualgap.steps.newton_cg.preconditioner import Preconditioner
from dualgap.steps.newton_cg.products import Products
from dualgap.steps.newton_cg.system import System


class CurvatureAt:
    """The curvatures of all samples at W, which stay where they are."""

    curved = None  # how many samples have any is not known here

    def __init__(self, W: Floats) -> None:
        self.W = W

    def diagonals(self) -> CurvatureAt:
        return self


class PartitionedClasses:
    """The losses of all partitions and products with them."""

    def __init__(self, exchanges: Exchanges, d: int, width: int) -> None:
        self.exchanges, self.shape = exchanges, (d, width)
        self.known: ClassResponse | None = None  # the last losses

    def forget(self) -> None:
        self.known = None

    def at(self, W: Floats) -> ClassResponse:
        """The losses at W."""
        if self.known is None or not np.array_equal(self.known.z, W):
            question = ClassQuestion(compact(W.ravel()))
            found = self.exchanges.ask(class_sums, question, question.nbytes)
            gradient = found.vectors[0].full().reshape(self.shape)
            self.known = ClassResponse(W.copy(), float(found.numbers[0]), gradient)
        return self.known

    def curvature(self, at: ClassResponse) -> CurvatureAt:
        return CurvatureAt(at.z)

    def times(self, W: Floats) -> Floats:
        return W

    def summed(self, slopes: Floats) -> Floats:
        return slopes

    def hessian_times(self, V: Floats, at: CurvatureAt) -> Floats:
        """The product with the Hessian."""
        return self._ask(class_product, at.W, compact(V.ravel()))

    def squares(self, at: CurvatureAt) -> Floats:
        return self._ask(class_squares, at.W, None)

    def _ask(self, task: Any, W: Floats, v: CompactVector | None) -> Floats:
        question = ClassQuestion(compact(W.ravel()), v)
        found = self.exchanges.ask(task, question, question.nbytes)
        # A copy: the system adds to it.
        return found.vectors[0].full().reshape(self.shape).copy()


class PartitionedSystem(System):
    """Systems by conjugate gradients, whose preconditioner is the Hessian of a sample, if the
    driver has one; it is kept while few products suffice."""

    def __init__(self, problem: Any, own: PartitionedClasses, l2: Floats, sample: Any) -> None:
        super().__init__(problem, own, l2, None, kind="diagonal")  # type: ignore[arg-type]
        self.sample = None if sample is None else SampleHessian(sample, l2)
        self.factor: Preconditioner | None = None
        self.origin: tuple[Floats, Floats] | None = None  # what the factor follows from

    def _preconditioner(self, at: Any, quadratic: Floats) -> Preconditioner:
        if self.sample is None:
            return super()._preconditioner(at, quadratic)
        if self.factor is None:
            self.origin = at.W.copy(), quadratic
            self.factor = self.sample.inverse(*self.origin)
        return self.factor

    def _conjugate_gradients(self, *arguments: Any) -> tuple[Floats, Floats, int]:
        step, image, count = super()._conjugate_gradients(*arguments)
        if count > TUNING.kept_factor_products:
            self.factor = self.origin = None
        return step, image, count

    def state(self) -> dict[str, Any]:
        """What a checkpoint has to store: the factor follows from what it was computed from."""
        return {"damping": self.damping, "origin": self.origin}

    def restore(self, state: dict[str, Any]) -> None:
        self.damping, self.origin = state["damping"], state["origin"]
        if self.origin is not None and self.sample is not None:
            self.factor = self.sample.inverse(*self.origin)


class SampleHessian:
    """The Hessian of a sample of all partitions, which is like that of all samples.

    Many rows make it more alike and cost more, which the driver pays while the workers wait.
    """

    def __init__(self, sample: Problem, l2: Floats) -> None:
        self.whole = sample.coef_size <= TUNING.newton_features
        rows = TUNING.hessian_rows * sample.coef_size
        if self.whole and sample.n > 2 * rows:
            sample = sample.sampled(np.linspace(0, sample.n - 1, rows).astype(np.int64))
        self.products, self.losses = Products(sample), ClassLosses(sample)
        self.system = System(sample, self.products, l2, np.random.default_rng(0))

    def inverse(self, W: Floats, quadratic: Floats) -> Preconditioner:
        curvature = self.losses.curvature(self.losses.at(self.products.times(W)))
        if not self.whole:
            return self.system._preconditioner(curvature, quadratic)
        H = self.system.whole_hessian(curvature)
        factor = scaled_factor(H, np.maximum(np.diag(H), 0.0) + quadratic.ravel())
        return lambda right: factor(right.ravel()).reshape(right.shape)
