"""H₀, the first approximation of the inverse Hessian: one curvature κ_i for all classes.

    (Σ_i κ_i x_i x_iᵀ + Λ)⁻¹ r,  Λ = diag(λ l2)
In combinations of samples, where the matrix has a row for each sample instead of each feature,
    … = Λ⁻¹(r − Xᵀμ),  (1/κ + XΛ⁻¹Xᵀ) μ = XΛ⁻¹ r
The matrix is computed once the steps without it have cost as much.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.linalg.gram import gram
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.newton_cg import preconditioner
from dualgap.steps.newton_cg.losses_at import ClassLosses, ClassResponse
from dualgap.steps.newton_cg.system import SPARSE_SPEED, product_cost
from dualgap.steps.quasi_newton.spaces import Coefficients, Combinations, Space
from dualgap.steps.quasi_newton.tuning import TUNING


class Scaling:
    """When to compute H₀, and what it is."""

    def __init__(self, space: Space, losses: ClassLosses) -> None:
        self.space, self.losses, self.problem = space, losses, losses.problem
        self.step_cost = product_cost(self.problem)
        self.cost = _cost(self.problem, isinstance(space, Combinations))
        self.spent = 0.0  # by steps since the last H₀
        self.level = np.inf  # the mean curvature for which it was computed
        self.at: Any = None  # the decision values there

    def note_step(self) -> None:
        self.spent += self.step_cost

    def updated(self, at: ClassResponse) -> Any:
        """Another H₀, if it is time for one; else None."""
        if self.spent < TUNING.worth * self.cost:
            return None
        level = self._level(at)
        changed = max(level, self.level) >= TUNING.changed * min(level, self.level)
        self.spent = 0.0
        return self.computed(at) if changed else None

    def computed(self, at: ClassResponse) -> Any:
        """H₀ for the curvature there."""
        self.at, self.level = at.z, self._level(at)
        if isinstance(self.space, Combinations):
            return _of_combinations(self.space, self.level)
        return self._of_coefficients(self.space, at)

    def _level(self, at: ClassResponse) -> float:
        """The mean curvature of a sample, for a class."""
        least = EPS / self.problem.loss.gamma  # where all samples are fitted perfectly
        return float(max(np.sum(self._curvatures(at)), least))

    def _curvatures(self, at: ClassResponse) -> Floats:
        """Of each sample, times its weight, the mean over all directions that sum to 0."""
        diagonals = self.losses.curvature(at).diagonals()
        return np.asarray(diagonals.sum(axis=1) / (self.problem.width - 1))

    def _of_coefficients(self, space: Coefficients, at: ClassResponse) -> Any:
        problem, weights = self.problem, self._curvatures(at)
        size = _rows(problem)
        if size < problem.n:
            # The same rows at each update. Those of weight 0 cost nothing.
            left = np.random.default_rng(0).permutation(problem.n)[size:]
            total = float(np.sum(weights))
            weights[left] = 0.0
            weights *= total / (float(np.sum(weights)) or 1.0)
        matrix = gram(problem, weights)
        matrix *= space.units
        matrix *= space.units.T
        matrix[np.diag_indices(problem.d)] += space.l2.mean(axis=1)
        inverted = preconditioner.inverse(matrix)
        shape = space.shape_of_w
        return lambda v: (inverted @ v.reshape(shape)).reshape(v.shape)


def _rows(problem: Problem) -> int:
    """How many rows H₀ is computed from: as many as cost no more than the inverse, or ten for each
    feature."""
    affordable = problem.d**3 / _row_cost(problem)
    return int(min(problem.n, max(TUNING.rows_per_feature * problem.d, affordable)))


def _row_cost(problem: Problem) -> float:
    """Of a row in a Gram matrix, in multiplications at the speed of BLAS."""
    if not storage.is_sparse(problem.X):
        return float(0.5 * problem.d**2)
    counts = problem.row_counts
    return float(max(0.5 * SPARSE_SPEED * (counts @ counts) / problem.n, 1.0))


def _cost(problem: Problem, of_samples: bool) -> float:
    """Of the matrix and its inverse, in multiplications at the speed of BLAS."""
    side = float(problem.n if of_samples else problem.d)
    if side > TUNING.largest:
        return np.inf
    if not of_samples:
        return float(_rows(problem) * _row_cost(problem) + side**3)
    if storage.is_sparse(problem.X):
        counts = problem.column_counts[: problem.p]
        return float(SPARSE_SPEED * (counts @ counts) + side**3)
    return float(side * side * (0.5 * problem.p + side))


def _of_combinations(space: Combinations, level: float) -> Any:
    space.find_gram()
    problem, G, size, lam = space.problem, space.gram, space.size, space.lam
    n, width, constant = problem.n, problem.width, space.constant
    own = space.intercept or TUNING.held_intercept * level * constant**2
    matrix = G / lam
    if problem.has_intercept:
        matrix += constant**2 / own
    matrix[np.diag_indices(n)] += n / level
    inverted = preconditioner.inverse(matrix)

    def solve(v: Floats) -> Floats:
        out = np.empty_like(v)
        right = v[1, :size].reshape(n, width) / lam
        if problem.has_intercept:
            right += (constant / own) * v[1, size:]
        mu = inverted @ right
        beta = (v[0, :size].reshape(n, width) - mu) / lam
        out[0, :size], out[1, :size] = beta.ravel(), (G @ beta).ravel()
        if problem.has_intercept:
            out[:, size:] = (v[1, size:] - constant * mu.sum(axis=0)) / own
        return out

    return solve
