"""Least squares without a penalty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.estimators.docstrings import documented
from dualgap.estimators.exact_least_squares import ExactDecomposition
from dualgap.estimators.ridge import Ridge
from dualgap.linalg.validate import Floats


@documented(
    "fit_intercept copy_X tol n_jobs positive",
    attributes={
        "rank_, singular_": """int, array
    Rank and singular values of X, centred if there is an intercept and multiplied by the roots of
    sample weights; for data of at most 2,000 samples or features.""",
    },
    positive="""bool, default False
    Refused: without a penalty there is no certificate for bounded coefficients. Use
    ``Ridge(alpha=1e-8, positive=True)``.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegression(Ridge):
    """Least squares.

    Minimises Σ_i s_i (y_i − x_i·w − b)², that is ``Problem`` with λ = 1 and weights of 0 in its
    penalty, where s are sample weights. Where several models do, this is the one with the smallest
    ‖w‖. Each column of y is a problem of its own.
    """

    tol: float = 1e-6
    alpha: float = field(default=0.0, init=False)
    solver: str = field(default="auto", init=False)

    def _fit_checked(self, X: Any, y: Any, weights: Any, offset: Any = None) -> Any:
        if self.positive is True:
            raise ValueError(
                "without a penalty coefficients that must be >= 0 have no certificate: use "
                "Ridge(alpha=1e-8, positive=True)"
            )
        for name in ("rank_", "singular_"):
            self.__dict__.pop(name, None)
        return super()._fit_checked(X, y, weights, offset)

    def _decomposed(self, X: Any, weights: Any, alphas: Floats) -> ExactDecomposition | None:
        data = super()._decomposed(X, weights, alphas)
        if data is not None:
            sizes = np.sqrt(np.sort(data.squares)[::-1])
            self.rank_ = len(sizes)
            self.singular_ = np.append(sizes, np.zeros(min(X.shape) - len(sizes)))
        return data
