"""Predictions that the exact optimum shares: mixins for estimators and stored models."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.proof.radius import row_squares


def coef_rows(coef: Any) -> Floats:
    """Dense coefficients with a row for each decision value, from dense or sparse ones."""
    coef = coef.toarray() if storage.is_sparse(coef) else coef
    return np.atleast_2d(np.asarray(coef, dtype=np.float64))


class CertifiedPredictions:
    """Bounds on the decision values of the exact optimum."""

    _joint: bool  # whether one problem has a column of coefficients for each class
    _radii: Any
    _read: Any
    coef_: Any
    intercept_: Any

    def decision_radius(self, X: Any, offset: Any = None) -> Floats:
        """How far each decision value x·w + b can be from that of the exact optimum.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of the shape of the decision values, optional
            Added to them and to those of the optimum; it matters for rounding errors only.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
            Includes rounding errors of the decision values. Infinite if nothing is proven, as for
            penalties that are not strongly convex, such as L1. With a softmax loss, a constant can
            be added to all intercepts: the distance is that from the optimum with the same mean.
        """
        data = self._data(X)
        rounding = self._rounding(data, offset)
        if self._joint:
            one = self._radii[0]
            columns = one.of_features(data)[:, None] + np.broadcast_to(
                one.intercept, rounding.shape[1]
            )
        else:
            columns = np.stack([r.of_features(data) + r.intercept for r in self._radii], axis=1)
        found = np.asarray(columns + rounding)
        return found.ravel() if found.shape[1] == 1 else found

    def _data(self, X: Any) -> Any:
        data = storage.as_data(self._read(X))
        if not hasattr(self, "_radii"):
            raise ValueError(
                "this model has no proof: its coefficients are a mean of several models (fit with "
                "refit=True), or without_proof() was called (fit again)"
            )
        judged = getattr(self, "_judged", None)  # models from files have none
        if judged is not None and not self._are_mine(*judged):
            raise ValueError(
                "coef_ or intercept_ was changed after the fit, so that its proof is about another "
                "model: fit again, or ask dualgap.certify about this one"
            )
        return data

    def _are_mine(self, coef: Floats, intercept: Any) -> bool:
        same = np.array_equal(coef_rows(self.coef_), coef)
        return same and np.array_equal(np.atleast_1d(self.intercept_), intercept)

    def _added(self) -> Any:
        """What decision values have on top of x·w."""
        return self.intercept_

    def _rounding(self, data: Any, offset: Any) -> Floats:
        """Bounds on the rounding error of x·w + b, for each row and output."""
        eps = np.finfo(np.result_type(data.dtype, self.coef_.dtype)).eps
        norms = np.sqrt(row_squares(data, np.ones(data.shape[1])))
        sizes = np.sqrt(np.sum(coef_rows(self.coef_) ** 2, axis=1))
        size = np.outer(norms, sizes) + np.abs(np.atleast_1d(self._added()))
        if offset is not None:
            own = np.abs(np.asarray(offset, dtype=np.float64))
            size = size + (own[:, None] if own.ndim == 1 else own)
        return np.asarray((data.shape[1] + 2.0) * eps * size)


class CertifiedClasses(CertifiedPredictions):
    """Which predicted classes are those of the exact optimum."""

    _scores: Any

    def predict_certified(self, X: Any, offset: Any = None) -> Any:
        """Whether each prediction is proven to be that of the exact optimum.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of the shape of the decision values, optional
            Added to them.

        Returns
        -------
        boolean array of shape (n_samples,), or (n_samples, n_labels) for several labels
        """
        scores = self._scores(X, offset)
        if scores.ndim == 1 or self._multilabel():
            return np.abs(scores) > self.decision_radius(X, offset)
        best = scores.argmax(axis=1)
        away = self._between_classes(X, best, offset)
        rows = np.arange(len(scores))
        margins = scores[rows, best][:, None] - scores
        margins[rows, best] = np.inf
        return (margins > away).all(axis=1)

    def _multilabel(self) -> bool:
        """Whether each column of scores is a prediction of its own."""
        return False

    def _between_classes(self, X: Any, best: Any, offset: Any) -> Floats:
        """Bounds on the error of the difference between the best and each other score."""
        rows = np.arange(len(best))
        if not self._joint:
            radii = self.decision_radius(X, offset)
            return np.asarray(radii + radii[rows, best][:, None])
        data = self._data(X)
        one = self._radii[0]
        rounding = self._rounding(data, offset)
        # ‖W − W*‖ is at most the radius. The difference of two columns is at most √2 times that.
        away = np.sqrt(2.0) * one.of_features(data)[:, None] + rounding
        away = away + rounding[rows, best][:, None]
        return np.asarray(away if one.between is None else away + one.between[best])
