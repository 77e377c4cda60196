"""Ridge regression, also of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import column_or_1d, validate_data

from dualgap import losses
from dualgap.estimators import _checks
from dualgap.estimators._base import DTYPES, STORAGES
from dualgap.estimators._callbacks import seen, with_callbacks
from dualgap.estimators._classes import LinearClassifier, class_weights
from dualgap.estimators._docs import documented
from dualgap.estimators._fits import Task
from dualgap.estimators._regressors import LinearRegressor
from dualgap.linalg.validate import number


@documented(
    alpha="""float or array of shape (n_targets,), default 1.0
    Strength of the penalty, for each target; 0 for none.""",
)
class Ridge(LinearRegressor):
    """Least squares with an L2 penalty.

    Minimises Σ_i s_i (y_i − x_i·w − b)² + α‖w‖², that is ``Problem`` with λ = α/Σ s, where s are
    sample weights. Each column of y is a problem of its own.
    """

    _several_targets = True

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        return losses.Squared()

    def _lam(self, total: float) -> float:
        return number(self.alpha, "alpha", 0.0) / total

    def _tasks(self, columns: list[Any], weights: Any, p: int) -> list[Task]:
        alphas = np.ravel(self.alpha)
        if len(alphas) not in (1, len(columns)):
            raise ValueError(
                f"alpha has {len(alphas)} entries for {len(columns)} targets: give one number, or "
                "one for each target"
            )
        total = _checks.total(weights, len(columns[0]))
        return [
            self._task(column, weights, p, number(alpha, "alpha", 0.0) / total)
            for column, alpha in zip(columns, np.broadcast_to(alphas, len(columns)))
        ]


@documented()
class RidgeClassifier(LinearClassifier):
    """Classification by least squares on labels −1 and 1.

    Minimises Σ_i s_i (y_i − x_i·w − b)² + α‖w‖², that is ``Problem`` with λ = α/Σ s, where s are
    sample weights times class weights. Each class of more than two, and each label of several, is a
    problem of its own.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        return losses.Squared()

    def _lam(self, total: float) -> float:
        return number(self.alpha, "alpha", 0.0) / total

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model and prove how good it is.

        Parameters
        ----------
        X : array, CSR or CSC matrix of shape (n_samples, n_features)
            float32 and float64 are read in place.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Labels, or a column of 0 and 1 for each of several labels.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; a weight of 2 is the same as a repeated sample.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, accept_sparse=STORAGES, dtype=DTYPES, multi_output=True)
        self._labels = LabelBinarizer(pos_label=1, neg_label=-1).fit(y)
        several = self._labels_apart()
        y = y if several else column_or_1d(y, warn=True)
        weights = _checks.sample_weights(sample_weight, X.shape[0])
        Y = self._labels.transform(y).astype(np.float64)
        self.classes_ = self._labels.classes_
        tasks = [self._task(column, self._weights(y, weights), X.shape[1]) for column in Y.T]
        return self._complete(X, tasks, seen(X, y, weights), single=False)

    def _weights(self, y: Any, weights: Any) -> Any:
        if self.class_weight is None:
            return weights
        if self._labels_apart():
            factors = compute_sample_weight(self.class_weight, y)
        else:
            indices = np.searchsorted(self.classes_, y)
            by_class = class_weights(self.class_weight, self.classes_, indices, weights)
            factors = np.asarray(by_class)[indices]
        return factors if weights is None else weights * factors

    def _labels_apart(self) -> bool:
        return bool(self._labels.y_type_.startswith("multilabel"))

    def predict(self, X: Any) -> Any:
        """Predict the class, or the labels, of each sample.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_labels)
        """
        if "_labels" in vars(self) and self._labels_apart():
            scores = self.decision_function(X).reshape(-1, len(self.coef_))
            return self._labels.inverse_transform(np.where(scores > 0.0, 1.0, -1.0))
        return super().predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
