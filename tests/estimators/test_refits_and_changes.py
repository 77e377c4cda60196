"""What models say after a second fit, and after somebody has changed their arrays."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris

import dualgap as dg
from dualgap.estimators.fits import complaint
from dualgap.run import path as path_module

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", ["LassoCV", "ElasticNetCV", "RidgeCV"])
def test_a_second_fit_forgets_what_the_first_has_proven(name):
    X = RNG.normal(size=(60, 6))
    targets = 3.0 * X[:, 0], 3.0 * X[:, 5] + 1e3
    model, fresh = (getattr(dg, name)(cv=3) for _ in range(2))
    for y in targets:
        model.fit(X, y)
        model.support_certified_, model.decision_radius(X)
    fresh.fit(X, targets[1])
    np.testing.assert_array_equal(model.support_certified_, fresh.support_certified_)
    np.testing.assert_array_equal(model.decision_radius(X), fresh.decision_radius(X))


@pytest.mark.parametrize("kind", [dg.LinearSVR, dg.PoissonRegressor])
def test_radii_do_not_follow_arrays_that_users_change(kind):
    X = 1e-3 * RNG.normal(size=(50, 2))
    y = np.abs(X @ [1.0, 2.0] + RNG.normal(size=50) + 1.0)
    untouched, changed = (kind(tol=0.5, max_iter=1).fit(X.copy(), y.copy()) for _ in range(2))
    changed.dual_coef_ *= 0.5
    changed.solution_.dual[:] *= 0.5
    changed.solution_.coef[:] *= 0.5
    changed._trained[0][:], changed._trained[1][:] = 7.0, 7.0
    there = np.zeros((1, 2))
    np.testing.assert_array_equal(changed.decision_radius(there), untouched.decision_radius(there))


@pytest.mark.parametrize("n", [40, 7])
@pytest.mark.parametrize("kind", [dg.Ridge, dg.ElasticNet])
def test_radii_do_not_depend_on_the_order_of_memory(n, kind):
    A = np.random.default_rng(3).normal(size=(2 * n, 14)) * np.arange(1, 15) + 5.0
    X, y = np.ascontiguousarray(A[::2, ::2]), A[::2, 1]
    models = [kind(0.1, tol=1e-6).fit(own, y) for own in (X, np.asfortranarray(X), A[::2, ::2])]
    radii = [model.decision_radius(X) / np.sqrt(model.dual_gap_) for model in models]
    for other in radii[1:]:  # up to what rounding adds to them
        np.testing.assert_allclose(radii[0], other, rtol=0.1)
    for column in (X[:, :1], A[::2, :1], np.asfortranarray(X[:, :1])):
        assert (kind(0.1).fit(column, y).decision_radius(column) > 0.0).all()


def test_nothing_is_certified_about_coefficients_of_another_origin():
    X, y = load_iris(return_X_y=True)
    model = dg.LogisticRegression().fit(X, y)
    assert model.predict_certified(X).any()
    model.coef_[0, 0] += 1.0
    with pytest.raises(ValueError, match="changed after the fit"):
        model.predict_certified(X)
    model.coef_[0, 0] -= 1.0
    assert model.fit(X, y).predict_certified(X).any()


def test_float32_models_have_the_certificate_of_what_they_show():
    """A start that was exact in float32, after which better coefficients were found."""
    X = np.array([[298.557373046875], [297.8747863769531], [296.7420959472656],
                  [298.0602722167969]], np.float32)  # fmt: skip
    y = np.array([-1, 1, 1, -1])
    strength = 1.0 / (2.4626212980840455e-12 * 4)
    model = dg.LinearSVC(
        penalty="l1", C=strength, fit_intercept=False, method="newton", warm_start=True, tol=1e-4
    ).fit(X, y)
    with pytest.warns(match="gap"):
        model.set_params(tol=1e-16, max_iter=5).fit(X, y)
    problem = dg.Problem(X, y, dg.losses.SquaredHinge(0.5), "l1", 2.4626212980840455e-12)
    shown = dg.certify(problem, model.coef_.ravel().astype(np.float64), model.dual_coef_.ravel())
    assert model.certificate_.primal == pytest.approx(shown.primal, rel=1e-15)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (dg.LogisticRegressionCV(Cs=[-1.0, 1.0]), "Cs"),
        (dg.LogisticRegressionCV(Cs=[]), "Cs"),
        (dg.LogisticRegressionCV(l1_ratios=[]), "l1_ratios"),
        (dg.LogisticRegression(class_weight={0: -1.0}), "class_weight"),
        (dg.RidgeCV(alphas=[]), "alphas"),
        (dg.ElasticNetCV(l1_ratio=[]), "l1_ratio"),
        (dg.LassoCV(cv=[]), "cv"),
        (dg.Ridge(alpha=np.inf), "alpha"),
        (dg.Lasso(alpha=np.inf), "alpha"),
    ],
    ids=repr,
)
def test_errors_name_the_parameter(model, word):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=word):
        model.fit(X, y > 0)


def test_weights_for_a_ridge_with_metadata_routing():
    X = RNG.normal(size=(50, 3))
    y, s = X[:, 0] + RNG.normal(size=50), RNG.uniform(0.5, 2.0, 50)
    usual = dg.RidgeCV().fit(X, y, sample_weight=s)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = dg.RidgeCV().fit(X, y, sample_weight=s)
    assert routed.alpha_ == usual.alpha_
    np.testing.assert_array_equal(routed.coef_, usual.coef_)


def interrupted_solution(real):
    def solve(*args, **options):
        return replace(real(*args, **options), interrupted=True)

    return solve


def test_an_interrupted_fold_is_not_scored(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(path_module, "solve", interrupted_solution(path_module.solve))
    with pytest.raises(KeyboardInterrupt):
        dg.LogisticRegressionCV(Cs=3, cv=2, l1_ratios=(0.5,)).fit(X, y)


def test_an_interrupted_path_ends_with_what_it_has(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(path_module, "solve", interrupted_solution(path_module.solve))
    Cs, coefs, gaps = dg.logistic_path(X, y > 0, Cs=[0.1, 1.0, 10.0], l1_ratio=0.0)
    assert Cs.tolist() == [0.1]
    assert coefs.shape[-1] == len(gaps) == 1


def test_the_warning_after_an_interruption_counts_what_it_has_ended():
    X, y = load_iris(return_X_y=True)
    problem = dg.Problem(X, y > 0, "logistic", lam=0.01)
    ended = dg.solve(problem, "cd-gap-decay", tol=1e-9, callback=lambda _: True)
    assert complaint([ended], 1e-9, 10, False) is None  # the user's callback has ended it
    assert complaint([ended, ended], 1e-9, 10, True).startswith("2 of 2 problems are not solved")
