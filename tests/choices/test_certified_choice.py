"""Bounds on cross-validation errors hold for exact optima at strengths that nobody has fitted."""

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

import dualgap as dg
from dualgap.choices import certified_choice

mpl.use("Agg")
RNG = np.random.default_rng(12)
X = RNG.standard_normal((80, 4))
X[:, 3] = 5e3 + 0.1 * X[:, 3]  # a column far from 0
LABELS = np.where(X[:, 0] - X[:, 1] + RNG.standard_normal(80) > 0.0, "yes", "no")
Y = 2.0 * X[:, 0] + RNG.standard_normal(80)
FOLDS = list(KFold(3).split(X))


def error_of(model, name, strength, y):
    """The mean error over folds at nearly exact optima."""
    found = []
    for train, test in FOLDS:
        one = clone(model).set_params(**{name: strength}).fit(X[train], y[train])
        off = one.predict(X[test])
        found.append(np.mean((off - y[test]) ** 2) if y is Y else np.mean(off != y[test]))
    return np.mean(found)


@pytest.mark.parametrize(
    ("model", "name", "y"),
    [
        (dg.LogisticRegression(tol=1e-10), "C", LABELS),
        (dg.LinearSVC(loss="hinge", tol=1e-8), "C", LABELS),
        (dg.Ridge(tol=1e-12), "alpha", Y),
        (dg.ElasticNet(l1_ratio=0.3, fit_intercept=False, tol=1e-10), "alpha", Y),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_strength_is_within_its_bounds(model, name, y):
    choice = certified_choice(model, X, y, 0.01, 1.0, cv=FOLDS, max_points=24, first_points=5)
    assert choice.strengths[0] == 0.01
    assert choice.strengths[-1] == 1.0
    assert choice.least <= choice.most
    assert choice.most == choice.at[:, 1].min()
    for strength in RNG.uniform(0.01, 1.0, 4):
        at = np.searchsorted(choice.strengths, strength) - 1
        low, high = choice.between[at]
        found = error_of(model, name, strength, y)
        assert low - 1e-7 <= found <= high + 1e-7
        assert found >= choice.least - 1e-7
    assert error_of(model, name, choice.value, y) <= choice.most + 1e-7
    assert f"no {name} in [0.01, 1]" in str(choice)


def test_more_points_give_a_narrower_answer():
    model = dg.Ridge()
    wide, narrow = (
        certified_choice(model, X[:, :3], Y, 0.1, 10.0, cv=FOLDS, max_points=m, accuracy=0.0)
        for m in (10, 60)
    )
    assert wide.least < narrow.least <= narrow.most <= wide.most
    assert narrow.fits < len(narrow.strengths) * 2


def test_sparse_data_and_several_classes_one_against_the_rest():
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    data = sp.csr_array(X[:, :3])
    choice = certified_choice(
        dg.LinearSVC(), data, labels, 0.1, 1.0, cv=FOLDS, max_points=8, first_points=3
    )
    assert 0.0 <= choice.least <= choice.most <= 1.0


def test_the_plot_shows_the_band():
    choice = certified_choice(dg.Ridge(), X, Y, 0.1, 1.0, cv=FOLDS, max_points=6, first_points=4)
    ax = choice.plot()
    assert ax.get_xlabel() == "alpha"
    assert len(ax.collections) == 2
    mpl.pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (dg.Lasso(), Y, "strongly convex"),
        (dg.LogisticRegression(), np.digitize(X[:, 0], [-0.5, 0.5]), "all classes together"),
    ],
)
def test_what_has_no_bounds_is_refused(model, y, words):
    with pytest.raises(ValueError, match=words):
        certified_choice(model, X, y, 0.1, 1.0)
