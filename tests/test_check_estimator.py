"""scikit-learn's own checks, for every estimator; none of them is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dualgap import estimators

# Checks that compare two fits ask for more digits than a gap of 1e-4 promises.
TIGHT = [getattr(estimators, name)(tol=1e-10) for name in estimators.__all__]


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(TIGHT)
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
