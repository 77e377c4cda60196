"""Estimators with scikit-learn's names and parameters; every fit has a certificate.

Changing the import is enough, but for the intercepts of ``LinearSVC`` and ``LinearSVR``: these are
not penalised, unless ``intercept_penalty="l2"``. The certificate adds ``certificate_``,
``decision_radius``, ``predict_certified`` and ``support_certified_``. ``dualgap.certify`` proves
the same for models of scikit-learn and other libraries.

A new estimator is a file and a line in ``MODULES``; type checkers read the imports below it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Loaded when first used, since scikit-learn takes long to import. ``dualgap`` exports them as well.
MODULES = {
    "CertifiedClassifier": "certified",
    "CertifiedRegressor": "certified",
    "ElasticNet": "lasso",
    "ElasticNetCV": "selection.lasso_cv",
    "GammaRegressor": "glm",
    "GroupLasso": "group_lasso",
    "GroupLassoCV": "selection.group_lasso_cv",
    "HuberRegression": "robust",
    "Lasso": "lasso",
    "LassoCV": "selection.lasso_cv",
    "LinearRegression": "linear_regression",
    "LinearSVC": "svm",
    "LinearSVCCV": "selection.strength_cv",
    "LinearSVR": "svm",
    "LinearSVRCV": "selection.strength_cv",
    "LogisticRegression": "logistic",
    "LogisticRegressionCV": "selection.logistic_cv",
    "MultiTaskElasticNet": "multi_task",
    "MultiTaskElasticNetCV": "selection.multi_task_cv",
    "MultiTaskLasso": "multi_task",
    "MultiTaskLassoCV": "selection.multi_task_cv",
    "NegativeBinomialRegressor": "glm",
    "OneClassSVM": "one_class",
    "OrdinalLogisticRegression": "ordinal",
    "PoissonRegressor": "poisson",
    "PoissonRegressorCV": "selection.strength_cv",
    "QuantileRegressor": "robust",
    "QuantileRegressorCV": "selection.strength_cv",
    "Ridge": "ridge",
    "RidgeCV": "selection.ridge_cv",
    "RidgeClassifier": "ridge",
    "RidgeClassifierCV": "selection.ridge_classifier_cv",
    "TweedieRegressor": "glm",
    "SparseGroupLasso": "group_lasso",
    "SparseGroupLassoCV": "selection.group_lasso_cv",
    "enet_path": "selection.paths",
    "lasso_path": "selection.paths",
    "logistic_path": "selection.paths",
}

__all__ = list(MODULES)

if TYPE_CHECKING:
    from dualgap.estimators.certified import CertifiedClassifier as CertifiedClassifier
    from dualgap.estimators.certified import CertifiedRegressor as CertifiedRegressor
    from dualgap.estimators.glm import GammaRegressor as GammaRegressor
    from dualgap.estimators.glm import NegativeBinomialRegressor as NegativeBinomialRegressor
    from dualgap.estimators.glm import TweedieRegressor as TweedieRegressor
    from dualgap.estimators.group_lasso import GroupLasso as GroupLasso
    from dualgap.estimators.group_lasso import SparseGroupLasso as SparseGroupLasso
    from dualgap.estimators.lasso import ElasticNet as ElasticNet
    from dualgap.estimators.lasso import Lasso as Lasso
    from dualgap.estimators.linear_regression import LinearRegression as LinearRegression
    from dualgap.estimators.logistic import LogisticRegression as LogisticRegression
    from dualgap.estimators.multi_task import MultiTaskElasticNet as MultiTaskElasticNet
    from dualgap.estimators.multi_task import MultiTaskLasso as MultiTaskLasso
    from dualgap.estimators.one_class import OneClassSVM as OneClassSVM
    from dualgap.estimators.ordinal import (
        OrdinalLogisticRegression as OrdinalLogisticRegression,
    )
    from dualgap.estimators.poisson import PoissonRegressor as PoissonRegressor
    from dualgap.estimators.ridge import Ridge as Ridge
    from dualgap.estimators.ridge import RidgeClassifier as RidgeClassifier
    from dualgap.estimators.robust import HuberRegression as HuberRegression
    from dualgap.estimators.robust import QuantileRegressor as QuantileRegressor
    from dualgap.estimators.selection.group_lasso_cv import GroupLassoCV as GroupLassoCV
    from dualgap.estimators.selection.group_lasso_cv import (
        SparseGroupLassoCV as SparseGroupLassoCV,
    )
    from dualgap.estimators.selection.lasso_cv import ElasticNetCV as ElasticNetCV
    from dualgap.estimators.selection.lasso_cv import LassoCV as LassoCV
    from dualgap.estimators.selection.logistic_cv import (
        LogisticRegressionCV as LogisticRegressionCV,
    )
    from dualgap.estimators.selection.multi_task_cv import (
        MultiTaskElasticNetCV as MultiTaskElasticNetCV,
    )
    from dualgap.estimators.selection.multi_task_cv import MultiTaskLassoCV as MultiTaskLassoCV
    from dualgap.estimators.selection.paths import enet_path as enet_path
    from dualgap.estimators.selection.paths import lasso_path as lasso_path
    from dualgap.estimators.selection.paths import logistic_path as logistic_path
    from dualgap.estimators.selection.ridge_classifier_cv import (
        RidgeClassifierCV as RidgeClassifierCV,
    )
    from dualgap.estimators.selection.ridge_cv import RidgeCV as RidgeCV
    from dualgap.estimators.selection.strength_cv import LinearSVCCV as LinearSVCCV
    from dualgap.estimators.selection.strength_cv import LinearSVRCV as LinearSVRCV
    from dualgap.estimators.selection.strength_cv import PoissonRegressorCV as PoissonRegressorCV
    from dualgap.estimators.selection.strength_cv import QuantileRegressorCV as QuantileRegressorCV
    from dualgap.estimators.svm import LinearSVC as LinearSVC
    from dualgap.estimators.svm import LinearSVR as LinearSVR


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{MODULES[name]}"), name)
    globals()[name] = found  # found without this function from now on
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULES})
