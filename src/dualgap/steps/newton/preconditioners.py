"""What stands in for the inverse of a Hessian H = Xᵀ W X + diag(quadratic), from cheap to exact.

``Variances``      variances of the features, around their weighted means
``GramFactor``   a Cholesky factor of H
``SampleFactor`` the same inverse, by a system with an unknown for each sample: for n < d
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.linalg.gram import gram
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.newton.cholesky import scaled_factor
from dualgap.steps.newton.hessian_products import HessianProducts


class Variances:
    """The diagonal of H in terms of centred features, whose intercept sees none of them."""

    def __init__(self, products: HessianProducts, weights: Floats, quadratic: Floats) -> None:
        self.origin = weights, quadratic
        sums, squares = products.moments(weights)
        self.means: Any = None
        if products.data.constant and squares[-1] > 0.0:
            self.means = sums[:-1] * (products.data.constant / squares[-1])
            spread = squares[:-1] - squares[-1] * self.means**2
            squares[:-1] = np.maximum(spread, EPS * squares[:-1])
        diagonal = squares + quadratic
        self.inverse = 1.0 / np.where(diagonal > 0.0, diagonal, np.inf)

    def __call__(self, right: Floats) -> Floats:
        if self.means is None:
            return self.inverse * right
        out = right.copy()
        out[:-1] -= self.means * right[-1]
        out *= self.inverse
        out[-1] -= np.sum(self.means * out[:-1])
        return out


class GramFactor:
    """H itself, factorised."""

    def __init__(self, problem: Problem, weights: Floats, quadratic: Floats) -> None:
        hessian = gram(problem, weights)
        self.solve = scaled_factor(hessian, np.diag(hessian) + quadratic)

    def __call__(self, right: Floats) -> Floats:
        return self.solve(right)


class SampleKernel:
    """X diag(1/quadratic) Xᵀ over the features with a penalty; one for all Hessians."""

    def __init__(self, problem: Problem, quadratic: Floats) -> None:
        self.problem = problem
        held = quadratic > 0.0
        self.inverse = np.divide(1.0, quadratic, out=np.zeros(len(quadratic)), where=held)
        roots = np.sqrt(self.inverse)[: problem.p]
        if storage.is_sparse(problem.X):
            scaled = problem.X.astype(np.float64).multiply(roots[None, :]).tocsr()
            self.matrix = (scaled @ scaled.T).toarray()
        else:
            scaled = problem.X * roots
            self.matrix = scaled @ scaled.T
        self.free = problem.constant != 0.0 and not held[-1]
        if problem.constant and held[-1]:
            self.matrix += problem.constant**2 * self.inverse[-1]


class SampleFactor:
    """With t = W X p the system is  (W⁻¹ + K) t = X r/quadratic + b,  Σ t = r_b  for a free
    intercept b; K is the kernel, r the right side, p = (r − Xᵀt)/quadratic the solution."""

    def __init__(self, kernel: SampleKernel, weights: Floats) -> None:
        self.kernel, self.used = kernel, np.flatnonzero(weights > 0.0)
        self.roots = np.sqrt(weights[self.used])
        every = len(self.used) == len(weights)
        matrix = kernel.matrix if every else kernel.matrix[np.ix_(self.used, self.used)]
        matrix = matrix * self.roots
        matrix *= self.roots[:, None]
        matrix.flat[:: len(matrix) + 1] += 1.0
        self.factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        self.failed = bool(failed)
        self.ones = self._solved(self.roots)

    def _solved(self, right: Floats) -> Floats:
        return np.asarray(lapack.dpotrs(self.factor, right, lower=1)[0])

    def __call__(self, right: Floats) -> Floats:
        kernel, constant = self.kernel, self.kernel.problem.constant
        inner = kernel.inverse * right
        image = kernel.problem.times(inner, 1)[self.used]
        s = self._solved(self.roots * image)
        b = 0.0
        if kernel.free:
            across = float(np.sum(self.roots * self.ones))
            missing = right[-1] / constant - float(np.sum(self.roots * s))
            b = missing / across if across > 0.0 else 0.0
            s += b * self.ones
        t = np.zeros(kernel.problem.n)
        t[self.used] = self.roots * s
        out = inner - kernel.inverse * kernel.problem.summed(t, 1)
        if kernel.free:
            out[-1] = b / constant
        return out
