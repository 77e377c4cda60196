"""Where the vectors of a run live: in coefficients, or for wide data in combinations of samples.

From 0, all steps are combinations Xᵀβ of samples, plus intercepts. With fewer samples than features
β is the smaller vector, and inner products need its image XXᵀβ besides. So a vector is an array
whose first and last row have the inner product ``first · last``:
    Coefficients   one row, of length dK
    Combinations   (β, b) and (XXᵀβ, b), of length nK or (n + 1)K
Both cost one product with X and one with Xᵀ for each step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.steps.newton_cg.products import Products
from dualgap.steps.quasi_newton.tuning import TUNING


def dot(u: Floats, v: Floats) -> float:
    """The inner product of two vectors of the same space."""
    return float(u[0] @ v[-1])


def intercept_unit(products: Products, l2: Floats) -> float:
    """The unit of intercepts in which their curvature is no outlier.

    Rows of text have length 1 and many thousand features: the curvature of a constant feature is
    many times that of any other. The unit errs on the stiff side, up to a factor 4 in curvature: a
    slow intercept costs more steps (5,000 × 20,000, K = 20: 79 passes instead of 57), and none at
    all as many (rows of length 1: 43 instead of 15). A power of two makes no rounding errors.
    """
    problem = products.problem
    if not problem.has_intercept:
        return 1.0
    squares = problem.column_squares[: problem.p] / problem.n
    total = float(np.sum(squares))
    usual = float(squares @ squares) / total if total > 0.0 else 0.0  # of a feature in use
    ratio = usual + problem.lam * problem.loss.gamma * float(l2[0].mean())
    ratio /= problem.constant**2
    ratio = max(ratio, np.finfo(float).tiny)
    return float(2.0 ** np.clip(np.ceil(0.5 * np.log2(ratio) + 0.5), -40, 40))


class Coefficients:
    """Vectors are coefficients; that of the intercept is in its unit."""

    def __init__(self, products: Products, l2: Floats) -> None:
        problem = products.problem
        self.products, self.shape_of_w = products, l2.shape
        self.unit = intercept_unit(products, l2)
        self.units = np.ones((len(l2), 1))
        self.units[problem.p :] = self.unit
        self.excess = problem.constant * (self.unit - 1.0)
        self.shape = (1, l2.size)
        self.l2 = problem.lam * l2 * self.units**2
        self.quadratic = self.l2.ravel()
        held = self.quadratic > 0.0
        self.per_gap = np.where(held, 0.5 / np.where(held, self.quadratic, 1.0), 0.0)

    def coefficients(self, x: Floats) -> Floats:
        """W at x."""
        return np.asarray(x.reshape(self.shape_of_w) * self.units)

    def features(self, x: Floats, places: Any) -> Floats:
        return np.asarray(x.reshape(self.shape_of_w)[places] * self.units[places])

    def with_features(self, x: Floats, places: Any, values: Floats) -> Floats:
        """x with other coefficients of some features."""
        x = x.copy()
        x.reshape(self.shape_of_w)[places] = values / self.units[places]
        return x

    def image(self, v: Floats) -> Floats:
        """X v, of shape (n, K)."""
        V = v.reshape(self.shape_of_w)
        z = self.products.times(V)
        if self.excess != 0.0:
            z += self.excess * V[-1]
        return z

    def gradient(self, x: Floats, slopes: Floats) -> Floats:
        """Of the objective, where the losses have these slopes."""
        sums = self.products.summed(slopes)
        if self.excess != 0.0:
            sums[-1] *= self.unit
        found = sums.reshape(1, -1)
        found += self.quadratic * x
        return found

    def penalty(self, u: Floats, v: Floats) -> float:
        """λ Σ l2 u v."""
        return float(u[0] @ (self.quadratic * v[0]))

    def gap_of(self, gradient: Floats) -> float:
        """What w ≠ ∇g*(u) adds to the gap."""
        return float(gradient[0] @ (self.per_gap * gradient[0]))


class Combinations:
    """Vectors are combinations of samples, and intercepts."""

    def __init__(self, products: Products, l2: Floats) -> None:
        problem = products.problem
        self.products, self.problem, self.width = products, problem, problem.width
        self.lam, self.size = problem.lam * float(l2[0, 0]), problem.dual_size
        self.unit = intercept_unit(products, l2)
        self.constant = problem.constant * self.unit
        own = problem.lam * float(l2[-1, 0]) if problem.has_intercept else 0.0
        self.intercept = own * self.unit**2
        self.shape = (2, self.size + self.width * problem.has_intercept)
        self.gram: Any = None  # XXᵀ, once it is worth it

    @staticmethod
    def suits(products: Products, l2: Floats) -> bool:
        """Whether all features but the intercept have the same penalty, and are many."""
        problem = products.problem
        held = l2[: problem.p]
        even = bool((l2 == l2[:, :1]).all() and (held == held[0]).all() and held[0, 0] > 0.0)
        return even and problem.p >= TUNING.wide * problem.n

    def coefficients(self, x: Floats) -> Floats:
        W: Floats = self.products.summed(x[0, : self.size].reshape(-1, self.width))
        if self.problem.has_intercept:
            W[-1] = self.unit * x[0, self.size :]
        return W

    def features(self, x: Floats, places: Any) -> Floats:
        """Only the intercept can be free."""
        return self.unit * x[0, self.size :].reshape(1, -1)

    def with_features(self, x: Floats, places: Any, values: Floats) -> Floats:
        x = x.copy()
        x[:, self.size :] = values / self.unit
        return x

    def image(self, v: Floats) -> Floats:
        z = v[1, : self.size].reshape(-1, self.width)
        if self.problem.has_intercept:
            return z + self.constant * v[1, self.size :]
        return z.copy()

    def gradient(self, x: Floats, slopes: Floats) -> Floats:
        found = np.empty(self.shape)
        found[0, : self.size] = slopes.ravel()
        found[1, : self.size] = self.paired(slopes).ravel()
        if self.problem.has_intercept:
            found[:, self.size :] = self.constant * slopes.sum(axis=0)
            found[:, self.size :] += self.intercept * x[:, self.size :]
        found[:, : self.size] += self.lam * x[:, : self.size]
        return found

    def paired(self, A: Floats) -> Floats:
        """XXᵀ A, without the constant feature."""
        if self.gram is not None:
            return np.asarray(self.gram @ A)
        sums = self.products.summed(A)
        sums[self.problem.p :] = 0.0
        return self.products.times(sums)

    def find_gram(self) -> None:
        """Compute XXᵀ."""
        if self.gram is None:
            X = self.problem.X
            if storage.is_sparse(X):
                self.gram = np.asarray((X @ X.T).toarray(), dtype=np.float64)
                return
            self.gram = np.zeros((self.problem.n, self.problem.n))
            columns = max(TUNING.columns_at_once // self.problem.n, 1)
            for first in range(0, self.problem.p, columns):
                some = np.asarray(X[:, first : first + columns], dtype=np.float64)
                self.gram += some @ some.T

    def penalty(self, u: Floats, v: Floats) -> float:
        held = self.lam * float(u[0, : self.size] @ v[1, : self.size])
        return held + self.intercept * float(u[0, self.size :] @ v[1, self.size :])

    def gap_of(self, gradient: Floats) -> float:
        found = 0.5 / self.lam * float(gradient[0, : self.size] @ gradient[1, : self.size])
        if self.intercept > 0.0:
            own = gradient[0, self.size :]
            found += 0.5 / self.intercept * float(own @ own)
        return found


Space = Coefficients | Combinations
