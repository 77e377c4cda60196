"""Plain arrays take a short way through the checks, with the results of scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.validation import validate_data

from dualgap.estimators import Lasso, LinearSVC, LogisticRegression, Ridge

RNG = np.random.default_rng(3)
X = RNG.standard_normal((40, 3))
y = X @ [1.0, 2.0, -1.0]
LABELS = (y > 0.0).astype(int)


@pytest.mark.parametrize(
    "given",
    [
        X.tolist(),
        pd.DataFrame(X),
        np.asfortranarray(X),
        X.astype(">f8"),
        X[::-1][::-1],
        np.array(X, dtype=object),
    ],
    ids=["list", "frame", "columns", "big-endian", "view", "objects"],
)
def test_other_data_give_the_same_model(given: Any) -> None:
    usual = Ridge().fit(X, y)
    np.testing.assert_allclose(Ridge().fit(given, y).coef_, usual.coef_, rtol=1e-12)
    np.testing.assert_allclose(usual.predict(given), usual.predict(X), rtol=1e-12)


def test_names_of_features_are_those_of_the_last_fit() -> None:
    model = Ridge().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    model.fit(X[:, :2], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("model", [Ridge(), LinearSVC(), LogisticRegression(), Lasso()])
def test_refusals_have_the_words_of_sklearn(model: Any, bad: float) -> None:
    broken = X.copy()
    broken[3, 1] = bad
    with pytest.raises(ValueError) as theirs:  # noqa: PT011 - the text is compared below
        validate_data(model, broken, LABELS)
    with pytest.raises(ValueError) as ours:  # noqa: PT011
        model.fit(broken, LABELS)
    assert str(ours.value) == str(theirs.value)
    model.fit(X, LABELS)
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        model.predict(broken)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (y[:-1], "inconsistent numbers of samples"),
        (np.where(y > 1.0, np.nan, y), "contains NaN"),
        (np.full((40, 1), np.inf), "infinity"),
        (None, "requires y to be passed"),
        (np.array(["a"] * 40), "dtype|convert"),
    ],
)
def test_targets_that_do_not_fit_are_refused(wrong: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Ridge().fit(X, wrong)


def test_numbers_are_no_labels() -> None:
    with pytest.raises(ValueError, match="Unknown label type"):
        LogisticRegression().fit(X, y)
    assert set(LogisticRegression().fit(X, LABELS.astype(float)).classes_) == {0.0, 1.0}
    assert set(LogisticRegression().fit(X, LABELS.astype(str)).classes_) == {"0", "1"}


def test_sums_that_overflow_are_not_taken_for_infinite_entries() -> None:
    model = Ridge().fit(X, y)
    large = np.full((2, 3), 1e308)
    assert np.isfinite(model.predict(large * [[1.0, 0.0, 0.0]])).all()
    with np.errstate(over="ignore"):
        model.predict(large)  # its entries are finite


def test_the_number_of_features_is_checked() -> None:
    with pytest.raises(ValueError, match="X has 2 features, but Ridge is expecting 3"):
        Ridge().fit(X, y).predict(X[:, :2])
