"""Run scikit-learn's tests of linear models with the classes of dualgap: ``make test-sklearn``.

Arguments go to pytest: ``run.py -n 0 -k ridge`` runs a part in one process.
"""

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

# A test that hangs ends its process, with a traceback; another process then runs those that are
# left.
ONE_TEST = 120  # seconds
OPTIONS = [
    *("-c", "/dev/null", f"--rootdir={HOME}", "-p", "substitute", "-p", "no:cacheprovider"),
    *("-o", f"faulthandler_timeout={ONE_TEST}", "-o", "faulthandler_exit_on_timeout=true"),
    *("-q", "-W", "default", "-n", "2"),
]

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(pytest.main([*OPTIONS, *sys.argv[1:], *(str(HOME / module) for module in MODULES)]))
