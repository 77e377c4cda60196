"""Estimators whose data are in partitions: scikit-learn's interface to what Dask holds.

``fit`` takes what ``distributed.fit`` takes. Predictions for collections of Dask are collections,
computed when somebody asks; for data in memory they are arrays, as on one machine.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if

from dualgap import estimators
from dualgap.distributed.estimators import fit
from dualgap.distributed.lazy import is_collection, predicted
from dualgap.distributed.scores import score_of


def _predicts(name: str, words: str) -> Any:
    """A method that there is if the estimator for one machine has it."""

    def predict(self: Any, X: Any, offset: Any = None) -> Any:
        return self._predicted(name, X, offset)

    predict.__name__, predict.__doc__ = name, words
    return available_if(lambda model: hasattr(super(OnPartitions, model), name))(predict)


class OnPartitions:
    """A mixin for estimators."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        client: Any = None,
        scheme: str = "auto",
        **options: Any,
    ) -> Any:
        """Fit the model to partitions and prove how good it is.

        Parameters
        ----------
        X : Dask array or dataframe, list of partitions, what ``from_libsvm`` returns, or in memory
        y, sample_weight : Dask or other arrays; for a dataframe also Dask series or column names
            Not for a list of partitions, which contain their own.
        client : Dask client, int or MPI communicator, optional
            By default the active Dask client, or threads of this process if there is none.
        scheme, **options
            As for ``distributed.solve``.

        Returns
        -------
        self
        """
        return fit(self, X, y, sample_weight, client=client, scheme=scheme, **options)

    def _predicted(self, name: str, X: Any, offset: Any) -> Any:
        if is_collection(X):
            return predicted(self, name, X, offset)
        own = getattr(super(), name)
        return own(X) if offset is None else own(X, offset=offset)

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Predict: a Dask array, for a dataframe a series, and for data in memory an array."""
        return self._predicted("predict", X, offset)

    decision_function = _predicts(
        "decision_function", "Decision values, with a column for each class if there are several."
    )
    predict_proba = _predicts("predict_proba", "Probabilities, with a column for each class.")
    predict_log_proba = _predicts("predict_log_proba", "The logarithms of ``predict_proba``.")

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None
    ) -> float:
        """The share of right classes, R² or D², as on one machine.

        Parameters
        ----------
        X, y, sample_weight, client
            As for ``fit``.

        Returns
        -------
        float
        """
        return score_of(self, X, y, sample_weight, client)


def _on_partitions(name: str) -> Any:
    """The estimator of this name for data in partitions."""
    model = getattr(estimators, name)
    words = (model.__doc__ or "").split("\n\n    Attributes")[0].rstrip()
    return type(
        name,
        (OnPartitions, model),
        {"__module__": __name__, "__doc__": f"For data in partitions: {words.lstrip()}\n    "},
    )


CertifiedClassifier = _on_partitions("CertifiedClassifier")
CertifiedRegressor = _on_partitions("CertifiedRegressor")
ElasticNet = _on_partitions("ElasticNet")
ElasticNetCV = _on_partitions("ElasticNetCV")
GammaRegressor = _on_partitions("GammaRegressor")
HuberRegression = _on_partitions("HuberRegression")
Lasso = _on_partitions("Lasso")
LassoCV = _on_partitions("LassoCV")
LinearSVC = _on_partitions("LinearSVC")
LinearSVCCV = _on_partitions("LinearSVCCV")
LinearSVR = _on_partitions("LinearSVR")
LinearSVRCV = _on_partitions("LinearSVRCV")
LogisticRegression = _on_partitions("LogisticRegression")
LogisticRegressionCV = _on_partitions("LogisticRegressionCV")
NegativeBinomialRegressor = _on_partitions("NegativeBinomialRegressor")
PoissonRegressor = _on_partitions("PoissonRegressor")
PoissonRegressorCV = _on_partitions("PoissonRegressorCV")
QuantileRegressor = _on_partitions("QuantileRegressor")
Ridge = _on_partitions("Ridge")
RidgeCV = _on_partitions("RidgeCV")
RidgeClassifier = _on_partitions("RidgeClassifier")
TweedieRegressor = _on_partitions("TweedieRegressor")
