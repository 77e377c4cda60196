"""What regressions of a mean with the logarithm as link share: predictions and their score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance

from dualgap.estimators.base import Strength
from dualgap.estimators.regressor import LinearRegressor
from dualgap.estimators.validated import POISSON_SOLVERS


@dataclass(eq=False, repr=False, kw_only=True)
class LogLinkRegressor(Strength, LinearRegressor):
    """The base of regressors that predict e^z."""

    solver: str = "lbfgs"

    _solvers = POISSON_SOLVERS

    def _deviance_power(self) -> float:
        """The power of the mean to which the variance is proportional."""
        raise NotImplementedError

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predict the means of the targets.

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
        """D², the share of the deviance that is explained.

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
        own, power = self._mean(X, offset), self._deviance_power()
        return float(d2_tweedie_score(y, own, sample_weight=sample_weight, power=power))

    def _deviance(self, y: Any, mean: Any, weights: Any) -> float:
        power = self._deviance_power()
        return float(mean_tweedie_deviance(y, mean, sample_weight=weights, power=power))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
