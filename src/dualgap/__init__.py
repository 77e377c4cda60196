"""Linear models with a proof: every fit comes with a bound on how far it is from the best one."""

from typing import Any

from dualgap import datasets, losses, methods, penalties, samplings, steps, theory
from dualgap.certificate import Certificate
from dualgap.certifying import CertificateSum, certify
from dualgap.problem import Problem
from dualgap.recording import Recording
from dualgap.solution import Solution
from dualgap.solve import solve

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Imported when asked for, since scikit-learn and others take long to import.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    if name in ("distributed", "plots", "report"):
        return importlib.import_module(f"dualgap.{name}")
    if name in ("load_model", "save_model"):
        return getattr(importlib.import_module("dualgap.model_file"), name)
    estimators = importlib.import_module("dualgap.estimators")
    return estimators if name == "estimators" else getattr(estimators, name)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "Certificate",
    "CertificateSum",
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
    "Problem",
    "QuantileRegressor",
    "Recording",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "Solution",
    "certify",
    "datasets",
    "distributed",
    "enet_path",
    "estimators",
    "lasso_path",
    "load_model",
    "logistic_path",
    "losses",
    "methods",
    "penalties",
    "plots",
    "report",
    "samplings",
    "save_model",
    "solve",
    "steps",
    "theory",
]
