"""Linear models with a proof: every fit comes with a bound on how far it is from the best one."""

import importlib
from typing import Any

from dualgap import _moved, datasets, estimators, losses, methods, penalties, samplings, steps
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate
from dualgap.proof.certify import CertificateSum, certify
from dualgap.run.recording import Recording
from dualgap.run.solution import Solution
from dualgap.run.solve import solve
from dualgap.samplings import theory

__version__ = "0.1.0"

_moved.keep_old_names()


def __getattr__(name: str) -> Any:
    # Imported when asked for, since scikit-learn and others take long to import.
    if f"dualgap.{name}" in _moved.MOVED:
        return importlib.import_module(f"dualgap.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("distributed", "extend", "plots", "report"):
        return importlib.import_module(f"dualgap.{name}")
    if name in ("load_model", "save_model"):
        return getattr(importlib.import_module("dualgap.files.model_file"), name)
    if name == "to_onnx":
        return importlib.import_module("dualgap.files.onnx_model").to_onnx
    return getattr(estimators, name)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "Certificate",
    "CertificateSum",
    "Problem",
    "Recording",
    "Solution",
    "certify",
    "datasets",
    "distributed",
    "estimators",
    "extend",
    "load_model",
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
    "to_onnx",
]
__all__ += estimators.__all__
