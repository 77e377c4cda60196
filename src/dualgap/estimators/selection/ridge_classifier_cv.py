"""Classification by least squares on labels, with alpha chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV

from dualgap.estimators.docstrings import documented
from dualgap.estimators.ridge import RidgeClassifier
from dualgap.estimators.selection.folds import FOLD_JOBS
from dualgap.estimators.selection.ridge_cv import RidgeCV
from dualgap.estimators.validated import sample_weights, training_data
from dualgap.linalg.validate import Floats


class _Predicted(ClassifierMixin, BaseEstimator):
    """For scorers: a classifier whose X are its decision values."""

    def __init__(self, model: Any = None) -> None:
        self.model = model
        self.classes_ = model.classes_

    def decision_function(self, X: Any) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return self.model._labels_of(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True


@documented(
    "alphas fit_intercept scoring cv class_weight store_cv_results tol n_jobs verbose random_state",
    attributes={
        "alpha_": """float
    The chosen alpha.""",
        "best_score_": "float",
        "cv_results_": """array of shape (n_samples, n_classes, n_alphas)
    Squared errors of left-out samples, times their weights; decision values if ``scoring`` is
    given.""",
    },
    alphas="""array or number, default (0.1, 1.0, 10.0)
    The candidates, all > 0 (≥ 0 if ``cv`` is given).""",
    scoring="""str or callable, optional
    By default the negative mean squared error for leave-one-out, accuracy for folds.""",
    cv="""int, splitter or iterable of pairs, optional
    Folds; by default every sample is left out once, in closed form.""",
    store_cv_results="""bool, default False
    Whether to keep ``cv_results_``; for leave-one-out only.""",
    n_jobs=FOLD_JOBS,
)
@dataclass(eq=False, repr=False, kw_only=True)
class RidgeClassifierCV(RidgeClassifier):
    """``RidgeClassifier``, with alpha chosen by cross-validation, and a certified fit.

    Minimises Σ_i s_i (y_i − x_i·w − b)² + α‖w‖² for labels −1 and 1, that is ``Problem`` with
    λ = α/Σ s, where s are sample weights times class weights.
    """

    alphas: Any = field(default=(0.1, 1.0, 10.0), kw_only=False)
    scoring: Any = None
    cv: Any = None
    store_cv_results: bool = False
    alpha: Any = field(default=1.0, init=False)
    copy_X: bool = field(default=True, init=False)  # noqa: N815 - scikit-learn's name
    solver: str = field(default="auto", init=False)
    warm_start: bool = field(default=False, init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Any:
        """Choose alpha, then fit to all samples, with a certificate.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Labels, or a column of 0 and 1 for each of several labels.
        sample_weight : array of shape (n_samples,), optional
            Used for fitting and for the scores of leave-one-out.
        offset : array, optional
            As for ``RidgeClassifier``; for leave-one-out only.

        Returns
        -------
        self
        """
        if self.cv is not None and self.store_cv_results:
            raise ValueError("store_cv_results=True is for leave-one-out, that is cv=None")
        if self.cv is not None and offset is not None:
            raise ValueError("offset is for leave-one-out, that is cv=None")
        choose = self._by_leave_one_out if self.cv is None else self._by_folds
        alpha, score, results = choose(X, y, sample_weight, offset)
        self.alpha = alpha
        try:
            super().fit(X, y, sample_weight, offset)
        finally:
            del self.alpha  # it is no parameter here
        self.alpha_, self.best_score_ = alpha, score
        if self.store_cv_results:
            self.cv_results_ = results
        return self

    def _by_leave_one_out(
        self, X: Any, y: Any, sample_weight: Any, offset: Any
    ) -> tuple[float, float, Any]:
        X, y = training_data(self, X, y, multi_output=True)
        Y, y = self._targets(y)
        weights = self._weights(y, sample_weights(sample_weight, X.shape[0]))
        scored = self.scoring is not None
        chooser = RidgeCV(
            self.alphas,
            fit_intercept=self.fit_intercept,
            # With any scoring, predictions are kept in the place of errors.
            scoring="neg_mean_squared_error" if scored else None,
            store_cv_results=True,
            tol=self.tol,
        )
        chooser.fit(X, Y, weights, offset)
        results = chooser.cv_results_
        if not scored:
            return chooser.alpha_, chooser.best_score_, results
        scores = self._scores_of(results, y)
        best = int(np.argmax(scores))
        return float(np.atleast_1d(self.alphas)[best]), float(scores[best]), results

    def _scores_of(self, decisions: Floats, y: Any) -> Floats:
        """The score of the decision values of each alpha."""
        model, scorer = _Predicted(self), check_scoring(self, self.scoring)
        values = np.moveaxis(decisions.reshape(len(y), -1, decisions.shape[-1]), 2, 0)
        return np.array([scorer(model, v.ravel() if v.shape[1] == 1 else v, y) for v in values])

    def _by_folds(
        self, X: Any, y: Any, sample_weight: Any, offset: Any
    ) -> tuple[float, float, None]:
        names = ("fit_intercept", "class_weight", "tol", "max_iter", "positive", "random_state")
        one = RidgeClassifier(**{name: getattr(self, name) for name in names})
        grid = {"alpha": np.atleast_1d(self.alphas)}
        search = GridSearchCV(
            one, grid, scoring=self.scoring, cv=self.cv, n_jobs=self.n_jobs, refit=False
        )
        search.fit(X, y, sample_weight=sample_weight)
        return float(search.best_params_["alpha"]), float(search.best_score_), None
