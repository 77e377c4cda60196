"""scikit-learn's own checks, for every estimator as it comes; none of them is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dualgap import estimators


# Some checks ask for few iterations, or hand over data that no model fits.
@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([getattr(estimators, name)() for name in estimators.__all__])
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
