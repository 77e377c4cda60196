"""Estimators with scikit-learn's names and parameters, each fit with a proof.

Changing the import is enough; what a certificate adds is in ``certificate_``, ``decision_radius``,
``predict_certified`` and ``support_certified_``.
"""

from dualgap.estimators.certified import CertifiedClassifier, CertifiedRegressor
from dualgap.estimators.lasso import ElasticNet, Lasso
from dualgap.estimators.logistic import LogisticRegression
from dualgap.estimators.poisson import PoissonRegressor
from dualgap.estimators.ridge import Ridge, RidgeClassifier
from dualgap.estimators.robust import HuberRegression, QuantileRegressor
from dualgap.estimators.svm import LinearSVC, LinearSVR

__all__ = [
    "CertifiedClassifier",
    "CertifiedRegressor",
    "ElasticNet",
    "HuberRegression",
    "Lasso",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "RidgeClassifier",
]
