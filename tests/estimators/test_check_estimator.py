"""scikit-learn's own checks, for every estimator as it comes; none of them is expected to fail.

Those with cross-validation are in ``test_cv.py``.
"""

import functools

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from dualgap import estimators


def checks():
    for name in estimators.__all__:
        cls = getattr(estimators, name)
        if not isinstance(cls, type) or name.endswith("CV"):
            continue
        for estimator, check in estimator_checks_generator(cls()):
            inner = check.func if isinstance(check, functools.partial) else check
            yield pytest.param(estimator, check, id=f"{name}-{inner.__name__}")


# Some checks ask for few iterations, or hand over data that no model fits.
@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
