"""All that your own loss, penalty, sampling, step or estimator needs; docs/extend.md shows how.

Rules (``prox``, ``slope``, ...) and scalar functions (``clip``, ``soft``, ...) take one number at a
time and are compiled: use them in kernels and in the rules of losses and penalties.
"""

import importlib
from typing import TYPE_CHECKING, Any

from dualgap.compile.kernels import helper, kernel, machine
from dualgap.compile.rules import (
    conj,
    conj_slope,
    curvature,
    domain,
    dual_step,
    dual_step_into,
    project,
    project_into,
    prox,
    slope,
    slope_into,
    strength,
    value,
)
from dualgap.compile.scalar import clip, sigmoid, soft, wright_omega, xlogx
from dualgap.linalg.validate import finite_vector, number, positive, whole
from dualgap.losses.targets import Numbers, Targets
from dualgap.methods.method import Method
from dualgap.penalties.structure import ElasticForm, declares
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair, evaluate
from dualgap.proof.certify import certify
from dualgap.proof.terms import conj_slopes, curvatures, projections, slopes
from dualgap.samplings.base import Refresh, Sampling, Sets, SetSampling, StepRule, metric_squares
from dualgap.samplings.scores import Scores
from dualgap.steps.base import FullPass, FullPassRun, Run, Setting, Start, Step, dual_start, vector
from dualgap.steps.coordinate.coordinate import Coordinate, CoordinateRun
from dualgap.testing import check_eso, check_loss, check_penalty, check_sampling, check_step

machine()  # your own numba.njit functions may call these

if TYPE_CHECKING:
    from dualgap.estimators.base import InverseStrength, Strength
    from dualgap.estimators.classifier import LinearClassifier
    from dualgap.estimators.regressor import LinearRegressor

_OF_ESTIMATORS = {
    "InverseStrength": "dualgap.estimators.base",
    "LinearClassifier": "dualgap.estimators.classifier",
    "LinearRegressor": "dualgap.estimators.regressor",
    "Strength": "dualgap.estimators.base",
}


def __getattr__(name: str) -> Any:
    # Imported when asked for, since scikit-learn is optional and takes long to import.
    if name not in _OF_ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_OF_ESTIMATORS[name]), name)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "Certificate",
    "Coordinate",
    "CoordinateRun",
    "ElasticForm",
    "FullPass",
    "FullPassRun",
    "InverseStrength",
    "LinearClassifier",
    "LinearRegressor",
    "Method",
    "Numbers",
    "Pair",
    "Problem",
    "Refresh",
    "Run",
    "Sampling",
    "Scores",
    "SetSampling",
    "Sets",
    "Setting",
    "Start",
    "Step",
    "StepRule",
    "Strength",
    "Targets",
    "certify",
    "check_eso",
    "check_loss",
    "check_penalty",
    "check_sampling",
    "check_step",
    "clip",
    "conj",
    "conj_slope",
    "conj_slopes",
    "curvature",
    "curvatures",
    "declares",
    "domain",
    "dual_start",
    "dual_step",
    "dual_step_into",
    "evaluate",
    "finite_vector",
    "helper",
    "kernel",
    "metric_squares",
    "number",
    "positive",
    "project",
    "project_into",
    "projections",
    "prox",
    "sigmoid",
    "slope",
    "slope_into",
    "slopes",
    "soft",
    "strength",
    "value",
    "vector",
    "whole",
    "wright_omega",
    "xlogx",
]
