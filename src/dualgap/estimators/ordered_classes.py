"""Predictions of classes that have an order, from one linear predictor and thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_expit
from sklearn.metrics import accuracy_score
from sklearn.utils.extmath import safe_sparse_dot

from dualgap.compile.scalar import EPS
from dualgap.estimators.offsets import plus_offset

_LOG_ERROR = 1e-12  # covers the rounding errors of logarithms of probabilities


class OrderedClasses:
    """A mixin for models with P(y ≤ k) = 1/(1 + exp(x·w − θ_k))."""

    classes_: Any
    coef_: Any
    thresholds_: Any
    _read: Any
    _data: Any
    _radii: Any
    _rounding: Any

    def linear_predictor(self, X: Any, offset: Any = None) -> Any:
        """x·w: the larger, the higher the class. ``decision_radius`` is about it.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            Added to x·w.

        Returns
        -------
        array of shape (n_samples,)
        """
        own = safe_sparse_dot(self._read(X), self.coef_, dense_output=True)
        return plus_offset(np.asarray(own).ravel(), offset)

    def decision_function(self, X: Any, offset: Any = None) -> Any:
        """The log-odds of the second of two classes, or the logarithms of the probabilities.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            Added to x·w.

        Returns
        -------
        array of shape (n_samples,), for more than two classes (n_samples, n_classes)
        """
        z = self.linear_predictor(X, offset)
        return z - self.thresholds_[0] if len(self.classes_) == 2 else self._log_proba(z)

    def predict_log_proba(self, X: Any, offset: Any = None) -> Any:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            Added to x·w.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._log_proba(self.linear_predictor(X, offset))

    def _log_proba(self, predictor: Any) -> Any:
        z = np.asarray(predictor, dtype=np.float64)[:, None]
        inner = self.thresholds_.astype(np.float64)
        upper, lower = np.append(inner, np.inf) - z, np.append(-np.inf, inner) - z
        return log_expit(upper) + log_expit(-lower) + log_of_gaps(inner)

    def predict_certified(self, X: Any, offset: Any = None) -> Any:
        """Whether each prediction is proven to be that of the exact optimum.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            Added to x·w.

        Returns
        -------
        boolean array of shape (n_samples,)
        """
        data, z = self._data(X), self.linear_predictor(X, offset).astype(np.float64)
        inner = self.thresholds_[np.isfinite(self.thresholds_)].astype(np.float64)
        inner = np.unique(inner)  # of classes that have samples: others have no probability
        radius = self._radii[0]
        apart = inner - z[:, None]
        away = radius.of_features(data)[:, None] + radius.intercept + self._rounding(data, offset)
        away = away + 4.0 * EPS * (np.abs(apart) + np.abs(inner))
        # The worst that thresholds within these bounds can do to each class.
        low, high = (np.pad(apart + sign * away, ((0, 0), (1, 1))) for sign in (-1.0, 1.0))
        for ends in (low, high):
            ends[:, 0], ends[:, -1] = -np.inf, np.inf
        with np.errstate(invalid="ignore"):
            least = _log_between(low[:, 1:], high[:, :-1])
            most = _log_between(high[:, 1:], low[:, :-1])
        rows, best = np.arange(len(z)), least.argmax(axis=1)
        sure = least[rows, best]
        most[rows, best] = -np.inf
        rival = most.max(axis=1)
        return sure - rival > _LOG_ERROR * (1.0 + np.abs(np.maximum(rival, sure)))

    def predict_proba(self, X: Any, offset: Any = None) -> Any:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            Added to x·w.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X, offset))

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predict the most probable class of each sample.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            Added to x·w.

        Returns
        -------
        array of shape (n_samples,)
        """
        best = self.predict_log_proba(X, offset).argmax(axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """The share of samples whose class is predicted.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        offset : array of shape (n_samples,), optional
            Added to x·w.

        Returns
        -------
        float
        """
        return float(accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight))


def _log_between(upper: Any, lower: Any) -> Any:
    """log(σ(u) − σ(v)) = log σ(u) + log σ(−v) + log(1 − e^{v−u}), without cancellation."""
    return log_expit(upper) + log_expit(-lower) + _log_of_gap(upper - lower)


def _log_of_gap(apart: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(apart > 0.0, np.log(-np.expm1(-apart)), -np.inf)


def log_of_gaps(thresholds: Any) -> Any:
    """log(1 − e^−g) for the gap g of each class; −∞ for classes without room."""
    ends = np.concatenate([[-np.inf], np.asarray(thresholds, np.float64), [np.inf]])
    with np.errstate(invalid="ignore"):
        return _log_of_gap(np.diff(ends))
