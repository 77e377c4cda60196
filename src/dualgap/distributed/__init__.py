"""Fits on partitioned data, by threads, a Dask cluster or an MPI job; each with a certificate.

``models.py``   estimators on collections; ``lazy.py``: their predictions, ``scores.py``: scores
``data/``       partitions: where they come from, and each as a problem of its own
``engines/``    what holds them and runs tasks on them: threads, Dask or MPI
``schemes/``    what they do in a round
``tasks.py``    what else they do; ``messages.py``: what travels
``driver/``     rounds, proofs and checkpoints, from sums over partitions alone
"""

import importlib
from typing import Any

from dualgap.distributed.data.partitioned import Partitioned
from dualgap.distributed.data.readers import from_dask, from_dataframe, from_libsvm
from dualgap.distributed.estimators import fit
from dualgap.distributed.solve import solve

__all__ = [
    "CertifiedClassifier",
    "CertifiedRegressor",
    "ElasticNet",
    "ElasticNetCV",
    "GammaRegressor",
    "HuberRegression",
    "Lasso",
    "LassoCV",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LinearSVRCV",
    "LogisticRegression",
    "LogisticRegressionCV",
    "NegativeBinomialRegressor",
    "Partitioned",
    "PoissonRegressor",
    "PoissonRegressorCV",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "TweedieRegressor",
    "fit",
    "from_dask",
    "from_dataframe",
    "from_libsvm",
    "solve",
]
# Loaded when first used, since scikit-learn takes long to import.
MODELS = [name for name in __all__ if name not in globals()]


def __getattr__(name: str) -> Any:
    if name not in MODELS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.models"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *MODELS})
