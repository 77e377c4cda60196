"""Models as ONNX predict what the estimators predict, in runtimes that know neither."""

import sys

import numpy as np
import onnxruntime
import pandas
import pytest
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import dualgap as dg

FLOWERS, KINDS = load_iris(return_X_y=True)
PATIENTS, NUMBERS = load_diabetes(return_X_y=True)
TEXTS = np.array(["setosa", "versicolor", "virginica"])[KINDS]
# An order with a class in the middle and one at an end that nobody has.
GRADES = pandas.Categorical(
    TEXTS, ["setosa", "none", "versicolor", "virginica", "more"], ordered=True
)
TWO = np.stack([NUMBERS, -NUMBERS], axis=1)
MODELS = {
    "two classes": (dg.LogisticRegression(), KINDS > 0),
    "three classes": (dg.LogisticRegression(), TEXTS),
    "one against the rest": (dg.LogisticRegression(multi_class="ovr"), KINDS * 1.0),
    "machine": (dg.LinearSVC(), KINDS),
    "labels": (dg.RidgeClassifier(), np.stack([KINDS > 0, KINDS > 1], axis=1).astype(int)),
    "in an order": (dg.OrdinalLogisticRegression(), GRADES),
    "two in an order": (dg.OrdinalLogisticRegression(), KINDS > 0),
    "inliers": (dg.OneClassSVM(), KINDS),
    "number": (dg.Lasso(), NUMBERS),
    "numbers": (dg.Ridge(), TWO),
    "counts": (dg.PoissonRegressor(), np.round(NUMBERS)),
    "normal": (dg.TweedieRegressor(power=0), NUMBERS),
    "pipeline of classes": (make_pipeline(StandardScaler(), dg.LogisticRegression()), TEXTS),
    "pipeline of two": (make_pipeline(StandardScaler(), dg.LinearSVC()), KINDS > 0),
    "pipeline of counts": (make_pipeline(StandardScaler(), dg.PoissonRegressor()), NUMBERS),
    "pipeline of inliers": (make_pipeline(MaxAbsScaler(), dg.OneClassSVM()), KINDS),
    "pipeline in an order": (
        make_pipeline(StandardScaler(), dg.OrdinalLogisticRegression()),
        KINDS,
    ),
    "calibrated": (CalibratedClassifierCV(dg.LinearSVC(), cv=2), KINDS),
}


def results(model, X):
    session = onnxruntime.InferenceSession(
        dg.to_onnx(model, X.dtype).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X})))


@pytest.mark.filterwarnings("ignore")  # of other libraries, about themselves
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", MODELS)
def test_predictions_are_those_of_the_estimator(kind, dtype):
    model, y = MODELS[kind]
    X = PATIENTS if is_regressor(model) else FLOWERS
    model.fit(X, y)
    X = X.astype(dtype)
    found = results(model, X)
    close = {"rtol": 1e-5, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    if is_regressor(model):
        shape = (len(X), -1)
        np.testing.assert_allclose(found["variable"], model.predict(X).reshape(shape), **close)
        return
    if is_outlier_detector(model):
        # Support vectors lie at 0 up to rounding.
        scores, size = model.decision_function(X), np.abs(model.score_samples(X)).max()
        np.testing.assert_allclose(found["scores"] / size, scores / size, **close)
        clear = np.abs(scores) > 1e-4 * size
        np.testing.assert_array_equal(found["label"][clear], model.predict(X)[clear])
        return
    np.testing.assert_array_equal(found["label"], model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), **close)
        assert found["probabilities"].dtype == dtype
    elif "scores" not in found:  # skl2onnx has one column for each of two classes
        np.testing.assert_allclose(
            found["probabilities"][:, 1], model.decision_function(X), **close
        )
    if "scores" in found:
        np.testing.assert_allclose(found["scores"], model.decision_function(X), **close)


def test_what_has_no_graph_is_refused(monkeypatch):
    frame = pandas.DataFrame({"kind": TEXTS, "length": FLOWERS[:, 0]})
    with pytest.raises(ValueError, match="OneHotEncoder"):
        dg.to_onnx(dg.Ridge(categories="auto").fit(frame, KINDS))
    with pytest.raises(ValueError, match="dtype"):
        dg.to_onnx(dg.Ridge().fit(FLOWERS, KINDS), np.int64)

    class Own(dg.Ridge):
        def predict(self, X):
            return super().predict(X) + 1.0

    with pytest.raises(TypeError, match="not Own"):
        dg.to_onnx(Own().fit(FLOWERS, KINDS))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"dualgap\[onnx\]"):
        dg.to_onnx(dg.Ridge().fit(FLOWERS, KINDS))
