"""Regression: one problem for each target."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import validate_data

from dualgap.estimators import _checks
from dualgap.estimators._base import DTYPES, STORAGES, CertifiedModel
from dualgap.estimators._callbacks import seen, with_callbacks
from dualgap.estimators._fits import Task
from dualgap.proof.predictions import CertifiedPredictions


class LinearRegressor(CertifiedPredictions, RegressorMixin, CertifiedModel):
    """Fits and predicts numbers."""

    _several_targets = False

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model and prove how good it is.

        Parameters
        ----------
        X : array, CSR or CSC matrix of shape (n_samples, n_features)
            float32 and float64 are read in place.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Targets; several columns only where the model has them.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; a weight of 2 is the same as a repeated sample.

        Returns
        -------
        self
        """
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=STORAGES,
            dtype=DTYPES,
            y_numeric=True,
            multi_output=self._several_targets,
        )
        weights = _checks.sample_weights(sample_weight, X.shape[0])
        y = np.asarray(y, dtype=np.float64)
        tasks = self._tasks([y] if y.ndim == 1 else list(y.T), weights, X.shape[1])
        self._complete(X, tasks, seen(X, y, weights), single=len(tasks) == 1)
        if y.ndim == 2 and self._intercept() and len(tasks) == 1:
            self.intercept_ = np.atleast_1d(self.intercept_)  # as scikit-learn has it
        return self

    def _tasks(self, columns: list[Any], weights: Any, p: int) -> list[Task]:
        return [self._task(column, weights, p) for column in columns]

    def predict(self, X: Any) -> Any:
        """Predict the targets.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._linear(X)

    def _linear(self, X: Any) -> Any:
        return safe_sparse_dot(self._read(X), self.coef_.T, dense_output=True) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._several_targets
        tags.target_tags.single_output = True
        return tags
