"""Paths: every point is scikit-learn's at tight tolerance, and screening is never wrong."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import linear_model

import dualgap as dg
from dualgap.estimators.selection.paths import enet_path, lasso_path, logistic_path
from dualgap.penalties import L1, L2, Box, ElasticNet, NonNegative, Weighted
from dualgap.proof.screening import proven_zero
from dualgap.run.path import grid, lambda_max, path

# scikit-learn has other words for these in its older versions.
VERSION = tuple(map(int, sklearn.__version__.split(".")[:2]))
SEVEN_ALPHAS = {"alphas": 7} if VERSION >= (1, 7) else {"n_alphas": 7}
L1_PENALTY = {"l1_ratio": 1.0} if VERSION >= (1, 8) else {"penalty": "l1"}
TIGHT = {"tol": 1e-13, "max_iter": 100_000}


def data(n=40, d=60, seed=0):
    """Correlated features of which five matter, some of them zero, so that CSR means something."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    X[rng.random(X.shape) < 0.3] = 0.0
    w = np.zeros(d)
    w[:5] = [3.0, -2.0, 1.5, 1.0, -1.0]
    return X, X @ w + 0.3 * rng.standard_normal(n) + 2.0


X, y = data()
LABELS = np.where(y > np.median(y), 1.0, -1.0)
WEIGHTS = np.random.default_rng(1).random(len(y)) + 0.1


def objective(X, y, w, alpha, l1_ratio):
    l1, l2 = np.abs(w).sum(), w @ w / 2
    return np.mean((y - X @ w) ** 2) / 2 + alpha * (l1_ratio * l1 + (1 - l1_ratio) * l2)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_the_path_is_that_of_scikit_learn(l1_ratio):
    ours = enet_path(X, y, l1_ratio=l1_ratio, n_alphas=12, eps=1e-2, tol=1e-12, max_iter=100_000)
    theirs = linear_model.enet_path(X, y, l1_ratio=l1_ratio, alphas=ours[0], **TIGHT)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-5)
    for alpha, mine, other, gap in zip(ours[0], ours[1].T, theirs[1].T, ours[2]):
        above = objective(X, y, mine, alpha, l1_ratio) - objective(X, y, other, alpha, l1_ratio)
        assert above <= gap + 1e-12
        assert gap <= 1e-12 * np.mean(y**2) / 2


def test_gaps_bound_the_objective_that_is_documented():
    alphas, coefs, gaps = enet_path(X, y, l1_ratio=0.4, alphas=6, eps=1e-2, tol=1e-3)
    best = enet_path(X, y, l1_ratio=0.4, alphas=alphas, tol=1e-12, max_iter=100_000)[1]
    for alpha, coef, optimum, gap in zip(alphas, coefs.T, best.T, gaps):
        above = objective(X, y, coef, alpha, 0.4) - objective(X, y, optimum, alpha, 0.4)
        assert above <= gap * (1 + 1e-9) + 1e-12


def test_the_grid_is_that_of_scikit_learn():
    theirs = linear_model.lasso_path(X, y, eps=1e-2, **SEVEN_ALPHAS)[0]
    np.testing.assert_allclose(lasso_path(X, y, alphas=7, eps=1e-2)[0], theirs, rtol=1e-12)
    np.testing.assert_allclose(lasso_path(X, y, n_alphas=7, eps=1e-2)[0], theirs, rtol=1e-12)


def test_lasso_path_takes_what_scikit_learns_takes():
    alphas, coefs, gaps, epochs = lasso_path(
        X.astype(np.float32),
        y,
        alphas=[0.1, 1.0],
        precompute=False,
        copy_X=False,
        coef_init=np.ones(X.shape[1]),
        return_n_iter=True,
        positive=True,
        random_state=np.random.RandomState(0),
    )
    assert alphas.tolist() == [1.0, 0.1]
    assert coefs.dtype == np.float32  # of which the gaps are proven
    assert (coefs >= 0.0).all()
    assert gaps.shape == (2,)
    assert len(epochs) == 2


def test_alpha_zero_is_least_squares():
    tall = X[:, :6]
    coefs = lasso_path(tall, y, alphas=[0.1, 0.0], tol=1e-12, max_iter=100_000)[1]
    np.testing.assert_allclose(coefs[:, 1], np.linalg.lstsq(tall, y, rcond=None)[0], atol=1e-5)


def test_sparse_is_dense():
    dense = lasso_path(X, y, alphas=8, eps=1e-2, tol=1e-12, max_iter=100_000)
    for storage in (sp.csr_array, sp.csc_array):
        sparse = lasso_path(storage(X), y, alphas=8, eps=1e-2, tol=1e-12, max_iter=100_000)
        np.testing.assert_allclose(sparse[0], dense[0], rtol=1e-12)
        np.testing.assert_allclose(sparse[1], dense[1], atol=1e-5)


@pytest.mark.parametrize("screen", [True, False])
def test_every_point_has_the_certificate_of_the_whole_problem(screen):
    problem = dg.Problem(X, y, "squared", "l1", 1.0, WEIGHTS, intercept=True)
    lams = grid(problem, 0.05, 8)
    for lam, solution in zip(lams, path(problem, lams, screen=screen)):
        assert solution.converged
        whole = dg.Problem(X, y, "squared", "l1", lam, WEIGHTS, intercept=True)
        again = dg.certify(whole, solution.coef, solution.dual, solution.intercept)
        assert again.primal == pytest.approx(solution.certificate.primal, rel=1e-12)
        # A run is content with the first dual point that proves enough, and this tries them all.
        assert again.gap <= solution.certificate.gap * (1.0 + 1e-6)
        assert solution.certificate.gap <= 1e-4 * whole.scale * (1.0 + 1e-6)
        assert len(solution.certificate.feature_parts) == whole.d


@pytest.mark.parametrize(
    ("loss", "penalty", "intercept"),
    [
        ("squared", L1(), False),
        ("squared", L1(), True),
        ("logistic", L1(), True),
        ("squared", ElasticNet(0.4), False),
        ("squared", NonNegative(L1()), False),
    ],
)
def test_screening_never_removes_what_the_optimum_uses(loss, penalty, intercept):
    target = LABELS if loss == "logistic" else y
    problem = dg.Problem(X, target, loss, penalty, 1.0, WEIGHTS, intercept=intercept)
    proven = []
    for part in (0.7, 0.2, 0.05):
        at = problem.with_lam(part * lambda_max(problem))
        optimum = dg.solve(at, tol=1e-12, max_epochs=100_000)
        support = np.abs(optimum.coef) > 1e-7
        for tol in (1e-2, 1e-4, 1e-8):
            loose = dg.solve(at, tol=tol)
            zero = proven_zero(at, loose.certificate, loose.dual)
            assert zero.shape == (X.shape[1],)
            assert not (zero & support).any()
            proven.append(zero.sum())
        assert proven[-1] > 0.5 * (~support).sum()
    assert proven[0] <= proven[2]


def test_screening_says_nothing_about_unpenalised_features_and_kinks():
    weights = np.ones(X.shape[1])
    weights[0] = 0.0
    bare = X.copy()
    bare[:, 0] = 0.0
    problem = dg.Problem(bare, y, "squared", Weighted(L1(), weights), 1.0)
    problem = problem.with_lam(2.0 * lambda_max(problem))
    solution = dg.solve(problem)
    assert proven_zero(problem, solution.certificate, solution.dual).tolist() == [False] + [
        True
    ] * (X.shape[1] - 1)
    kink = dg.Problem(X, y, dg.losses.Quantile(0.5), L1(), 0.5)
    nothing = np.zeros(len(y))
    assert not proven_zero(kink, dg.certify(kink, np.zeros(X.shape[1])), nothing).any()


@pytest.mark.parametrize(
    ("loss", "penalty", "intercept"),
    [
        ("squared", L1(), False),
        ("squared", L1(), True),
        ("squared", ElasticNet(0.4), False),
        ("squared", NonNegative(L1()), False),
        ("logistic", L1(), True),
    ],
)
def test_lambda_max_is_where_the_first_coefficient_appears(loss, penalty, intercept):
    target = LABELS if loss == "logistic" else y
    problem = dg.Problem(X, target, loss, penalty, 1.0, WEIGHTS, intercept=intercept)
    highest = lambda_max(problem)
    assert highest == lambda_max(problem.with_lam(0.1))
    above = dg.solve(problem.with_lam(highest * (1 + 1e-6)), tol=1e-13)
    below = dg.solve(problem.with_lam(highest * (1 - 1e-3)), tol=1e-13)
    assert proven_zero(problem.with_lam(2 * highest), *_at(problem, 2 * highest)).all()
    assert np.abs(above.coef).max() < 1e-6
    assert np.abs(below.coef).max() > 1e-5


def _at(problem, lam):
    solution = dg.solve(problem.with_lam(lam), tol=1e-10)
    return solution.certificate, solution.dual


def test_lambda_max_refuses_in_words():
    for penalty, word in [(L2(), "L1 part"), (Box(1.0, 2.0, L1()), "bounds")]:
        with pytest.raises(ValueError, match=word):
            lambda_max(dg.Problem(X, y, "squared", penalty))
    with pytest.raises(ValueError, match="kink"):
        lambda_max(dg.Problem(X, LABELS, "hinge", L1()))
    with pytest.raises(ValueError, match="L1 part"):
        enet_path(X, y, l1_ratio=0.0)


def test_another_lam_shares_the_data_but_not_what_depends_on_lam():
    problem = dg.Problem(X, y, "squared", Box(0.5, 2.0), 1.0)
    problem.columns, problem.scale, problem.least  # noqa: B018 - they are cached
    other = problem.with_lam(3.0)
    assert other.columns is problem.columns
    assert other.column_squares is problem.column_squares
    assert other.scale == dg.Problem(X, y, "squared", Box(0.5, 2.0), 3.0).scale != problem.scale
    assert other.least == 3.0 * problem.least
    assert problem.lam == 1.0
    with pytest.raises(ValueError, match="lam"):
        problem.with_lam(0.0)


def test_logistic_path_is_that_of_scikit_learn():
    Cs, coefs, gaps = logistic_path(X, LABELS, [0.3, 0.1, 1.0], sample_weight=WEIGHTS, tol=1e-11)
    assert Cs.tolist() == [0.1, 0.3, 1.0]
    assert coefs.shape == (X.shape[1] + 1, 3)
    for C, coef, gap in zip(Cs, coefs.T, gaps):
        lam = 1.0 / (C * WEIGHTS.sum())
        problem = dg.Problem(X, LABELS, "logistic", "l1", lam, WEIGHTS, intercept=True)
        assert dg.certify(problem, coef[:-1], intercept=coef[-1]).gap < 1e-6
        model = linear_model.LogisticRegression(
            C=C, solver="saga", tol=1e-9, max_iter=100_000, **L1_PENALTY
        ).fit(X, LABELS, sample_weight=WEIGHTS)
        theirs = problem.primal(np.append(model.coef_[0], model.intercept_))
        assert problem.primal(coef) <= theirs + gap
        np.testing.assert_allclose(coef[:-1], model.coef_[0], atol=1e-3)


def test_alpha_zero_keeps_no_bound_on_one_side_and_says_so():
    with pytest.raises(ValueError, match="use a tiny alpha"):
        lasso_path(X[:, :6], y, alphas=[0.1, 0.0], positive=True)
