"""Classification: labels, class weights, and one problem for all classes or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from dualgap.estimators.base import CertifiedModel
from dualgap.estimators.fits import Subproblem, with_callbacks
from dualgap.estimators.offsets import checked_offset, plus_offset, with_offset
from dualgap.estimators.scores import accuracy
from dualgap.estimators.validated import labelled_data, sample_weights
from dualgap.linalg.validate import Floats
from dualgap.proof.predictions import CertifiedClasses
from dualgap.run.snapshot import Snapshot


@dataclass(eq=False, repr=False, kw_only=True)
class LinearClassifier(CertifiedClasses, ClassifierMixin, CertifiedModel):
    """The base of classifiers."""

    class_weight: Any = None

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Any:
        """Fit the model and prove how good it is.

        Parameters
        ----------
        X : array, CSR or CSC matrix of shape (n_samples, n_features)
            float32 and float64 are read in place.
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; a weight of 2 is the same as a repeated sample.
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the decision values, of which there are as many as ``decision_function`` has.

        Returns
        -------
        self
        """
        X, y = labelled_data(self, X, y)
        return self._fit_checked(X, y, sample_weights(sample_weight, X.shape[0]), offset)

    def _fit_checked(self, X: Any, y: Any, weights: Any, offset: Any = None) -> Any:
        self.classes_, indices = np.unique(y, return_inverse=True)
        refuse_one_class(self.classes_, self)
        self._joint = self._is_joint(len(self.classes_))
        subproblems = self._subproblems(indices, weights, X.shape[1])
        if offset is not None:
            columns = len(self.classes_) if self._joint else len(subproblems)
            subproblems = with_offset(subproblems, checked_offset(offset, len(y), columns))
        return self._complete(X, y, weights, subproblems, single=False)

    # --- what a subclass may change ------------------------------------------------------------

    def _is_joint(self, classes: int) -> bool:
        """Whether one problem has coefficients for all classes."""
        return False

    def _weights_of(self, k: int | None, indices: Any, weights: Any, by_class: Any) -> Any:
        """Sample weights in the problem of class k against the rest; None for a single problem."""
        if by_class is None:
            return weights
        own = by_class[indices]
        return own if weights is None else weights * own

    # -------------------------------------------------------------------------------------------

    def _subproblems(self, indices: Any, weights: Any, p: int) -> list[Subproblem]:
        by_class = class_weights(self.class_weight, self.classes_, indices, weights)

        def one(k: int | None, y: Any) -> Subproblem:
            return self._subproblem(y, self._weights_of(k, indices, weights, by_class), p)

        count = len(self.classes_)
        if self._joint:
            return [one(None, indices)]
        if count == 2:
            return [one(None, 2.0 * indices - 1.0)]
        return [one(k, np.where(indices == k, 1.0, -1.0)) for k in range(count)]

    def decision_function(self, X: Any, offset: Any = None) -> Any:
        """Decision values x·w + b.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of the shape of the result, optional
            Added to them.

        Returns
        -------
        array of shape (n_samples,), for more than two classes (n_samples, n_classes)
            Multiclass losses have a column for each class, also for two.
        """
        scores = safe_sparse_dot(self._read(X), self.coef_.T, dense_output=True) + self.intercept_
        return plus_offset(scores.ravel() if scores.shape[1] == 1 else scores, offset)

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array, optional
            As for ``decision_function``.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._labels_of(self._scores(X, offset))

    def _labels_of(self, scores: Any) -> Any:
        """The classes that belong to decision values."""
        best = (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def _scores(self, X: Any, offset: Any) -> Any:
        """Decision values; those of a subclass of a user may know no offset."""
        if offset is None:
            return self.decision_function(X)
        return self.decision_function(X, offset=offset)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """The share of samples whose class is predicted.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        offset : array, optional
            As for ``decision_function``.

        Returns
        -------
        float
        """
        predicted = self.predict(X) if offset is None else self.predict(X, offset=offset)
        return accuracy(y, predicted, sample_weight)

    def densify(self) -> Any:
        """Store ``coef_`` as an array again."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def sparsify(self) -> Any:
        """Store ``coef_`` as a CSR matrix, which pays when most coefficients are zero."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def _as_fitted(self, snapshot: Snapshot) -> dict[str, Any]:
        return {
            "coef_": np.atleast_2d(snapshot.coef.T),
            "intercept_": np.atleast_1d(snapshot.intercept),
        }


def refuse_one_class(classes: Any, model: Any) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"{type(model).__name__} needs labels of at least two classes, but y has one class "
            f"only: {np.asarray(classes).tolist()[0]!r}"
        )


def class_weights(class_weight: Any, classes: Any, indices: Any, weights: Any) -> Floats | None:
    """A factor for each class; None if all are 1.

    "balanced" counts sample weights, so that a weight of 2 is the same as a repeated sample.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(indices, weights, minlength=len(classes)).astype(np.float64)
        return np.asarray(sums.sum() / (len(classes) * np.where(sums > 0.0, sums, np.inf)))
    found = np.asarray(compute_class_weight(class_weight, classes=classes, y=classes[indices]))
    if not (found >= 0.0).all():
        raise ValueError(f"class_weight has numbers that are not >= 0: {class_weight!r}")
    return found
