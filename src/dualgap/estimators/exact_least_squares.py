"""Least squares with hardly a penalty, or none: coefficients from a decomposition of the data.

Objectives of such problems are flat along directions in which the data hardly vary, so that models
within ``tol`` of the optimum can be far from each other. A singular value decomposition finds the
optimum itself, and without a penalty the one of minimum norm, as other libraries do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.estimators.fits import Subproblem
from dualgap.estimators.selection.decomposition import KEPT_NUMBERS, Decomposition
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, NotFiniteError


@dataclass(frozen=True)
class Tuning:
    """Which problems are decomposed."""

    # The penalty of wide data is weak below this share of the mean square of a row. Newton steps
    # are exact to about 1e-9 above it.
    of_rows: float = 1e-6
    # Of other data, below this share of the least square of a column: only if columns depend on
    # each other does such a penalty matter, and tall data take long to decompose.
    of_columns: float = 1e-10
    # Samples or features, whichever are fewer: bounds the time to some seconds. scikit-learn's own
    # least squares take as long.
    most_directions: int = 2000
    # Data of at most so many numbers always have an SVD, larger ones if eigenvalues are not exact
    # to 1e-8. A megabyte.
    always_svd: int = 1 << 17
    # How many numbers of X tell how large columns are: takes some µs.
    sampled: int = 2_000


TUNING = Tuning()


class ExactDecomposition(Decomposition):
    """Directions of small data are as accurate as float64 can tell."""

    def _is_accurate(self, squares: Floats, rounding: float, least_alpha: float) -> bool:
        large = self.n * self.p > TUNING.always_svd
        return large and super()._is_accurate(squares, rounding, least_alpha)

    def coefficients(
        self, subproblems: list[Subproblem], alphas: Floats
    ) -> tuple[Floats, Floats] | None:
        """Coefficients and intercepts of all targets, each with its alpha."""
        Y = np.stack([np.asarray(one.y, np.float64) for one in subproblems], axis=1)
        if subproblems[0].offset is not None:
            Y = Y - np.stack([one.offset for one in subproblems], axis=1)
        with np.errstate(all="ignore"):
            coefs, intercepts = self.solutions(Y, alphas[None])
        return (coefs[0], intercepts[0]) if np.isfinite(coefs).all() else None


def decomposed(
    X: Any, weights: Floats | None, alphas: Floats, intercept: bool
) -> ExactDecomposition | None:
    """The decomposition that solves for some alphas; None if Newton steps do as well, or if it
    would take too long."""
    if storage.is_on_disk(X) or min(X.shape) > TUNING.most_directions:
        return None
    if alphas.min() > 0.0 and not _is_weak(float(alphas.min()), X, weights):
        return None
    own = np.ones(X.shape[0]) if weights is None else weights
    try:
        with np.errstate(all="ignore"):
            return ExactDecomposition(X, own, intercept, float(alphas.min()))
    except (np.linalg.LinAlgError, NotFiniteError, ValueError):
        return None  # the general method says what is wrong


def _is_weak(alpha: float, X: Any, weights: Floats | None) -> bool:
    n, p = X.shape
    if n * p > KEPT_NUMBERS:  # where only ``alpha=0`` is worth a decomposition
        return False
    if storage.is_sparse(X):
        squares = np.full(p, np.einsum("i,i->", X.data, X.data, dtype=np.float64) / p)
    else:
        some = X[:: max(n * p // TUNING.sampled, 1)]
        squares = np.einsum("ij,ij->j", some, some, dtype=np.float64) * (n / len(some))
    if weights is not None:
        squares *= np.mean(weights)
    if n <= p:
        return bool(alpha < TUNING.of_rows * squares.sum() / n)
    return bool(alpha < TUNING.of_columns * squares.min(initial=np.inf, where=squares > 0.0))
