"""scikit-learn's own checks, for every public estimator; none of them is expected to fail."""

import functools

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from dualgap import estimators

# Weighted and repeated samples stop at different points. In cross-validation these have to agree to
# nine digits: hence a small tol, and no alpha so small that it holds nothing. Few candidates and
# folds, for the time they take.
ON_PATHS = {"alphas": 3, "eps": 0.1, "cv": 2, "tol": 1e-12}
ON_GRIDS = {"cv": 2, "tol": 1e-12}
PARAMETERS = {
    "ElasticNetCV": ON_PATHS,
    "GroupLassoCV": ON_PATHS,
    "LassoCV": ON_PATHS,
    "LinearSVCCV": {"Cs": [0.1, 1.0], **ON_GRIDS},
    "LinearSVRCV": {"Cs": [0.1, 1.0], "loss": "squared_epsilon_insensitive", **ON_GRIDS},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
    "MultiTaskElasticNetCV": ON_PATHS,
    "MultiTaskLassoCV": ON_PATHS,
    "PoissonRegressorCV": {"alphas": [1.0, 0.1], **ON_GRIDS},
    "QuantileRegressorCV": {"alphas": [1.0, 0.1], **ON_GRIDS},
    "SparseGroupLassoCV": ON_PATHS,
}


def checks():
    for name in estimators.__all__:
        cls = getattr(estimators, name)
        if not isinstance(cls, type):
            continue
        for estimator, check in estimator_checks_generator(cls(**PARAMETERS.get(name, {}))):
            inner = check.func if isinstance(check, functools.partial) else check
            yield pytest.param(estimator, check, id=f"{name}-{inner.__name__}")


# Some checks ask for few iterations, or hand over data that no model fits.
@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
