"""The Newton system H v = −g, with all features, classes and intercepts in it.

    H = Σ_i c_i x_i x_iᵀ ⊗ (diag(h_i) − h_i h_iᵀ/Σh_i) + λ diag(l2)
If H is small it is computed and factorised. Otherwise conjugate gradients solve the system until
the residual is small enough for the next step, or until the quadratic model promises far more than
the objective gains: where curvatures vanish, more products would only lengthen a step that has to
be cut. Which preconditioner they have depends on what it costs relative to a product with H.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.newton.cholesky import solve_scaled
from dualgap.steps.newton_cg import preconditioner
from dualgap.steps.newton_cg.losses_at import Curvature
from dualgap.steps.newton_cg.preconditioner import Preconditioner
from dualgap.steps.newton_cg.products import Products
from dualgap.steps.newton_cg.tuning import TUNING

Gain = Callable[[Floats, Floats], float]
_HESSIAN_ROWS = 1 << 20  # numbers of rows that are made dense at once: bounds the memory
_ENTRY = (
    250.0  # for each entry of XV besides its product: a skinny matrix, and the Hessians of losses
)
SPARSE_SPEED = 20.0  # how much faster BLAS multiplies than loops over the entries of sparse rows


class System:
    """How the systems of one problem are solved."""

    def __init__(
        self, problem: Problem, products: Products, l2: Floats, rng: Any, kind: Any = None
    ) -> None:
        """``kind`` of preconditioner, if it should not follow from what each one costs."""
        self.problem, self.products, self.rng = problem, products, rng
        self.quadratic = problem.lam * l2
        self.kind = _kind(problem) if kind is None else kind
        self.damping, self.broken = 0.0, False
        self.largest = problem.mean_squares()[:, None] / (problem.loss.gamma or 1.0)
        # What a residual adds to the gap; free features are balanced in another way.
        held = l2 > 0.0
        self.per_gap = np.where(held, 0.5 / np.where(held, self.quadratic, 1.0), 0.0)

    def solve(
        self, at: Curvature, gradient: Floats, negligible: float, gain: Gain
    ) -> tuple[Floats, Floats, int]:
        """A step, its product with X, and how many Hessian products it took.

        ``negligible`` is a gap that does not matter, ``gain`` by how much a step with its product
        lowers the objective.
        """
        if few := self._has_few_curved(at):
            self.broken, self.damping = False, 0.0
        quadratic = self.quadratic + self.damping * self.largest
        if few or self.kind == "whole":
            step = self._solve_whole(at, gradient, quadratic)
            return step, self.products.times(step), self.problem.d
        return self._conjugate_gradients(at, gradient, quadratic, negligible, gain)

    def _has_few_curved(self, at: Curvature) -> bool:
        """Whether so few samples have a Hessian, as with kinks, that the whole one costs little.

        Steps end at kinks, unless they are exact.
        """
        size = self.quadratic.size
        if at.curved is None or size > TUNING.largest_hessian:
            return False
        whole = len(at.curved) * size**2 + size**3 / 3.0
        return bool(whole <= TUNING.products_per_kinked_hessian * product_cost(self.problem))

    def gap_of(self, gradient: Floats) -> float:
        """What w ≠ ∇g*(u) adds to the gap at this gradient of the objective."""
        return float(np.sum(self.per_gap * gradient * gradient))

    def _solve_whole(self, at: Curvature, gradient: Floats, quadratic: Floats) -> Floats:
        H = self.whole_hessian(at)
        _pin_what_classes_share(H, quadratic)
        diagonal = np.maximum(np.diag(H), 0.0) + quadratic.ravel()
        return solve_scaled(H, diagonal, -gradient.ravel()).reshape(gradient.shape)

    def whole_hessian(self, at: Curvature) -> Floats:
        """The Hessian of the losses, in the order of coefficients: feature, then class."""
        size, used = self.quadratic.size, at.curved
        n = self.problem.n if used is None else len(used)
        H = np.zeros((size, size))
        rows = max(_HESSIAN_ROWS // self.problem.d, 1)
        for first in range(0, n, rows):
            some: Any = slice(first, min(first + rows, n))
            places = None if rows >= n else np.arange(some.start, some.stop)
            if used is not None:
                some = places = used[some]
            H += at.hessian(self.products.few_rows(places), some)
        return H

    def _preconditioner(self, at: Curvature, quadratic: Floats) -> Preconditioner:
        if self.kind == "diagonal":
            return preconditioner.diagonal(self.products, at, quadratic)
        problem, blocks = self.problem, self.kind == "blocks"
        size = _rows_of(problem, blocks)
        places, share = None, 1.0
        if size < problem.n:
            places = np.sort(self.rng.choice(problem.n, size, replace=False))
            share = float(np.sum(problem.c[places]))
        make = preconditioner.class_blocks if blocks else preconditioner.shared_correlations
        return make(self.products, at, quadratic, places, share)

    def _conjugate_gradients(
        self, at: Curvature, gradient: Floats, quadratic: Floats, negligible: float, gain: Gain
    ) -> tuple[Floats, Floats, int]:
        solve = self._preconditioner(at, quadratic)
        step, residual = np.zeros_like(gradient), -gradient
        along = solve(residual)
        size = float(np.sum(residual * along))
        enough, promised, count, check = TUNING.forcing**2 * size, 0.0, 0, TUNING.first_check
        self.broken = False
        while count < TUNING.most_products and size > 0.0:
            curved = self.products.hessian_times(along, at)
            curved += quadratic * along
            count += 1
            bend = float(np.sum(along * curved))
            if not bend > 0.0:
                break
            length = size / bend
            step += length * along
            residual -= length * curved
            promised += 0.5 * length * size
            improved = solve(residual)
            before, size = size, float(np.sum(residual * improved))
            if size <= enough or self.gap_of(residual) <= negligible:
                break
            if count == check:
                if not gain(step, self.products.times(step)) >= TUNING.kept_promise * promised:
                    self.broken = True
                    break
                check *= 2
            along = improved + (size / before) * along
        return step, self.products.times(step), count

    def learn(self, length: float) -> None:
        """Damp more if a step broke its promise or had to be cut, and less if it did not."""
        if self.broken or length < TUNING.short_step:
            self.damping = max(TUNING.damping_factor * self.damping, TUNING.first_damping)
        elif length >= 1.0:
            self.damping /= TUNING.damping_factor
            self.damping *= self.damping > TUNING.least_damping


def _pin_what_classes_share(H: Floats, quadratic: Floats) -> None:
    """Curvature along moves of a free feature that are the same for all classes.

    Losses and gradients are 0 along them, so that no step changes but for rounding errors, which
    would be divided by next to nothing.
    """
    blocks = H.reshape(quadratic.shape * 2)
    for j in np.flatnonzero(~quadratic.any(axis=1)):
        own = blocks[j, :, j, :]
        h = np.maximum(np.diag(own), 0.0)  # 0 for a class that no sample has: it stays where it is
        own += np.outer(h, h / max(h.sum(), np.finfo(float).tiny))


def solves_directly(problem: Problem) -> bool:
    """Whether systems are solved with matrices of their own for classes."""
    return _kind(problem) in ("whole", "blocks")


def _kind(problem: Problem) -> str:
    """How to solve, by what it costs in multiplications at the speed of BLAS."""
    n, d, width = float(problem.n), float(problem.d), float(problem.width)
    size, product = d * width, product_cost(problem)
    whole = n * size * size + size**3 / 3.0
    if size <= TUNING.largest_hessian and whole <= max(
        TUNING.small_hessian, TUNING.products_per_hessian * product
    ):
        return "whole"
    if d > TUNING.largest_block:
        return "diagonal"
    if width * d * d * (_rows_of(problem, True) + d) <= TUNING.products_per_blocks * product:
        return "blocks"
    if d * d * (_rows_of(problem, False) + d) <= TUNING.products_per_shared * product:
        return "shared"
    return "diagonal"


def product_cost(problem: Problem) -> float:
    """What a product with the Hessian costs."""
    speed = SPARSE_SPEED if storage.is_sparse(problem.X) else 1.0
    return float(problem.width * (2.0 * speed * problem.entries + _ENTRY * problem.n))


def _rows_of(problem: Problem, blocks: bool) -> int:
    """How many rows a preconditioner is computed from; as many as cost a quarter of a product."""
    least = TUNING.rows_per_feature if blocks else TUNING.shared_rows_per_feature
    cheap = 0.25 * product_cost(problem) / (problem.d**2 * (problem.width if blocks else 1))
    cheap = min(cheap, TUNING.most_numbers / problem.d)
    rows = max(least * problem.d, int(cheap), TUNING.least_samples)
    return int(problem.n if 2 * rows > problem.n else rows)
