"""Run scikit-learn's tests of linear models with the classes of dualgap: ``make test-sklearn``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import sklearn

HOME = Path(sklearn.__file__).parent
MODULES = (
    "linear_model/tests/test_base.py",
    "linear_model/tests/test_common.py",
    "linear_model/tests/test_coordinate_descent.py",
    "linear_model/tests/test_logistic.py",
    "linear_model/tests/test_quantile.py",
    "linear_model/tests/test_ridge.py",
    "linear_model/tests/test_sag.py",
    "linear_model/tests/test_sparse_coordinate_descent.py",
    "linear_model/_glm/tests/test_glm.py",
    "svm/tests/test_bounds.py",
    "svm/tests/test_sparse.py",
    "svm/tests/test_svm.py",
)

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    options = ["-p", "substitute", "-p", "no:cacheprovider", "-q", "-W", "default"]
    files = [str(HOME / module) for module in MODULES]
    sys.exit(pytest.main([*options, "-c", "/dev/null", f"--rootdir={HOME}", *sys.argv[1:], *files]))
