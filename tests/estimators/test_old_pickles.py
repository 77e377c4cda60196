"""Estimators that 0.1 has pickled can be read and used."""

import pathlib
import pickle
import warnings

import numpy as np
from sklearn.base import clone

# Six small models with data, predictions and radii, pickled by 0.1 with protocol 2.
FILE = pathlib.Path(__file__).parent / "fixtures" / "estimators_0_1.pickle"


def test_models_of_0_1_predict_the_same():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the modules that have moved
        old = pickle.loads(FILE.read_bytes())
    X = old["X"]
    for model, predicted, radii in zip(old["models"], old["predictions"], old["radii"]):
        np.testing.assert_array_equal(model.predict(X), predicted)
        np.testing.assert_allclose(model.decision_radius(X), radii, rtol=1e-12)
        assert model.certificate_.gap >= 0.0
        assert repr(clone(model)) == repr(model)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).coef_, model.coef_)
