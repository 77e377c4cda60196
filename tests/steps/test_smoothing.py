"""The multiclass hinge with its kinks, and support vector machines of Crammer and Singer."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC

import dgcheck
import dualgap as dg
from dualgap import losses
from dualgap.steps.base import Start
from dualgap.testing import check_loss, check_step

X, Y = load_iris(return_X_y=True)
X, Y = X[::3] - X.mean(axis=0), Y[::3]
WEIGHTS = np.arange(len(Y)) % 3 + 0.5
HINGE = losses.MulticlassHinge(0.0)
rng = np.random.default_rng(0)


def test_laws():
    check_loss(HINGE)
    check_step(dg.steps.Smoothing(), dg.Problem(X, Y, HINGE, "l2", 0.1))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_optimum_is_that_of_cvxpy(intercept, weights):
    problem = dg.Problem(X, Y, HINGE, "l2", 0.02, weights, intercept=intercept)
    found = dg.solve(problem, tol=1e-7)
    assert found.converged
    assert found.method.startswith("auto (smoothing")
    W, b = cp.Variable((X.shape[1], 3)), cp.Variable(3)
    Z = X @ W + (np.ones((len(Y), 1)) @ cp.reshape(b, (1, 3), order="F") if intercept else 0.0)
    own = cp.sum(cp.multiply(Z, np.eye(3)[Y]), axis=1)
    hinge = cp.max(Z + 1.0 - np.eye(3)[Y], axis=1) - own
    c = np.full(len(Y), 1.0) if weights is None else weights
    best = cp.Problem(cp.Minimize(c / c.sum() @ hinge + 0.01 * cp.sum_squares(W)))
    best.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-12, tol_feas=1e-10)
    certificate = found.certificate
    assert certificate.dual <= best.value * (1.0 + 1e-9)
    assert certificate.primal == pytest.approx(best.value, rel=2e-7)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("class_weight", [None, {0: 1.0, 1: 2.0, 2: 0.5}])
def test_models_are_those_of_liblinear(two, class_weight):
    y = Y % 2 if two else Y
    shared = {"multi_class": "crammer_singer", "C": 0.3, "class_weight": class_weight}
    theirs = LinearSVC(tol=1e-8, max_iter=10**6, **shared).fit(X, y)
    ours = dg.LinearSVC(tol=1e-8, intercept_penalty="l2", **shared).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_.ravel(), np.ravel(theirs.intercept_), atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if not two:
        found = dg.certify(theirs, X, y)
        assert found.relative_gap <= 1e-3
        assert found.primal >= ours.certificate_.dual * found.primal / ours.certificate_.primal


def test_a_proof_and_a_checkpoint(tmp_path, capsys):
    model = dg.LinearSVC(multi_class="crammer_singer").fit(X, Y)
    assert np.isfinite(model.decision_radius(X)).any() or model.dual_gap_ >= 0.0
    model.save_proof(tmp_path / "model.dgp")
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    code = dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "model.dgp")])
    assert code == 0, capsys.readouterr().out


def test_other_losses_are_refused():
    smooth = dg.Problem(X, Y, losses.MulticlassHinge(0.5), "l2", 0.1)
    with pytest.raises(ValueError, match="is smooth already"):
        dg.solve(smooth, "smoothing")
    with pytest.raises(ValueError, match="is not the multiclass hinge"):
        dg.solve(dg.Problem(X, Y, "softmax", "l2", 0.1), "smoothing")
    with pytest.raises(ValueError, match="no second derivatives"):
        dg.solve(dg.Problem(X, Y, HINGE, "l2", 0.1), "newton-cg")


def test_the_hessian_of_few_samples_is_that_of_all():
    """Samples whose share lies with one class have none."""
    problem = dg.Problem(X, Y, losses.MulticlassHinge(0.1), "l2", 0.02, intercept=True)
    run = dg.steps.NewtonCG().start(problem, Start())
    z = 3.0 * np.eye(3)[Y]
    z[::5] = 0.02 * rng.standard_normal((len(z[::5]), 3))
    at = run.losses.curvature(run.losses.at(z))
    assert at.curved is not None
    assert 0 < len(at.curved) < len(Y) // 2
    few = run.system.whole_hessian(at)
    np.testing.assert_allclose(few, at.hessian(run.products.few_rows(None)), rtol=1e-12, atol=1e-14)


def test_with_good_multipliers_wide_kinks_lead_to_the_optimum():
    """At the optimal dual point the rounded problem has the minimum of the problem itself."""
    problem = dg.Problem(X, Y, HINGE, "l2", 0.1)
    best = dg.solve(problem, tol=1e-11)
    shift = -0.5 * best.dual.reshape(len(Y), 3)
    rounded = dg.Problem(X, Y, losses.MulticlassHinge(0.5), "l2", 0.1, offset=shift)
    found = dg.solve(rounded, "newton-cg", tol=1e-11)
    np.testing.assert_allclose(found.coef, best.coef, atol=1e-6)
