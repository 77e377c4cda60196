"""Block losses: optima of an independent solver, true proofs, every method that fits."""

import numpy as np
import pytest
import scipy.sparse as sp
from block_reference import LOSSES, PENALTIES, cvxpy_optimum, data, objective
from sklearn.linear_model import LogisticRegression

import dualgap as dg
from dualgap import losses, methods, penalties, samplings
from dualgap.steps.coordinate.coordinate import Coordinate
from dualgap.steps.outer.proximal_point import ProximalPoint
from dualgap.testing import check_loss, check_step

DUAL_METHODS = [
    name
    for name, method in methods.METHODS.items()
    if name != "prox-point" and isinstance(method.step, Coordinate)
]


@pytest.mark.parametrize(
    ("penalty", "kind"),
    [(name, "dense") for name in PENALTIES]
    + [("l2", "csr"), ("l1", "csr"), ("l2", "csc"), ("elastic-net", "float32")],
)
@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_cvxpy(loss, penalty, kind):
    X, y, s = data(kind)
    lam, c = 0.05, s / s.sum()
    problem = dg.Problem(X, y, LOSSES[loss], PENALTIES[penalty], lam, sample_weight=s)
    solution = dg.solve(problem, tol=1e-9, max_epochs=20_000)
    assert solution.converged, str(solution)
    assert solution.coef.shape == (4, 3)
    assert solution.dual.shape == (40, 3)
    proof = solution.certificate
    ours = objective(loss, penalty, X, y, c, lam, solution.coef)
    assert proof.primal == pytest.approx(ours, rel=1e-12)
    reference = cvxpy_optimum(loss, penalty, X, y, c, lam)
    best = objective(loss, penalty, X, y, c, lam, reference)
    assert proof.dual <= best
    assert ours <= best + 1e-9 * problem.scale
    assert ours - best <= proof.gap


@pytest.mark.parametrize("loss", [losses.MulticlassHinge(1e-2), losses.MulticlassHinge(20.0)])
def test_laws_at_the_ends_of_the_range(loss):
    check_loss(loss)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"gamma": 3.0}, "gamma"),
        ({"lipschitz": 1.0}, "lipschitz"),
        ({"conj": lambda self, a, y: 0.9 * losses.Softmax().conj(a, y)}, "Fenchel-Young"),
        ({"project_into": lambda self, a, y, out: out.fill(0.0)}, "feasible"),
        ({"dual_step_into": lambda self, a, z, q, y, out: out.fill(0.0)}, "dual_step"),
    ],
)
def test_a_broken_block_loss_is_found(rules, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_loss(type("Broken", (losses.Softmax,), rules)())


@pytest.mark.parametrize("step", [Coordinate("dual"), ProximalPoint()], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_step_laws(loss, step):
    X, y, _ = data("dense")
    check_step(step, dg.Problem(X, y, LOSSES[loss], "l2", 0.1))


@pytest.mark.parametrize("method", DUAL_METHODS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_dual_method(loss, method):
    X, y, _ = data("dense")
    problem = dg.Problem(X, y, LOSSES[loss], "l2", 0.1)
    solution = dg.solve(problem, method, tol=1e-6, max_epochs=2000)
    assert solution.converged, str(solution)
    again = dg.solve(problem, method, tol=1e-6, max_epochs=2000)
    assert (solution.coef == again.coef).all()
    assert (solution.dual == again.dual).all()


def test_two_classes_of_softmax_are_logistic():
    # The optimal W is (−v, v), so that z_1 − z_0 = 2v·x and λ‖W‖²/2 = λ‖v‖² = (λ/2)‖2v‖²/2.
    X, y, s = data("dense", K=2)
    block = dg.solve(dg.Problem(X, y, "softmax", "l2", 0.1, s), tol=1e-12)
    scalar = dg.solve(dg.Problem(X, y, "logistic", "l2", 0.05, s), tol=1e-12)
    np.testing.assert_allclose(block.coef[:, 1] - block.coef[:, 0], scalar.coef, atol=1e-6)
    np.testing.assert_allclose(block.coef.sum(axis=1), 0.0, atol=1e-6)
    assert block.certificate.primal == pytest.approx(scalar.certificate.primal, rel=1e-11)


def test_a_model_of_scikit_learn_is_certified():
    X, y, s = data("dense", n=100)
    lam = 0.02
    model = LogisticRegression(C=1 / (lam * s.sum()), fit_intercept=False, tol=1e-10, max_iter=5000)
    coef = model.fit(X, y, s).coef_.T
    problem = dg.Problem(X, y, "softmax", "l2", lam, s)
    proof = dg.certify(problem, coef)
    assert proof.relative_gap < 1e-9
    best = dg.solve(problem, tol=1e-12)
    assert np.linalg.norm(coef - best.coef) <= proof.radius + best.certificate.radius
    rough = dg.certify(problem, 0.9 * coef)
    assert rough.relative_gap > 1e-4
    assert rough.sample_parts.shape == (100,)
    assert rough.feature_parts.shape == (4,)
    moved = np.linalg.norm(X @ (0.9 * coef - best.coef), axis=1)
    assert (moved <= rough.decision_radius(X) * (1 + 1e-6)).all()
    assert dg.certify(problem, 0.9 * coef, best.dual).gap <= rough.gap
    wild = np.random.default_rng(0).standard_normal((100, 3)) * 1e9
    assert dg.certify(problem, coef, wild).gap >= 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repetitions(loss):
    X, y, s = data("dense")
    weighted = dg.Problem(X, y, LOSSES[loss], "l2", 0.1, s)
    times = s.astype(int)
    repeated = dg.Problem(np.repeat(X, times, axis=0), np.repeat(y, times), LOSSES[loss], "l2", 0.1)
    one, two = dg.solve(weighted, tol=1e-12), dg.solve(repeated, tol=1e-12)
    np.testing.assert_allclose(one.coef, two.coef, atol=1e-5)
    assert repeated.primal(one.coef.ravel()) == pytest.approx(one.certificate.primal, rel=1e-13)


def test_labels_of_any_kind():
    X, y, _ = data("dense")
    names = np.array(["pear", "quince", "rowan"])
    numbers = dg.Problem(X, y * 7 - 3, "softmax", lam=0.1)
    words = dg.Problem(X, names[y], "softmax", lam=0.1)
    objects = dg.Problem(X, names[y].astype(object), "softmax", lam=0.1)
    assert list(numbers.classes) == [-3, 4, 11]
    assert list(words.classes) == list(objects.classes) == list(names)
    for problem in (numbers, words, objects):
        assert (problem.y == y).all()
        assert problem.width == 3


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["a"] * 40, "one class only"),
        ([1.0] * 39 + [np.nan], r"y\[39\] is nan"),
        (["a", None] * 20, "missing labels"),
        (["a", 1] * 20, None),
        (["a", "b"] * 10, "one label for each of the 40 samples"),
        (np.zeros((40, 2)), "one dimension"),
        (np.ma.masked_array([0, 1] * 20, [True] + [False] * 39), "masked"),
        (sp.csr_array(np.ones((40, 1))), "dense"),
        (np.array([1, "a"] * 20, dtype=object), "labels of one kind"),
    ],
)
def test_bad_labels(labels, says):
    X, _, _ = data("dense")
    if says is None:  # NumPy makes strings of these
        assert dg.Problem(X, labels, "softmax").width == 2
        return
    with pytest.raises(ValueError, match=says):
        dg.Problem(X, labels, "softmax")


def test_bad_shapes_and_problems_that_do_not_fit():
    X, y, _ = data("dense")
    problem = dg.Problem(X, y, "softmax", lam=0.1)
    for bad in (np.zeros(12), np.zeros((4, 2)), np.zeros((3, 4))):
        with pytest.raises(ValueError, match=r"coef must have shape \(4, 3\)"):
            dg.certify(problem, bad)
    with pytest.raises(ValueError, match=r"use coef.T"):
        dg.certify(problem, np.zeros((3, 4)))
    with pytest.raises(ValueError, match="dual must have shape"):
        dg.certify(problem, np.zeros((4, 3)), np.zeros(40))
    with pytest.raises(ValueError, match=r"coef.*nan"):
        dg.certify(problem, np.full((4, 3), np.nan))
    with pytest.raises(ValueError, match="no steps over features"):
        dg.solve(problem, Coordinate("primal"))
    with pytest.raises(ValueError, match="'prox-point' would work"):
        dg.solve(dg.Problem(X, y, "softmax", "l1"), "sdca")
    with pytest.raises(ValueError, match="gamma"):
        dg.Problem(X, y, losses.MulticlassHinge(-1.0))


def test_shapes_outside():
    X, y, _ = data("csr")
    problem = dg.Problem(X, y, "softmax", lam=0.1)
    seen = []
    rough = dg.solve(problem, tol=1e-3, callback=lambda snapshot: seen.append(snapshot.coef.shape))
    assert set(seen) == {(4, 3)}
    for start in (rough, (rough.coef, rough.dual), rough.coef):
        warm = dg.solve(problem, tol=1e-3, warm_start=start)
        assert warm.passes <= rough.passes
    assert dg.solve(problem, tol=0.0, sampling=samplings.Permutation()).status.name == "STALLED"


@pytest.mark.parametrize("loss", LOSSES)
def test_no_false_certificate(loss):
    """Data, weights and λ of wild scales; bounds against objectives in extended precision."""
    rng = np.random.default_rng(0)
    for case in range(200):
        n, K = int(rng.integers(4, 12)), int(rng.integers(2, 5))
        X, y, _ = data("dense", n=n, K=K, seed=case)
        X[rng.random(X.shape) < rng.choice([0.0, 0.5, 0.9])] = 0.0
        X *= 10.0 ** rng.integers(-8, 9)
        if rng.random() < 0.5:
            X *= 10.0 ** rng.integers(-4, 5, 4)
        s = rng.integers(0, 4, n) * 10.0 ** rng.integers(-8, 9)
        s[0] = 1.0
        lam, c = 10.0 ** rng.integers(-8, 9), s / s.sum()
        penalty = rng.choice(["l2", "l1", "elastic-net", "nonnegative"])
        problem = dg.Problem(X, y, LOSSES[loss], PENALTIES[penalty], lam, s)
        rough = dg.solve(problem, tol=0, max_epochs=int(rng.integers(0, 30)))
        better = dg.solve(problem, tol=1e-12, max_epochs=60, warm_start=rough)
        noisy = np.abs(rough.coef) if penalty == "nonnegative" else rough.coef
        noisy = noisy * (1 + 0.1 * rng.random(noisy.shape))
        random_dual = rng.standard_normal((n, K)) * 10.0 ** rng.integers(-9, 9)
        models = [rough.coef, better.coef, noisy, np.zeros((4, K))]
        proofs = [
            rough.certificate,
            better.certificate,
            dg.certify(problem, noisy, rough.dual),
            dg.certify(problem, noisy),
            dg.certify(problem, np.zeros((4, K)), random_dual),
        ]
        values = [objective(loss, penalty, X, y, c, lam, W) for W in models]
        lowest = min(value for value in values if np.isfinite(value))
        for proof in proofs:
            assert proof.gap >= 0
            assert not np.isnan([proof.primal, proof.dual, proof.gap]).any()
            assert proof.dual <= lowest, (case, problem)
        assert rough.certificate.gap >= values[0] - lowest, (case, problem)
        assert np.isfinite(better.coef).all()


class Ridge(penalties.L2):
    """A penalty of a user, which may look at the feature for all we know."""

    def value(self, w, j):
        return 0.5 * (1.0 + j) * w * w

    def conj(self, u, j):
        return 0.5 * u * u / (1.0 + j)

    def conj_slope(self, u, near, j):
        return u / (1.0 + j)

    def prox(self, u, t, j):
        return u / (1.0 + t * (1.0 + j))

    def strength(self, j):
        return 1.0 + j


def test_a_penalty_of_a_user_sees_features():
    X, y, _ = data("dense")
    ours = penalties.Weighted(penalties.L2(), np.arange(1.0, 5.0))
    one = dg.solve(dg.Problem(X, y, "softmax", Ridge(), 0.1), tol=1e-12)
    two = dg.solve(dg.Problem(X, y, "softmax", ours, 0.1), tol=1e-12)
    assert one.converged
    np.testing.assert_allclose(one.coef, two.coef, atol=1e-6)


def test_many_samples_of_few_features_have_a_method():
    """A block loss does not say whether it is quadratic, and is not asked."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((700, 2)), rng.integers(3, size=700)
    assert dg.solve(dg.Problem(X, y, "softmax", "l2", 0.1), tol=1e-4).converged
