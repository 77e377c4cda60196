"""Offsets: φ(x·w + b + o; y) for every loss, with certificates that hold at any size of them."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import dgcheck
import dualgap as dg
from dualgap.proof.proof_file import proven_fits, write_proof
from dualgap.run.path import lambda_max

LOSSES = list(dg.losses.REGISTRY)
LOG_LINKS = ("poisson", "gamma", "tweedie", "negative-binomial")
LABELLED = ("hinge", "smoothed-hinge", "squared-hinge", "logistic")


def sample(loss, n=30, p=3, size=1.0, seed=0):
    """X, y and offsets of this ``size``, which explain a part of y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 30.0, 0.1][:p]
    if dg.losses.REGISTRY[loss].targets == "classes":
        o = size * rng.normal(size=(n, 3))
        return X, (X[:, :1] + o / size + rng.gumbel(size=(n, 3))).argmax(axis=1), o
    o = size * rng.normal(size=n)
    z = X[:, 0] + o / size
    if loss in LOG_LINKS:
        return X, rng.poisson(np.exp(z)) + (0.5 if loss == "gamma" else 0.0), o
    return (
        X,
        np.where(rng.random(n) < 1 / (1 + np.exp(-z)), 1, -1)
        if loss in LABELLED
        else z + (rng.normal(size=n)),
        o,
    )


def value(loss, z, y):
    """φ(z; y), written down once more."""
    if loss == "softmax":
        return logsumexp(z, axis=1) - z[np.arange(len(z)), y]
    r = y - z
    if loss == "poisson":
        return np.exp(z) - y * z
    if loss == "logistic":
        return np.logaddexp(0.0, -y * z)
    if loss == "squared":
        return 0.5 * r * r
    if loss == "huber":
        return np.where(abs(r) <= 1.0, 0.5 * r * r, abs(r) - 0.5)
    return 0.5 * np.maximum(0.0, 1.0 - y * z) ** 2


@pytest.mark.parametrize("intercept", [True, False, "penalised"])
@pytest.mark.parametrize(
    "loss", ["poisson", "logistic", "squared", "huber", "squared-hinge", "softmax"]
)
def test_the_optimum_is_that_of_an_independent_solver(loss, intercept):
    X, y, o = sample(loss, n=60)
    X = X / [1.0, 30.0, 0.1]
    s = np.random.default_rng(1).random(60) + 0.5
    problem = dg.Problem(X, y, loss, "l2", 0.05, s, intercept=intercept, offset=o)
    found = dg.solve(problem, tol=1e-10)
    width, p = problem.width, problem.p

    def objective(v):
        W, b = v[: p * width].reshape(p, width), v[p * width :]
        z = X @ W + (b if intercept else 0.0) + o.reshape(60, -1)
        losses = value(loss, z if width > 1 else z[:, 0], y)
        penalised = np.sum(W * W) + (b @ b if intercept == "penalised" else 0.0)
        return s @ losses / s.sum() + 0.5 * 0.05 * penalised

    ours = np.append(np.ravel(found.coef), found.intercept * np.ones(width))
    best = minimize(objective, ours + 0.1, method="BFGS", options={"gtol": 1e-9})
    assert found.converged
    assert objective(ours) == pytest.approx(found.certificate.primal, rel=1e-12)
    assert abs(objective(ours) - best.fun) <= 1e-9
    assert found.certificate.dual <= best.fun + 1e-12


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("size", [1.0, 1e8])
@pytest.mark.parametrize("loss", LOSSES)
def test_exact_arithmetic_verifies_certificates_with_offsets(loss, size, tmp_path):
    X, y, o = sample(loss, n=20, size=min(size, 100.0) if loss in LOG_LINKS else size)
    s = np.random.default_rng(2).random(20) + 0.5
    penalty = "l2" if loss == "multiclass-hinge" else "elastic-net"
    problem = dg.Problem(X, y, loss, penalty, 0.1, s, intercept=True, offset=o)
    found = dg.solve(problem, tol=1e-8, max_epochs=50)
    assert size > 1.0 or found.converged
    np.savez(tmp_path / "data.npz", X=X, y=y)
    proof = write_proof(tmp_path / "proof.dgp", X, y, proven_fits(y, [(problem, found)]))
    assert dgcheck.main([str(tmp_path / "data.npz"), str(proof)]) == 0
    assert found.save_proof(tmp_path / "other.dgp").exists()


def test_a_proof_is_of_its_offsets(tmp_path, capsys):
    X, y, o = sample("poisson")
    fits = [dg.Problem(X, y, "poisson", "l2", 0.1, intercept=True, offset=v) for v in (o, 1.1 * o)]
    found = dg.solve(fits[0], tol=1e-10)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    # The model and the dual point of one problem, stated of the other.
    proof = write_proof(tmp_path / "proof.dgp", X, y, proven_fits(y, [(fits[1], found)]))
    assert dgcheck.main([str(tmp_path / "data.npz"), str(proof)]) == 1
    assert "does not hold" in capsys.readouterr().out


@pytest.mark.parametrize("loss", ["poisson", "logistic", "hinge", "quantile"])
def test_a_constant_offset_moves_the_free_intercept_alone(loss):
    X, y, _ = sample(loss, n=80)
    own = dg.solve(dg.Problem(X, y, loss, "l2", 0.1, intercept=True), tol=1e-9)
    problem = dg.Problem(X, y, loss, "l2", 0.1, intercept=True, offset=np.full(80, 7.0))
    moved = dg.solve(problem, tol=1e-9)
    assert problem.scale == pytest.approx(dg.Problem(X, y, loss, intercept=True).scale, rel=2e-3)
    assert moved.certificate.primal == pytest.approx(own.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(moved.coef, own.coef, atol=2e-4)


def test_offsets_of_several_classes_move_with_the_intercepts():
    X, y, _ = sample("softmax", n=80)
    rows = np.tile([0.0, 2.0, -30.0], (80, 1))
    plain, moved = (
        dg.Problem(X, y, "softmax", "l2", 0.1, intercept=True, offset=o) for o in (None, rows)
    )
    assert moved.scale == pytest.approx(plain.scale, rel=1e-6)
    one, two = (dg.solve(problem, tol=1e-9) for problem in (plain, moved))
    np.testing.assert_allclose(one.coef, two.coef, atol=1e-4)
    gaps = one.intercept - two.intercept - rows[0]
    np.testing.assert_allclose(gaps, gaps.mean(), atol=1e-4)


@pytest.mark.parametrize("loss", ["poisson", "logistic", "softmax"])
def test_the_scale_is_the_best_constant_on_top_of_offsets(loss):
    X, y, o = sample(loss, n=80)
    problem = dg.Problem(X, y, loss, "l2", 0.1, intercept=True, offset=o)
    width = problem.width

    def constant(b):
        z = o + (b if width > 1 else b[0])
        return float(np.mean(value(loss, z, y))) - problem.floor

    best = minimize(constant, np.zeros(width), method="BFGS")
    assert problem.scale == pytest.approx(best.fun, rel=2e-3)


def test_lambda_max_counts_offsets():
    X, y, o = sample("poisson", n=80)
    problem = dg.Problem(X, y, "poisson", "l1", 1.0, intercept=True, offset=o)
    b = np.log(y.mean() / np.exp(o).mean())
    pull = X.T @ (y - np.exp(b + o)) / 80
    assert lambda_max(problem) == pytest.approx(np.abs(pull).max(), rel=1e-8)
    X, y, o = sample("softmax", n=80)
    highest = lambda_max(dg.Problem(X, y, "softmax", "l1", 1.0, intercept=True, offset=o))
    for factor, zero in ((1.001, True), (0.99, False)):
        problem = dg.Problem(X, y, "softmax", "l1", factor * highest, intercept=True, offset=o)
        assert dg.solve(problem, tol=1e-12).coef.any() != zero


def test_parts_of_a_problem_keep_their_offsets():
    for loss in ("poisson", "squared", "softmax"):
        X, y, o = sample(loss, n=40)
        problem = dg.Problem(X, y, loss, "l2", 0.1, intercept=True, offset=o)
        places = np.array([3, 30, 7, 8, 21])
        part = problem.on_samples(places)
        w = np.random.default_rng(0).normal(size=problem.coef_size) * 0.1
        own = dg.Problem(X[places], y[places], loss, "l2", 0.1, intercept=True, offset=o[places])
        z = problem.decision(w).reshape(40, -1)[places].ravel()
        if loss != "softmax" or len(set(y[places])) == 3:
            assert part.loss_value(z) == pytest.approx(own.loss_value(z) * 5 / 40, rel=1e-12)
        small = problem.on_features(np.array([0, 2]))
        other = dg.Problem(X[:, [0, 2]], y, loss, "l2", 0.1, intercept=True, offset=o)
        w = w[: other.coef_size]
        assert small.primal(w) == other.primal(w)
        again = pickle.loads(pickle.dumps(problem))
        assert again.primal(problem.features.origin) == problem.value_at_origin
        np.testing.assert_array_equal(again.given_y, y)


def test_checkpoints_are_of_one_offset(tmp_path):
    X, y, o = sample("logistic", n=60)
    first = dg.Problem(X, y, "logistic", "l2", 1e-3, intercept=True, offset=o)
    other = dg.Problem(X, y, "logistic", "l2", 1e-3, intercept=True, offset=o + 1e-6)
    path = tmp_path / "run.ckpt"
    options = {"method": "cd-gap-decay", "tol": 1e-9}
    first = dg.Problem(X, y, "logistic", "l2", 1e-3, offset=o)
    other = dg.Problem(X, y, "logistic", "l2", 1e-3, offset=o + 1e-6)
    dg.solve(first, max_epochs=2, checkpoint=path, checkpoint_every=0, **options)
    with pytest.raises(ValueError, match="y was different"):
        dg.solve(other, checkpoint=path, **options)
    resumed = dg.solve(first, checkpoint=path, **options)
    np.testing.assert_array_equal(resumed.coef, dg.solve(first, **options).coef)


def test_refusals_say_what_is_wrong():
    X, y, o = sample("logistic")
    for offset, words in (
        (o[:-1], "offset has 29 entries"),
        (np.where(o > 0, np.nan, o), "offset"),
        (o.reshape(-1, 1), "offset"),
        (o * 1e160, "rescale"),
    ):
        with pytest.raises(ValueError, match=words):
            dg.Problem(X, y, "logistic", offset=offset)
    X, y, o = sample("softmax")
    with pytest.raises(ValueError, match=r"offset must have shape \(30, 3\)"):
        dg.Problem(X, y, "softmax", offset=o[:, 0])
    assert "with an offset" in repr(dg.Problem(X, y, "softmax", offset=o))


def test_partitions_refuse_offsets():
    from dualgap.distributed import solve as solve_in_parts

    X, y, o = sample("logistic")
    with pytest.raises(ValueError, match="offset: partitions of data have none"):
        solve_in_parts(dg.Problem(X, y, "logistic", offset=o))


@pytest.mark.parametrize("far", [-1e8, -700.0, 700.0, 1e5, 1e8])
def test_exposures_in_other_units_move_the_intercept_of_rates(far):
    X, y, o = sample("poisson", n=60)
    X = X / [1.0, 30.0, 0.1]
    near = dg.solve(dg.Problem(X, y, "poisson", "l2", 0.1, intercept=True, offset=o), tol=1e-10)
    problem = dg.Problem(X, y, "poisson", "l2", 0.1, intercept=True, offset=o + far)
    found = dg.solve(problem, tol=1e-6)
    assert found.certificate.gap <= 1e-5  # at 1e8 rounding errors hide a smaller one
    np.testing.assert_allclose(found.coef, near.coef, atol=1e-2)
    assert found.intercept + far == pytest.approx(near.intercept, abs=1e-2)


def test_a_loss_of_ones_own_gets_offsets():
    """A loss of real targets that depends on more than their difference to z."""

    class Scaled(NamedTuple):
        """(y − 2z)²/2 is no function of y − z."""

        gamma: float = 0.25

        targets = "real"
        lipschitz = np.inf
        differentiable = True
        quadratic = True

        def value(self, z, y):
            return 0.5 * (y - 2.0 * z) ** 2

        def slope(self, z, y):
            return -2.0 * (y - 2.0 * z)

        def curvature(self, z, y):
            return 4.0

        def conj(self, a, y):
            return 0.125 * a * a - 0.5 * a * y

        def project(self, a, y):
            return a

        def dual_step(self, a, z, q, y):
            return (a * q + 0.5 * y - z) / (q + 0.25)

    X, y, o = sample("squared", n=50)
    X = X / [1.0, 30.0, 0.1]
    problem = dg.Problem(X, y, Scaled(), "l2", 0.1, offset=o)
    found = dg.solve(problem, tol=1e-12)
    A = 4.0 * X.T @ X / 50 + 0.1 * np.eye(3)
    expected = np.linalg.solve(A, 2.0 * X.T @ (y - 2.0 * o) / 50)
    np.testing.assert_allclose(found.coef, expected, atol=1e-7)
