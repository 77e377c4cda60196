"""Poisson regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import d2_tweedie_score

from dualgap import losses
from dualgap.estimators.base import Strength
from dualgap.estimators.docstrings import documented
from dualgap.estimators.ignored import POISSON_SOLVERS
from dualgap.estimators.regressor import LinearRegressor


@documented("alpha fit_intercept solver max_iter tol warm_start verbose")
@dataclass(eq=False, repr=False, kw_only=True)
class PoissonRegressor(Strength, LinearRegressor):
    """Regression of counts, with the logarithm as link and an L2 penalty.

    Minimises 1/(Σ s) Σ_i s_i (e^{z_i} − y_i z_i) + (α/2)‖w‖² with z_i = x_i·w + b, that is
    ``Problem`` with λ = α, where s are sample weights. ``decision_radius`` is about z, the
    logarithm of predictions. Counts y of exposures t are fitted with ``offset=np.log(t)``.
    """

    solver: str = "lbfgs"

    _solvers = POISSON_SOLVERS

    def _loss(self) -> Any:
        return losses.Poisson()

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predict the means of the counts.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            The logarithms of exposures. Without them predictions are rates for an exposure of 1.

        Returns
        -------
        array of shape (n_samples,)
        """
        return np.exp(self._linear(X, offset))

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """D², the share of the Poisson deviance that is explained.

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
        own = self._mean(X, offset)
        return float(d2_tweedie_score(y, own, sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
