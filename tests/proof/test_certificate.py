"""The certificate never lies: whatever the coefficients, no model beats its bound."""

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from reference import LOSSES, PENALTIES, objective, targets
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.svm import LinearSVC

import dualgap as dg
from dualgap.penalties import L1, L2, Box, ElasticNet, Weighted
from dualgap.proof.feature_terms import feature_terms

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
    assert proof.gap <= 1e-13
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
    assert proof.scale == pytest.approx(problem.primal(np.zeros(5)))
    with pytest.raises(ValueError, match="X has 3 features"):
        proof.decision_radius(np.eye(3))
    assert proof.relative_gap == pytest.approx(proof.gap / max(proof.dual, 1e-3 * problem.scale))


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


def test_a_dual_point_helps_with_unpenalised_features_too():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), 3 + rng.standard_normal(30)
    problem = dg.Problem(X, y, "squared", Weighted(L2(), [1.0, 1.0, 1.0, 0.0]), 0.1)
    solution = dg.solve(problem, tol=1e-8)
    zero = dg.certify(problem, np.zeros(4), solution.dual)
    assert zero.dual == pytest.approx(solution.certificate.dual, rel=1e-6)
    assert zero.dual > dg.certify(problem, np.zeros(4)).dual


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


def longdouble_ridge(X, y, lam):
    """w and a of ridge regression in extended precision, by conjugate gradients."""
    A, y = X.astype(np.longdouble), y.astype(np.longdouble)
    n = len(y)
    w = np.zeros(X.shape[1], np.longdouble)
    residual = A.T @ y / n
    direction = residual.copy()
    for _ in range(200):
        image = A.T @ (A @ direction) / n + lam * direction
        size = residual @ residual
        if size == 0:
            break
        step = size / (direction @ image)
        w += step * direction
        residual -= step * image
        direction = residual + (residual @ residual) / size * direction
    return w.astype(float), (y - A @ w).astype(float)


@pytest.mark.parametrize("seed", range(20))
def test_rounding_is_part_of_the_proof(seed):
    """Nearly collinear data and tiny λ: the bound stays below the objective of its own model."""
    rng = np.random.default_rng(seed)
    X = np.outer(rng.standard_normal(10), rng.standard_normal(6)) + 1e-5 * rng.standard_normal(
        (10, 6)
    )
    y = rng.standard_normal(10)
    w, a = longdouble_ridge(X, y, 1e-10)
    proof = dg.certify(dg.Problem(X, y, "squared", "l2", 1e-10), w, a)
    exact = objective("squared", "l2", X, y, np.full(10, 0.1), 1e-10, w)
    assert proof.dual <= exact


@pytest.mark.parametrize("size", [1e2, 1e5, 1e8])
@pytest.mark.parametrize(
    "make", [dg.losses.EpsilonInsensitive, dg.losses.SquaredEpsilonInsensitive]
)
def test_cancellation_inside_a_loss_is_part_of_the_proof(make, size):
    rng = np.random.default_rng(0)
    X, y = 1e-3 * rng.standard_normal((8, 3)), size + 1e-3 * rng.random(8)
    problem = dg.Problem(X, y, make(size), "l2", 1e-3)
    best = dg.solve(problem, tol=1e-12, max_epochs=20_000)
    at_zero = dg.certify(problem, np.zeros(3), best.dual)
    r = np.maximum(np.abs(y.astype(np.longdouble)) - size, 0)
    value = float(np.mean(r) if make is dg.losses.EpsilonInsensitive else np.mean(r**2) / 2)
    z = X.astype(np.longdouble) @ best.coef
    r = np.maximum(np.abs(y - z) - size, 0)
    other = float(np.mean(r) if make is dg.losses.EpsilonInsensitive else np.mean(r**2) / 2)
    other += 5e-4 * best.coef @ best.coef
    assert at_zero.gap >= value - other
    assert at_zero.dual <= other


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_long_sums_of_equal_terms(penalty):
    """Rounding that always goes the same way, as in a constant column."""
    n = 10**6
    X, y = np.full((n, 1), 0.1), np.full(n, 0.7)
    problem = dg.Problem(X, y, "squared", penalty, 0.01)
    w = (0.07 / (0.01 + 0.01)) if penalty == "l2" else (0.07 - 0.01) / 0.01
    proof = dg.certify(problem, [0.0], np.full(n, 0.7 - 0.1 * w))
    best = (0.7 - 0.1 * w) ** 2 / 2 + (0.005 * w**2 if penalty == "l2" else 0.01 * w)
    assert proof.dual <= best
    assert proof.dual == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("loss", ["squared", "huber", "squared-epsilon-insensitive"])
def test_an_unpenalised_intercept_takes_up_any_offset(loss, offset):
    rng = np.random.default_rng(0)
    X = np.c_[np.ones(40), rng.standard_normal((40, 3))]
    y = offset + X[:, 1] + rng.standard_normal(40)
    problem = dg.Problem(X, y, LOSSES[loss], Weighted(L1(), [0.0, 1.0, 1.0, 1.0]), 0.1)
    solution = dg.solve(problem, tol=1e-6, max_epochs=5000)
    assert solution.converged, str(solution)
    centred = dg.Problem(X, y - offset, LOSSES[loss], problem.penalty, 0.1)
    np.testing.assert_allclose(
        dg.solve(centred, tol=1e-10, max_epochs=5000).certificate.primal,
        solution.certificate.primal,
        atol=1e-6 * problem.scale,
    )


def test_an_intercept_for_counts_and_for_no_events_at_all():
    rng = np.random.default_rng(0)
    X = np.c_[np.ones(40), rng.standard_normal((40, 3))]
    free = Weighted(L1(), [0.0, 1.0, 1.0, 1.0])
    counts = dg.Problem(X, rng.poisson(1000, 40), "poisson", free, 0.01)
    assert dg.solve(counts, tol=1e-6).converged
    nothing = dg.solve(dg.Problem(X, np.zeros(40), "poisson", free, 0.01), tol=1e-6)
    assert np.isfinite(nothing.certificate.gap)  # the infimum 0 is not reached by any coefficients


def test_nearly_collinear_unpenalised_features_get_no_false_bound():
    r = np.random.default_rng(1).standard_normal(6)
    X, y = np.c_[np.ones(6), 1 + np.round(4 * r) * 2.0**-52], r
    problem = dg.Problem(X, y, "squared", Weighted(L2(), [0.0, 0.0]), 1.0)
    assert dg.certify(problem, [y.mean(), 0.0]).dual <= 0.0


def test_large_counts_and_boxes_leave_a_positive_scale():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    problem = dg.Problem(X, np.full(12, 3000.0), "poisson", Box(0.1, 0.2), 0.1)
    assert problem.scale > 0
    assert dg.solve(problem, tol=1e-6).converged
    large = dg.Problem(X, rng.poisson(3, 12) * 1e4, "poisson", "l2", 0.1)
    for method in ("auto", "cd-permutation"):
        solution = dg.solve(large, method, tol=1e-6, max_epochs=5000)
        assert solution.converged, str(solution)
        assert (solution.history.dual <= solution.certificate.primal + 1e-9 * large.scale).all()


def test_status_and_certificate_agree():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3, 8)), rng.standard_normal(3)
    penalty = Box(0.0, 0.0, ElasticNet(0.5))
    loss = dg.losses.SquaredEpsilonInsensitive()
    solution = dg.solve(dg.Problem(X, y, loss, penalty, 0.0131), tol=1e-6)
    assert solution.converged == (solution.certificate.gap <= solution.target)


def test_switching_every_feature_off():
    problem = dg.Problem(np.eye(3), [1.0, 2.0, 3.0], "squared", Weighted(L2(), [np.inf] * 3), 0.1)
    assert dg.certify(problem, [1.0, 0.0, 0.0]).radius == np.inf
    assert dg.solve(problem).certificate.radius == 0.0


@pytest.mark.parametrize("penalty", [L2(), L1()])
def test_sums_do_not_depend_on_where_arrays_lie(penalty):
    """Side by side in memory or far apart: the same bits, or no run could be repeated."""
    rng = np.random.default_rng(0)
    w, u = rng.standard_normal((2, 12))
    u *= 0.1
    space, found = np.empty(60), set()
    for apart in range(12):
        for first, second, third in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            starts = [(12 + apart % 4) * k + apart % 5 for k in (first, second, third)]
            of_w, of_u, parts = (space[start : start + 12] for start in starts)
            of_w[:], of_u[:] = w, u
            sums = feature_terms(penalty, 0.3, of_w, of_u, np.empty(0), parts)
            found.add((sums, parts.tobytes()))
    assert len(found) == 1
