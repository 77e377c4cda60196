"""Tools around scikit-learn take our estimators for its own."""

import numpy as np
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dualgap as dg

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
OF_PROOFS = [
    "dualgap.proof.certificate.Certificate",
    "dualgap.proof.radius.Radius",
    "dualgap.run.solution.History",
    "dualgap.run.solution.Solution",
]


@pytest.mark.parametrize("name", ["LogisticRegression", "RidgeCV", "LinearSVC"])
def test_skops_has_to_trust_five_types_or_one(name):
    X, y = IRIS
    model = getattr(dg, name)().fit(X, y)
    stored = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=stored)
    assert set(types) == {f"{type(model).__module__}.{name}", *OF_PROOFS}
    read = skops.io.loads(stored, trusted=types)
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    np.testing.assert_array_equal(read.decision_radius(X), model.decision_radius(X))
    assert str(read.certificate_) == str(model.certificate_)
    small = skops.io.dumps(model.without_proof())
    assert skops.io.get_untrusted_types(data=small) == [f"{type(model).__module__}.{name}"]
    read = skops.io.loads(small, trusted=skops.io.get_untrusted_types(data=small))
    np.testing.assert_array_equal(read.predict(X), model.predict(X))


def test_support_vector_machines_can_be_calibrated_also_frozen():
    X, y = IRIS
    model = dg.LinearSVC().fit(X, y)
    frozen = CalibratedClassifierCV(FrozenEstimator(model)).fit(X, y)
    fitted = CalibratedClassifierCV(dg.LinearSVC(), cv=3).fit(X, y)
    for each in (frozen, fitted):
        np.testing.assert_allclose(each.predict_proba(X).sum(axis=1), 1.0)
        assert each.score(X, y) > 0.9


def test_models_select_and_are_inspected():
    pandas = pytest.importorskip("pandas")
    X, y = DIABETES
    frame = pandas.DataFrame(X, columns=[f"column {j}" for j in range(10)])
    chosen = make_pipeline(StandardScaler(), SelectFromModel(dg.Lasso(2.0)), dg.Ridge())
    chosen.set_output(transform="pandas").fit(frame, y)
    names = chosen[-1].feature_names_in_
    assert list(names) == list(frame.columns[chosen[1].estimator_.coef_ != 0.0])
    assert 0 < len(names) < 10
    model = dg.Ridge(1e-8).fit(frame, y)
    found = permutation_importance(model, frame, y, n_repeats=2, random_state=0)
    assert np.argmax(found.importances_mean) == np.argmax(np.abs(model.coef_))
    line = partial_dependence(model, frame, ["column 2"], kind="average")
    slope = np.diff(line["average"][0]) / np.diff(line["grid_values"][0])
    np.testing.assert_allclose(slope, model.coef_[2], rtol=1e-9)
