"""Newton systems (Xᵀ W X + diag(quadratic)) p = −gradient, solved without their matrix if that
costs less.

Conjugate gradients need one pass over X for each product, a factor as much time as tens or hundreds
of them. How many are needed depends on the condition, which nobody knows before. So products
are made until they have cost as much as a factor would, and then the factor is computed: at most
twice the time of the better of the two, whatever the data are. The factor stays the preconditioner
of later systems, whose weights differ, until products have cost as much again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.column_spread import squared_column_counts
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import Shape
from dualgap.problem import Problem
from dualgap.steps.newton.hessian_products import HessianProducts
from dualgap.steps.newton.preconditioners import (
    GramFactor,
    SampleFactor,
    SampleKernel,
    Variances,
)
from dualgap.steps.newton.tuning import TUNING

Overshoots = Callable[[Floats, Floats], bool]


class Systems:
    """The systems of one problem, and the last factor."""

    def __init__(self, problem: Problem, shape: Shape, products: Any = None) -> None:
        """``products`` with the Hessian, if samples are elsewhere; there are no factors then."""
        self.problem = problem
        self.products = HessianProducts(problem) if products is None else products
        self.quadratic = problem.lam * shape.l2
        held = shape.l2 > 0.0
        self.per_gap = np.divide(0.5, self.quadratic, out=np.zeros(problem.d), where=held)
        self.seconds = Seconds.of(problem) if products is None else PRODUCTS_ALONE
        self.kernel: SampleKernel | None = None
        self.moments: Variances | None = None
        self.factor: Any = None
        self.origin: tuple[Floats, Floats, bool] | None = None  # what the factor follows from
        self.spent = 0.0  # seconds for products since the last factor

    def solve(
        self,
        weights: Floats,
        gradient: Floats,
        damping: Floats,
        enough: float,
        overshoots: Overshoots,
    ) -> tuple[Floats, Floats, int]:
        """A step, its product with X, and how many products it took.

        The residual may add ``enough`` to the gap; ``overshoots`` tells from a step and its product
        with X whether the objective has no more use for a longer one.
        """
        quadratic = self.quadratic + damping
        step, residual = np.zeros_like(gradient), -gradient
        image = self.products.no_image()
        solve = self.factor or self._moments(weights, quadratic)
        along = solve(residual)
        size = float(np.sum(residual * along))
        loss = self.problem.loss
        forcing = TUNING.forcing_quadratic if loss.quadratic else TUNING.forcing
        small, cost = size * forcing**2, self.seconds.product
        check = TUNING.first_check
        count = 0
        for count in range(1, TUNING.most_products + 1):
            if not size > 0.0:
                break
            along_image, curved = self.products.times(weights, along)
            curved += quadratic * along
            bend = float(np.sum(along * curved))
            if not bend > 0.0:
                break
            length = size / bend
            step += length * along
            image += length * along_image
            residual -= length * curved
            self.spent += cost
            improved = solve(residual)
            before, size = size, float(np.sum(residual * improved))
            if size <= small or float(np.sum(self.per_gap * residual * residual)) <= enough:
                break
            if count == check:
                if overshoots(step, image):
                    break
                check *= 2
            if self.spent >= self.seconds.of_factor(self.kernel is not None):
                solve = self._factorise(weights, quadratic)
                along = solve(residual)
                size = float(np.sum(residual * along))
            else:
                along = improved + (size / before) * along
        if count > TUNING.moments_products:
            self.moments = None
        return step, image, count

    def _moments(self, weights: Floats, quadratic: Floats) -> Variances:
        """Those of earlier weights, if they served well."""
        if self.moments is None:
            self.moments = Variances(self.products, weights, quadratic)
        return self.moments

    def _factorise(self, weights: Floats, quadratic: Floats) -> Any:
        by_samples = self.seconds.gram > self.seconds.of_kernel(self.kernel is not None)
        return self._factorise_by(weights, quadratic, by_samples)

    def _factorise_by(self, weights: Floats, quadratic: Floats, by_samples: bool) -> Any:
        self.spent, self.origin = 0.0, (weights, quadratic, by_samples)
        if not by_samples:
            self.factor = GramFactor(self.problem, weights, quadratic)
            return self.factor
        if self.kernel is None:
            self.kernel = SampleKernel(self.problem, self.quadratic)
        self.factor = SampleFactor(self.kernel, weights)
        return self.factor

    def state(self) -> dict[str, Any]:
        """What a checkpoint has to store: factors follow from what they were computed from."""
        moments = None if self.moments is None else self.moments.origin
        return {"spent": self.spent, "origin": self.origin, "moments": moments}

    def restore(self, state: dict[str, Any]) -> None:
        if state["origin"] is not None:
            with single_threaded_blas():  # as when it was computed first
                self._factorise_by(*state["origin"])
        if state["moments"] is not None:
            self.moments = Variances(self.products, *state["moments"])
        self.spent = state["spent"]


def solves_by_products(problem: Problem, seconds: Seconds | None = None) -> bool:
    """Whether systems are solved by products: that is possible, and a factor costs more than a few
    of them."""
    shape = problem.penalty_shape
    if shape is None or shape.kinked or problem.width > 1:
        return False
    free = problem.free_places
    if len(free) and not (problem.intercept is True and len(free) == 1 and free[0] == problem.p):
        return False
    seconds = seconds or Seconds.of(problem)
    return seconds.of_factor(False) > TUNING.factor_products * seconds.product


class Seconds(NamedTuple):
    """What the parts of a solution should take: a product with a Hessian; a Gram matrix with its
    factor, and the factor alone; the kernel of samples, and a factor with an unknown for each."""

    product: float
    gram: float
    system: float
    kernel: float
    samples: float

    @staticmethod
    def of(problem: Problem) -> Seconds:
        sparse, n, d = storage.is_sparse(problem.X), float(problem.n), float(problem.d)
        few = n <= TUNING.kernel_samples
        if sparse:
            counts = problem.row_counts
            products = 0.5 * float(np.sum(counts * counts)) * TUNING.sparse_product_seconds
            kernel = _kernel_products(problem) * TUNING.scipy_product_seconds if few else np.inf
            entry = TUNING.sparse_entry_seconds
        else:
            products, kernel = 0.5 * np.array([n * d**2, n**2 * d]) * TUNING.dense_product_seconds
            kernel = kernel if few else np.inf
            entry = TUNING.dense_entry_seconds
        cube = TUNING.system_product_seconds / 3.0
        return Seconds(
            TUNING.product_seconds + problem.entries * entry + n * TUNING.sample_seconds,
            products + d**3 * cube,
            d**3 * cube,
            kernel,
            n**3 * cube,
        )

    def of_kernel(self, known: bool) -> float:
        """A factor with an unknown for each sample; ``known``: whether the kernel is."""
        return self.samples + (0.0 if known else self.kernel)

    def of_factor(self, known: bool) -> float:
        """The cheaper factor."""
        return min(self.gram, self.of_kernel(known))


PRODUCTS_ALONE = Seconds(0.0, np.inf, np.inf, np.inf, np.inf)


def _kernel_products(problem: Problem) -> float:
    """Products of entries for X Xᵀ of sparse data, which by columns meet in pairs."""
    if problem.by_rows and not storage.is_coded(problem.X):
        return squared_column_counts(problem.X)
    counts = problem.column_counts
    return float(np.sum(counts * counts))
