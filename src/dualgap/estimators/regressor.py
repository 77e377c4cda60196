"""Regression: one problem for each target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot

from dualgap.estimators.base import CertifiedModel
from dualgap.estimators.fits import Subproblem, with_callbacks
from dualgap.estimators.offsets import checked_offset, plus_offset, with_offset
from dualgap.estimators.scores import r_squared
from dualgap.estimators.validated import sample_weights, training_data
from dualgap.proof.predictions import CertifiedPredictions


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegressor(CertifiedPredictions, RegressorMixin, CertifiedModel):
    """The base of regressors."""

    _several_targets = False

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Any:
        """Fit the model and prove how good it is.

        Parameters
        ----------
        X : array, CSR or CSC matrix of shape (n_samples, n_features)
            float32 and float64 are read in place.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets; several columns only if the model allows them.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; a weight of 2 is the same as a repeated sample.
        offset : array of shape (n_samples,) or (n_samples, n_targets), optional
            Added to x·w + b; with a logarithmic link it is the logarithm of the exposure.

        Returns
        -------
        self
        """
        X, y = training_data(self, X, y, y_numeric=True, multi_output=self._several_targets)
        own = None if offset is None else offset_of_targets(offset, y)
        return self._fit_checked(X, y, sample_weights(sample_weight, len(y)), own)

    def _fit_checked(self, X: Any, y: Any, weights: Any, offset: Any = None) -> Any:
        y = np.asarray(y, dtype=np.float64)
        targets = [y] if y.ndim == 1 else list(np.ascontiguousarray(y.T))
        subproblems = self._subproblems(targets, weights, X.shape[1])
        if offset is not None:
            subproblems = with_offset(subproblems, offset)
        self._complete(X, y, weights, subproblems, single=len(targets) == 1)
        if y.ndim == 2 and self._intercept() and len(targets) == 1:
            self.intercept_ = np.atleast_1d(self.intercept_)  # scikit-learn's shape
        return self

    def _subproblems(self, targets: list[Any], weights: Any, p: int) -> list[Subproblem]:
        return [self._subproblem(y, weights, p) for y in targets]

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predict the targets.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_targets), optional
            Added to x·w + b.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._linear(X, offset)

    def _linear(self, X: Any, offset: Any = None) -> Any:
        own = safe_sparse_dot(self._read(X), self.coef_.T, dense_output=True) + self.intercept_
        return plus_offset(own, offset, shared=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """R², the share of the variance of y that predictions explain.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
        offset : array, optional
            As for ``predict``.

        Returns
        -------
        float
        """
        return r_squared(y, self._mean(X, offset), sample_weight)

    def _deviance(self, y: Any, mean: Any, weights: Any) -> float:
        """The mean deviance of y from predictions, whose explained share is the score."""
        return float(np.average((y - mean) ** 2, weights=weights))

    def _mean(self, X: Any, offset: Any) -> Any:
        """Predictions; those of a subclass of a user may know no offset."""
        return self.predict(X) if offset is None else self.predict(X, offset=offset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._several_targets
        tags.target_tags.single_output = True
        return tags


def offset_of_targets(offset: Any, y: Any) -> Any:
    """The offsets of targets y, checked: one for each sample, or for each sample and target."""
    return checked_offset(offset, len(y), 1 if np.ndim(y) == 1 else np.shape(y)[1], shared=True)
