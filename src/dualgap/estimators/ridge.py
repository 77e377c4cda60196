"""Ridge regression, also of labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import column_or_1d

from dualgap import losses
from dualgap.estimators.base import MOST, Strength, total_weight
from dualgap.estimators.classifier import LinearClassifier, class_weights
from dualgap.estimators.docstrings import documented
from dualgap.estimators.exact_least_squares import ExactDecomposition, decomposed
from dualgap.estimators.fits import Fit, Subproblem, with_callbacks
from dualgap.estimators.offsets import checked_offset, with_offset
from dualgap.estimators.regressor import LinearRegressor
from dualgap.estimators.ridge_targets import coefficients_of_targets
from dualgap.estimators.validated import RIDGE_SOLVERS, sample_weights, training_data
from dualgap.linalg.validate import Floats, number

_SOLVER = {"solver_": "str\nWhat ``solver`` was; ``solution_`` names the method."}


@dataclass(eq=False, repr=False, kw_only=True)
class _SquaredL2(Strength):
    """Σ_i s_i (y_i − x_i·w − b)² + α‖w‖², for numbers and for labels."""

    alpha: Any = field(default=1.0, kw_only=False)
    copy_X: bool = True  # noqa: N815 - scikit-learn's name
    max_iter: int | None = None
    solver: str = "auto"

    _solvers = RIDGE_SOLVERS

    def _loss(self) -> Any:
        return losses.Squared()

    def _lam(self, total: float) -> float:
        return super()._lam(total) / total

    def _publish(self: Any, fits: list[Fit], *, single: bool) -> None:
        super()._publish(fits, single=single)
        self.solver_ = self.solver

    def _complete(
        self: Any, X: Any, y: Any, weights: Any, subproblems: list[Subproblem], *, single: bool
    ) -> Any:
        """As for any estimator, but coefficients of several targets, and those under hardly a
        penalty, are found beforehand."""
        known = None
        if self._may_start_solved():
            alphas = np.broadcast_to(np.ravel(self.alpha), len(subproblems)).astype(np.float64)
            data = self._decomposed(X, subproblems[0].weights, alphas)
            if data is not None:
                known = data.coefficients(subproblems, alphas)
            elif alphas.all():
                known = coefficients_of_targets(X, subproblems, self._intercept())
        if known is not None:
            self._starts_solved, self._known = True, known
        try:
            return super()._complete(X, y, weights, subproblems, single=single)
        finally:
            if known is not None:
                del self._starts_solved, self._known

    def _decomposed(self: Any, X: Any, weights: Any, alphas: Floats) -> ExactDecomposition | None:
        return decomposed(X, weights, alphas, self._intercept())

    def _may_start_solved(self: Any) -> bool:
        """Whether no one wants runs of ``solve``: with another method, or to be told of rounds."""
        told = self.callback is not None or getattr(self, "_skl_callbacks", None)
        own = self.method == "auto" and self.sampling is None and self.max_iter != 0
        own = own and self._treats_columns_alike and not self.positive
        return own and not (told or self._starts_solved)

    def _starts(self: Any, X: Any, count: int) -> list[Any]:
        if "_known" in vars(self):
            return [(coef, float(b), None) for coef, b in zip(*self._known)]
        return list(super()._starts(X, count))


@documented(
    "alpha fit_intercept copy_X max_iter tol solver",
    attributes=_SOLVER,
    alpha="""float or array of shape (n_targets,), default 1.0
    Strength of the penalty, for each target; 0 for none.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class Ridge(_SquaredL2, LinearRegressor):
    """Least squares with an L2 penalty.

    Minimises Σ_i s_i (y_i − x_i·w − b)² + α‖w‖², that is ``Problem`` with λ = α/Σ s, where s are
    sample weights. Each column of y is a problem of its own.
    """

    _several_targets = True

    def _subproblems(self, targets: list[Any], weights: Any, p: int) -> list[Subproblem]:
        alphas = np.ravel(self.alpha)
        if len(alphas) not in (1, len(targets)):
            raise ValueError(
                f"alpha has {len(alphas)} entries for {len(targets)} targets: give one number, or "
                "one for each target"
            )
        total = total_weight(weights, len(targets[0]))
        return [
            self._subproblem(y, weights, p, number(alpha, "alpha", 0.0, MOST) / total)
            for y, alpha in zip(targets, np.broadcast_to(alphas, len(targets)))
        ]


@documented("alpha fit_intercept copy_X max_iter tol class_weight solver", attributes=_SOLVER)
@dataclass(eq=False, repr=False, kw_only=True)
class RidgeClassifier(_SquaredL2, LinearClassifier):
    """Classification by least squares on labels −1 and 1.

    Minimises Σ_i s_i (y_i − x_i·w − b)² + α‖w‖², that is ``Problem`` with λ = α/Σ s, where s are
    sample weights times class weights. Each class of more than two, and each label of several, is a
    problem of its own.
    """

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Any:
        """Fit the model and prove how good it is.

        Parameters
        ----------
        X : array, CSR or CSC matrix of shape (n_samples, n_features)
            float32 and float64 are read in place.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Labels, or a column of 0 and 1 for each of several labels.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; a weight of 2 is the same as a repeated sample.
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the decision values, of which there are as many as ``decision_function`` has.

        Returns
        -------
        self
        """
        X, y = training_data(self, X, y, multi_output=True)
        Y, y = self._targets(y)
        weights = sample_weights(sample_weight, X.shape[0])
        own = self._weights(y, weights)
        subproblems = [self._subproblem(column, own, X.shape[1]) for column in Y.T]
        if offset is not None:
            subproblems = with_offset(subproblems, checked_offset(offset, len(Y), Y.shape[1]))
        return self._complete(X, y, weights, subproblems, single=False)

    def _targets(self, y: Any) -> tuple[Any, Any]:
        """A column of −1 and 1 for each problem, and the labels; learns the classes."""
        self._labels = LabelBinarizer(pos_label=1, neg_label=-1).fit(y)
        y = y if self._multilabel() else column_or_1d(y, warn=True)
        self.classes_ = self._labels.classes_
        return self._labels.transform(y).astype(np.float64), y

    def _weights(self, y: Any, weights: Any) -> Any:
        if self.class_weight is None:
            return weights
        if self._multilabel():
            factors = compute_sample_weight(self.class_weight, y)
        else:
            indices = np.searchsorted(self.classes_, y)
            by_class = class_weights(self.class_weight, self.classes_, indices, weights)
            factors = np.asarray(by_class)[indices]
        return factors if weights is None else weights * factors

    def _multilabel(self) -> bool:
        labels = vars(self).get("_labels")  # a fit to partitions has one label for each sample
        return labels is not None and bool(labels.y_type_.startswith("multilabel"))

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predict the class, or the labels, of each sample.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array, optional
            As for ``decision_function``.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_labels)
        """
        return self._labels_of(self._scores(X, offset))

    def _labels_of(self, scores: Any) -> Any:
        """The classes, or the labels, that belong to decision values."""
        if self._multilabel():
            scores = scores.reshape(len(scores), -1)
            return self._labels.inverse_transform(np.where(scores > 0.0, 1.0, -1.0))
        return super()._labels_of(scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
