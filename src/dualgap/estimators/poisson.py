"""Poisson regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import d2_tweedie_score

from dualgap import losses
from dualgap.estimators._docs import documented
from dualgap.estimators._regressors import LinearRegressor
from dualgap.linalg.validate import number


@documented()
class PoissonRegressor(LinearRegressor):
    """Regression of counts, with the logarithm as link and an L2 penalty.

    Minimises 1/(Σ s) Σ_i s_i (e^{z_i} − y_i z_i) + (α/2)‖w‖² with z_i = x_i·w + b, that is
    ``Problem`` with λ = α, where s are sample weights. ``decision_radius`` is about z, the
    logarithm of predictions.
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 10_000,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        positive: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        return losses.Poisson()

    def _lam(self, total: float) -> float:
        return number(self.alpha, "alpha", 0.0)

    def predict(self, X: Any) -> Any:
        """Predict the means of the counts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return np.exp(self._linear(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D², the share of the Poisson deviance that is explained.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
