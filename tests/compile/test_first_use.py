"""A first fit to small data needs no compiler."""

import json
import os
import subprocess
import sys
import textwrap

import numba
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from dualgap import estimators

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

LABELS = ("LogisticRegression", "LinearSVC", "RidgeClassifier")
NUMBERS = ("Ridge", "Lasso", "ElasticNet", "LinearSVR", "QuantileRegressor", "HuberRegression",
           "PoissonRegressor", "RidgeCV", "LassoCV")  # fmt: skip
FIT = """
    import json, sys, warnings
    import numpy as np
    import numba.core.event as ev
    from sklearn.datasets import load_diabetes, load_iris
    from dualgap import estimators
    from dualgap.compile import first_use

    first_use.TUNING = first_use.TUNING._replace(rent=%g)
    compiled = []

    class Listener(ev.Listener):
        def on_start(self, event):
            compiled.append(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event):
            pass

    ev.register("numba:compile", Listener())
    warnings.simplefilter("error")
    out = {}
    for name in sys.argv[1].split():
        labels = name in ("LogisticRegression", "LinearSVC", "RidgeClassifier")
        X, y = (load_iris if labels else load_diabetes)(return_X_y=True)
        model = getattr(estimators, name)()
        for _ in range(%d):
            model.fit(X, y)
        found = model.certificate_
        parts = found if isinstance(found, list) else [found]
        out[name] = {
            "coef": np.asarray(model.coef_).tolist(),
            "gap": max(part.relative_gap for part in parts),
            "compiled": list(compiled),
        }
        compiled.clear()
    print(json.dumps(out))
"""


def run(names, folder, fits=1, rent=-1.0, mode="foreground"):
    """What fits of each class compile, in a process that has (not) paid enough of the rent."""
    return json.loads(printed(FIT % (rent, fits), folder, mode, " ".join(names)))


def printed(code, folder, mode, *arguments):
    own = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "DUALGAP_COMPILE": mode}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True, text=True, env=own, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout


def test_first_fits_compile_nothing_and_find_the_same_models(tmp_path):
    for name, found in run(LABELS + NUMBERS, tmp_path).items():
        assert found["compiled"] == [], name
        X, y = (load_iris if name in LABELS else load_diabetes)(return_X_y=True)
        right = getattr(estimators, name)(random_state=0).fit(X, y)
        assert found["gap"] <= right.tol, name
        np.testing.assert_allclose(found["coef"], right.coef_, rtol=1e-6, atol=1e-8)


def test_a_second_fit_compiles_and_a_second_process_loads(tmp_path):
    assert run(["RidgeClassifier"], tmp_path, fits=2)["RidgeClassifier"]["compiled"]
    loaded = run(["RidgeClassifier"], tmp_path)["RidgeClassifier"]
    assert loaded["compiled"] == []
    assert loaded["coef"] == run(["RidgeClassifier"], tmp_path, 2)["RidgeClassifier"]["coef"]


def test_who_asks_for_it_gets_compiled_kernels_at_once(tmp_path):
    found = run(["RidgeClassifier"], tmp_path, rent=1e9, mode="always")["RidgeClassifier"]
    assert found["compiled"]


def test_a_process_that_fits_little_never_imports_numba(tmp_path):
    code = """
        import sys
        from sklearn.datasets import load_diabetes, load_iris
        from dualgap import estimators
        from dualgap.compile import first_use

        first_use.TUNING = first_use.TUNING._replace(rent=1e9)
        for name in sys.argv[1].split():
            for _ in range(2):
                labels = name in ("LogisticRegression", "LinearSVC", "RidgeClassifier")
                X, y = (load_iris if labels else load_diabetes)(return_X_y=True)
                getattr(estimators, name)().fit(X, y).predict(X)
        print([name for name in ("numba", "llvmlite") if name in sys.modules])
    """
    assert printed(code, tmp_path, "", " ".join(LABELS + NUMBERS)).strip() == "[]"
    assert list(tmp_path.iterdir()) == []  # nor does it look at the cache
