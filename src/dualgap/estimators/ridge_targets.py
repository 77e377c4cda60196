"""Ridge regression on several targets: the coefficients of all from one matrix of products.

In the coordinates of ``selection/decomposition.py`` the coefficients are (XᵀX + α)⁻¹Xᵀy, or
Xᵀ(XXᵀ + α)⁻¹y if there are fewer samples than features. Each target then has its own proof; one
that misses ``tol`` is solved by itself, from these coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dualgap.estimators.fits import Subproblem
from dualgap.estimators.selection.decomposition import KEPT_NUMBERS, Decomposition
from dualgap.linalg import storage
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats


@dataclass(frozen=True)
class Tuning:
    """When one matrix for all targets pays."""

    # Samples or features, whichever are fewer: bounds the matrix to 32 MB.
    most_products: int = 2000
    # Products for the matrix of sparse data, as passes over their entries for each target: a run
    # of its own makes some tens. Not measured.
    sparse_passes: float = 30.0


TUNING = Tuning()


class _System(Decomposition):
    """The normal equations instead of a decomposition."""

    def _mean_of_centred(self) -> Floats:
        """Of data that are kept, what is left of the means goes out of the products, which saves
        two passes."""
        if self.X.size > KEPT_NUMBERS:
            return super()._mean_of_centred()
        rows = np.subtract(self.X, self.mean, dtype=np.float64)
        self.left_of_means = self.shares @ rows
        if not (self.root == 1.0).all():
            rows *= self.root[:, None]
        self._centred = rows
        return self.rest

    def _decompose(self, least_alpha: float) -> None:
        self.wide = self.n <= self.p
        self.products = self._gram() if self.wide else self._covariance()
        if self._centred is not None:
            left = self.left_of_means
            self.products -= self.total * np.outer(left, left)

    def coefficients(self, Y: Floats, alphas: Floats) -> tuple[Floats, Floats]:
        """Coefficients (T, p) and intercepts (T,) for targets (n, T), each with its alpha."""
        means = self.shares @ Y
        scaled = self.root[:, None] * (Y - means)
        with single_threaded_blas():
            right = scaled if self.wide else self._pulled(scaled)
            found = np.empty_like(right)
            for alpha in np.unique(alphas):
                own = alphas == alpha
                system = self.products + alpha * np.eye(len(self.products))
                found[:, own] = cho_solve(cho_factor(system, overwrite_a=True), right[:, own])
            coefs = (self._pulled(found) if self.wide else found).T
            return coefs, np.asarray(means - coefs @ self.mean)

    def _pulled(self, columns: Floats) -> Floats:
        """(√s(X − x̄))ᵀ columns."""
        if self._centred is not None:
            own = self.left_of_means[:, None] * (self.root @ columns)
            return np.asarray(self._centred.T @ columns - own)
        scaled = self.root[:, None] * columns
        return np.asarray(self._summed(scaled) - np.outer(self.mean, scaled.sum(axis=0)))


def coefficients_of_targets(
    X: Any, subproblems: list[Subproblem], intercept: bool
) -> tuple[Floats, Floats] | None:
    """Coefficients and intercepts of all targets; None if one matrix for them does not pay."""
    if len(subproblems) < 2 or not _pays(X, len(subproblems)):
        return None
    shared = subproblems[0].weights
    weights = np.ones(X.shape[0]) if shared is None else shared
    Y = np.stack([np.asarray(one.y, np.float64) for one in subproblems], axis=1)
    if subproblems[0].offset is not None:
        Y = Y - np.stack([one.offset for one in subproblems], axis=1)
    alphas = np.array([one.lam for one in subproblems]) * weights.sum()
    try:
        with np.errstate(all="ignore"):
            found = _System(X, weights, intercept).coefficients(Y, alphas)
    except (LinAlgError, ValueError):  # singular up to rounding errors, or squares that overflow
        return None
    return found if all(np.isfinite(part).all() for part in found) else None


def _pays(X: Any, targets: int) -> bool:
    if storage.is_on_disk(X) or min(X.shape) > TUNING.most_products:
        return False
    if not storage.is_sparse(X):
        return True
    n, p = X.shape
    return bool(X.nnz <= TUNING.sparse_passes * targets * max(n, p))
