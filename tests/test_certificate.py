"""The certificate never lies: whatever the coefficients, no model beats its bound."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from reference import LOSSES, PENALTIES, WEIGHTS, objective, targets
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.svm import LinearSVC

import dualgap as dg
from dualgap.penalties import L1, L2, Box, ElasticNet, Weighted

EXAMPLES = 200  # for each of the ten losses
PROBLEMS = [
    ("l2", "dense"),
    ("l2", "csr"),
    ("l2", "float32"),
    ("l1", "dense"),
    ("l1", "csr"),
    ("elastic-net", "dense"),
    ("nonnegative", "csr"),
    ("box", "dense"),
]  # not all pairs: each is a kernel to compile


@st.composite
def problems(draw):
    """Data of every awkward kind that still has float64 squares."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 12))
    X = rng.standard_normal((n, 5))
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = 0.0
    if draw(st.booleans()):
        X[rng.integers(n)] = 0.0
        X[:, rng.integers(5)] = 0.0
    if draw(st.booleans()):
        X[rng.integers(n)] = X[rng.integers(n)]
        X[:, 1] = X[:, 3]
    X *= 10.0 ** draw(st.integers(-8, 8))
    if draw(st.booleans()):
        X *= 10.0 ** rng.integers(-4, 5, 5)
    s = rng.integers(0, 4, n) * 10.0 ** draw(st.integers(-8, 8))
    s[0] = 1.0
    return {
        "rng": rng,
        "X": X,
        "s": s,
        "lam": 10.0 ** draw(st.integers(-8, 8)),
        "y_scale": 10.0 ** draw(st.integers(-8, 8)),
        "problem": draw(st.sampled_from(PROBLEMS)),
        "epochs": draw(st.integers(0, 30)),
    }


@pytest.mark.parametrize("loss", LOSSES)
def test_no_false_certificate(loss):
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
    @given(problems())
    def check(case):
        check_case(loss, case)

    check()


def check_case(loss, case):
    X, s, rng, lam = (case[key] for key in ("X", "s", "rng", "lam"))
    penalty, kind = case["problem"]
    y = targets(LOSSES[loss], X @ rng.standard_normal(5) / (np.abs(X).max() or 1.0), rng)
    if LOSSES[loss].targets == "binary":
        y[:2] = -1.0, 1.0
    elif LOSSES[loss].targets == "real":
        y *= case["y_scale"]
    if kind == "float32":
        X = X.astype(np.float32)
    data = sp.csr_array(X) if kind == "csr" else X
    c = s / s.sum()
    problem = dg.Problem(data, y, LOSSES[loss], PENALTIES[penalty], lam, sample_weight=s)
    rough = dg.solve(problem, tol=0, max_epochs=case["epochs"])
    better = dg.solve(problem, tol=1e-12, max_epochs=60, warm_start=rough)
    noisy = rough.coef * (1 + 0.1 * rng.standard_normal(5))
    if penalty in ("nonnegative", "box"):
        noisy = np.clip(noisy, 0.0, 0.3)
    models = [rough.coef, better.coef, noisy, np.zeros(5)]
    proofs = [rough.certificate, better.certificate, dg.certify(problem, noisy, rough.dual)]
    proofs += [
        dg.certify(problem, noisy),
        dg.certify(problem, np.zeros(5), rng.standard_normal(problem.n)),
    ]
    values = [objective(loss, penalty, X, y, c, lam, w) for w in models]
    values = [value for value in values if np.isfinite(value)]
    for proof in proofs:
        assert proof.gap >= 0
        assert not np.isnan([proof.primal, proof.dual, proof.gap, proof.relative_gap]).any()
        assert proof.dual <= min(values)
    assert rough.certificate.gap >= objective(loss, penalty, X, y, c, lam, rough.coef) - min(values)
    assert np.isfinite(better.coef).all()


def ridge_problem(n=30, d=5, seed=0, **kwargs):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    return dg.Problem(X, y, "squared", "l2", 0.1, **kwargs), X, y


def test_ridge_against_its_closed_form():
    problem, X, y = ridge_problem()
    best = np.linalg.solve(X.T @ X / 30 + 0.1 * np.eye(5), X.T @ y / 30)
    proof = dg.certify(problem, best)
    assert proof.gap <= 1e-14
    assert proof.primal == pytest.approx(((X @ best - y) ** 2).mean() / 2 + 0.05 * best @ best)
    rng = np.random.default_rng(1)
    for scale in 10.0 ** np.arange(-6, 2):
        w = best + scale * rng.standard_normal(5)
        proof = dg.certify(problem, w)
        true = ((X @ w - y) ** 2).mean() / 2 + 0.05 * w @ w - proof.primal + proof.gap
        assert true <= proof.gap * (1 + 1e-9)
        assert np.linalg.norm(w - best) <= proof.radius
        assert (np.abs(X @ (w - best)) <= proof.decision_radius(X)).all()


def test_the_parts_add_up():
    problem, _, _ = ridge_problem()
    proof = dg.certify(problem, np.ones(5))
    assert proof.sample_parts.shape == (30,)
    assert proof.feature_parts.shape == (5,)
    assert min(proof.sample_parts.min(), proof.feature_parts.min()) >= 0
    total = proof.sample_parts.sum() + proof.feature_parts.sum()
    assert proof.gap == pytest.approx(total, rel=1e-9)
    assert proof.gap == pytest.approx(proof.primal - proof.dual)
    assert proof.relative_gap == pytest.approx(proof.gap / problem.scale)


@pytest.mark.parametrize(
    ("loss", "penalty", "model"),
    [
        ("squared", "l2", lambda n: Ridge(alpha=0.01 * n, fit_intercept=False, tol=1e-12)),
        ("squared", "l1", lambda n: Lasso(alpha=0.01, fit_intercept=False, tol=1e-14)),
        (
            "logistic",
            "l2",
            lambda n: LogisticRegression(C=1 / (0.01 * n), fit_intercept=False, tol=1e-12),
        ),
        (
            "squared-hinge",
            "l2",
            lambda n: LinearSVC(C=0.5 / (0.01 * n), fit_intercept=False, tol=1e-12, max_iter=10**6),
        ),
    ],
)
def test_models_of_scikit_learn_are_certified(loss, penalty, model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    y = X[:, 0] + 0.3 * rng.standard_normal(80)
    y = y if loss == "squared" else np.sign(y)
    fitted = model(80).fit(X, y)
    proof = dg.certify(dg.Problem(X, y, loss, penalty, 0.01), fitted.coef_.ravel())
    assert proof.relative_gap < 1e-9
    rough = dg.certify(dg.Problem(X, y, loss, penalty, 0.01), fitted.coef_.ravel() * 0.9)
    assert rough.relative_gap > 1e-4


def test_a_dual_point_helps_where_the_loss_has_kinks():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    problem = dg.Problem(X, np.sign(X[:, 0] + rng.standard_normal(50)), "hinge", "l2", 0.1)
    solution = dg.solve(problem, tol=1e-8)
    alone = dg.certify(problem, solution.coef)
    assert dg.certify(problem, solution.coef, solution.dual).gap < 1e-3 * alone.gap
    infeasible = solution.dual * 5 + 3
    assert dg.certify(problem, solution.coef, infeasible).gap >= solution.certificate.gap


def test_l1_dual_point_is_rescaled_into_the_feasible_set():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 50)), rng.standard_normal(20)
    problem = dg.Problem(X, y, "squared", "l1", 0.01)
    proof = dg.certify(problem, np.zeros(50))
    assert np.isfinite(proof.gap)
    assert proof.radius is None
    with pytest.raises(ValueError, match="strongly convex"):
        proof.decision_radius(X)
    best = Lasso(alpha=0.01, fit_intercept=False, tol=1e-12, max_iter=10**6).fit(X, y).coef_
    assert dg.certify(problem, best).relative_gap < 1e-9


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge", "huber", "poisson"])
@pytest.mark.parametrize("base", [L1(), L2(), ElasticNet(0.5)], ids=str)
def test_unpenalised_features(loss, base):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) + 0.5
    y = targets(LOSSES[loss], X[:, 0] - X[:, 4], rng)
    weights = np.array([0.0, 1.0, 2.0, 0.0, 1.0])
    problem = dg.Problem(X, y, LOSSES[loss], Weighted(base, weights), 0.1)
    solution = dg.solve(problem, tol=1e-8, max_epochs=5000)
    assert solution.converged, str(solution)
    assert solution.certificate.radius is None
    tiny = Weighted(base, np.where(weights == 0, 1e-6, weights))
    near = dg.solve(dg.Problem(X, y, LOSSES[loss], tiny, 0.1), tol=1e-7, max_epochs=5000)
    assert near.converged, str(near)
    np.testing.assert_allclose(solution.coef, near.coef, atol=5e-3)
    assert near.certificate.primal == pytest.approx(solution.certificate.primal, abs=1e-6)
    assert solution.certificate.dual <= near.certificate.primal


def test_unpenalised_features_need_a_smooth_loss():
    X, y = np.eye(4) + 0.1, [1.0, -1.0, 1.0, -1.0]
    problem = dg.Problem(X, y, "hinge", Weighted(L2(), [0.0, 1.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match="without a penalty needs a loss without kinks"):
        dg.solve(problem)


def test_infinite_weights_switch_features_off():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 5)), rng.standard_normal(30)
    off = np.where(np.arange(5) < 2, np.inf, 1.0)
    for base in (L2(), L1()):
        solution = dg.solve(dg.Problem(X, y, "squared", Weighted(base, off), 0.05), tol=1e-9)
        without = dg.solve(dg.Problem(X[:, 2:], y, "squared", base, 0.05), tol=1e-9)
        assert solution.converged
        assert (solution.coef[:2] == 0).all()
        np.testing.assert_allclose(solution.coef[2:], without.coef, atol=1e-4)


def test_edges_n_is_one_and_zero_rows_and_columns():
    one = dg.solve(dg.Problem([[2.0, 0.0]], [3.0], lam=0.5), tol=1e-12)
    np.testing.assert_allclose(one.coef, [3.0 * 2 / (4 + 0.5), 0.0], rtol=1e-6)
    empty = dg.solve(dg.Problem(np.zeros((3, 2)), [1.0, 2.0, 3.0]), tol=1e-12)
    assert empty.converged
    assert empty.certificate.primal == pytest.approx(14 / 6)
    zero = dg.solve(dg.Problem(np.eye(3), np.zeros(3)))
    assert zero.converged
    assert zero.certificate.gap == zero.certificate.relative_gap == 0.0


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic"])
def test_weights_are_repetitions_and_zero_weights_are_removals(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 4))
    y = targets(LOSSES[loss], X[:, 0], rng)
    s = rng.integers(0, 4, 20)
    weighted = dg.solve(dg.Problem(X, y, LOSSES[loss], lam=0.1, sample_weight=s), tol=1e-10)
    repeated = dg.solve(
        dg.Problem(np.repeat(X, s, 0), np.repeat(y, s), LOSSES[loss], lam=0.1), tol=1e-10
    )
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-4)
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-9)


def test_outside_the_constraint_the_gap_is_infinite():
    problem = dg.Problem(np.eye(2), [1.0, 2.0], penalty=Box(0.0, 1.0))
    proof = dg.certify(problem, [-1.0, 0.5])
    assert proof.primal == proof.gap == np.inf
    assert "constraint" in str(proof)


def test_a_box_that_excludes_zero():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 5)), rng.standard_normal(30)
    for base in (L2(), L1()):
        solution = dg.solve(dg.Problem(X, y, penalty=Box(0.5, 2.0, base)), tol=1e-9)
        assert solution.converged
        assert (solution.coef >= 0.5).all()


def test_certificate_in_words():
    words = str(dg.certify(ridge_problem()[0], np.zeros(5)))
    assert words.startswith("objective ")
    assert "no model can do better than" in words


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((np.zeros(4),), "coef"),
        ((np.full(5, np.nan),), "coef"),
        ((["a"] * 5,), "coef"),
        ((np.zeros(5), np.zeros(3)), "dual"),
        ((np.zeros(5), np.full(30, np.inf)), "dual"),
    ],
)
def test_bad_arguments_are_named(arguments, names):
    with pytest.raises(ValueError, match=names):
        dg.certify(ridge_problem()[0], *arguments)


def test_weights_of_reference_are_what_the_penalty_uses():
    assert (PENALTIES["weighted-elastic-net"].weights == WEIGHTS).all()
