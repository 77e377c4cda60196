"""Regression that is robust to outliers: Huber's loss and quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import d2_pinball_score

from dualgap import losses, penalties
from dualgap.estimators.base import Strength
from dualgap.estimators.docstrings import documented
from dualgap.estimators.regressor import LinearRegressor
from dualgap.estimators.validated import QUANTILE_SOLVERS
from dualgap.linalg.validate import number


@documented(
    "delta max_iter alpha warm_start fit_intercept tol",
    delta="""float, default 1.35
    Residuals up to this size count by their squares, larger ones by their size. In units of y:
    scikit-learn's ``HuberRegressor``, which also estimates a scale, is another model.""",
    alpha="""float, default 0.0001
    Strength of the penalty; 0 for none.""",
    tol="""float, default 1e-5
    Stop when the certified duality gap is at most ``tol`` times the best possible objective (or
    times 0.001·P(0), if that is more; P(0) is the objective of the best constant).""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class HuberRegression(Strength, LinearRegressor):
    """Regression with Huber's loss and an L2 penalty.

    Minimises 1/(Σ s) Σ_i s_i φ(x_i·w + b; y_i) + (α/2)‖w‖², that is ``Problem`` with λ = α, where s
    are sample weights.
    """

    delta: float = 1.35
    alpha: float = 0.0001
    tol: float = 1e-5

    def _loss(self) -> Any:
        return losses.Huber(self.delta)


@documented(
    "quantile alpha fit_intercept solver solver_options max_iter tol warm_start",
    quantile="""float or list of floats, default 0.5
    Which quantile to predict, between 0 and 1. For a list, each is a problem of its own; ``coef_``
    has a row and predictions have a column for each.""",
    tol="""float, default 1e-6
    Stop when the certified duality gap is at most ``tol`` times the best possible objective (or
    times 0.001·P(0), if that is more; P(0) is the objective of the best constant). It is small,
    since scikit-learn's solvers of linear programs are exact.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class QuantileRegressor(Strength, LinearRegressor):
    """Prediction of a quantile, with an L1 penalty.

    Minimises 1/(Σ s) Σ_i s_i max(q r_i, (q − 1) r_i) + α‖w‖₁ with r_i = y_i − x_i·w − b, that is
    ``Problem`` with λ = α, where s are sample weights.
    """

    quantile: Any = 0.5
    solver: str = "highs"
    solver_options: Any = None
    tol: float = 1e-6

    _solvers = QUANTILE_SOLVERS

    def _loss(self) -> Any:
        return _loss_of(self.quantile)

    def _fit_checked(self, X: Any, y: Any, weights: Any, offset: Any = None) -> Any:
        if np.ndim(self.quantile) == 0:
            return super()._fit_checked(X, y, weights, offset)
        each = [_loss_of(quantile) for quantile in self.quantile]
        if np.ndim(self.quantile) != 1 or not each:
            raise ValueError("quantile must be a number or a list of them")
        y = np.asarray(y, dtype=np.float64)
        found = [self._subproblem(y, weights, X.shape[1], loss=loss) for loss in each]
        subproblems = [one._replace(offset=offset) for one in found]
        return self._complete(X, y, weights, subproblems, single=False)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """R² of the predictions; for several quantiles the mean of their D².

        D² is the share of the pinball loss of the best constant that is explained.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        offset : array of shape (n_samples,), optional
            As for ``predict``.

        Returns
        -------
        float
        """
        if np.ndim(self.quantile) == 0:
            return float(super().score(X, y, sample_weight, offset))
        each = zip(self.quantile, self._mean(X, offset).T)
        found = [d2_pinball_score(y, z, sample_weight=sample_weight, alpha=q) for q, z in each]
        return float(np.mean(found))

    def _penalty(self) -> Any:
        return penalties.L1()


def _loss_of(quantile: Any) -> Any:
    quantile = number(quantile, "quantile", 0.0, 1.0, open_low=True)
    if quantile == 1.0:
        raise ValueError("quantile must be < 1, not 1.0")
    return losses.Quantile(quantile)
