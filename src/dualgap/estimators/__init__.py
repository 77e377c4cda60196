"""Estimators with scikit-learn's names and parameters, each fit with a proof.

Changing the import is enough; what a certificate adds is in ``certificate_``, ``decision_radius``,
``predict_certified`` and ``support_certified_``. Proofs for scikit-learn's own: ``distance``.
"""

from dualgap.estimators.certified import CertifiedClassifier, CertifiedRegressor
from dualgap.estimators.lasso import ElasticNet, Lasso
from dualgap.estimators.logistic import LogisticRegression
from dualgap.estimators.poisson import PoissonRegressor
from dualgap.estimators.ridge import Ridge, RidgeClassifier
from dualgap.estimators.robust import HuberRegression, QuantileRegressor
from dualgap.estimators.selection.lasso_cv import ElasticNetCV, LassoCV
from dualgap.estimators.selection.logistic_cv import LogisticRegressionCV
from dualgap.estimators.selection.paths import enet_path, lasso_path, logistic_path
from dualgap.estimators.selection.ridge_cv import RidgeCV
from dualgap.estimators.svm import LinearSVC, LinearSVR

__all__ = [
    "CertifiedClassifier",
    "CertifiedRegressor",
    "ElasticNet",
    "ElasticNetCV",
    "HuberRegression",
    "Lasso",
    "LassoCV",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "enet_path",
    "lasso_path",
    "logistic_path",
]
