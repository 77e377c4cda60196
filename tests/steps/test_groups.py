"""Working sets of groups against independent optima, and what their certificates claim."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.methods import METHODS
from dualgap.penalties import GroupLasso, SparseGroupLasso
from dualgap.proof.screening import proven_zero
from dualgap.run.path import grid, lambda_max, path
from dualgap.steps.groups import support
from dualgap.testing import check_step

N, P = 40, 15
GROUPS = [[0, 9], [3, 4, 5], [], [1], [2, 6, 7, 8, 10, 11], [12, 13, 14]]
WEIGHTS = np.array([1.0, 2.0, 1.0, 0.5, 1.5, 0.0])
rng = np.random.default_rng(3)
X = rng.standard_normal((N, P)) + rng.standard_normal(P)
SIGNAL = X @ (rng.standard_normal(P) * (np.arange(P) < 7)) * 0.4
TARGETS = {
    "squared": SIGNAL + rng.standard_normal(N) + 5.0,
    "huber": SIGNAL + rng.standard_normal(N) + 5.0,
    "logistic": np.where(SIGNAL + rng.standard_normal(N) > SIGNAL.mean(), 1.0, -1.0),
    "poisson": rng.poisson(np.exp(np.clip(SIGNAL - SIGNAL.mean(), -3, 2))).astype(float),
}
PENALTIES = {
    "group": GroupLasso(GROUPS),
    "weighted": GroupLasso(GROUPS, WEIGHTS),
    "group net": GroupLasso(GROUPS, WEIGHTS, l1_ratio=0.6),
    "positive": GroupLasso(GROUPS, positive=True),
    "sparse": SparseGroupLasso(GROUPS, 0.4),
    "sparse weighted": SparseGroupLasso(
        GROUPS, 0.4, WEIGHTS, feature_weights=np.arange(P) / 10 + 0.1
    ),
    "sparse net": SparseGroupLasso(GROUPS, 0.4, WEIGHTS, l1_ratio=0.7, positive=False),
    "sparse positive": SparseGroupLasso(GROUPS, 0.4, positive=True),
    "one group": GroupLasso([P]),
    "single features": GroupLasso(1),
}


def loss_of(name, z, y):
    if name == "squared":
        return cp.sum_squares(y - z) / 2.0
    if name == "huber":
        return cp.sum(cp.huber(y - z, 1.0)) / 2.0
    if name == "logistic":
        return cp.sum(cp.logistic(cp.multiply(-y, z)))
    return cp.sum(cp.exp(z) - cp.multiply(y, z))


def penalty_of(penalty, w):
    groups = penalty.groups
    if isinstance(groups, int):
        groups = [[j] for j in range(P)]
    elif np.ndim(groups[0]) == 0:
        groups = [list(range(P))]
    weights = np.ones(len(groups)) if penalty.weights is None else penalty.weights
    tau, ratio = getattr(penalty, "tau", 0.0), penalty.l1_ratio
    own = getattr(penalty, "feature_weights", None)
    own = np.ones(P) if own is None else own
    total = ratio * tau * cp.sum(cp.multiply(own, cp.abs(w)))
    for group, weight in zip(groups, weights):
        if group:
            total += ratio * (1 - tau) * weight * cp.norm(w[group])
            total += 0.5 * (1 - ratio) * weight * cp.sum_squares(w[group])
    return total


def optimum(loss, penalty, lam, weights=None, intercept=True):
    """By an interior-point method."""
    y, c = TARGETS[loss], np.ones(N) if weights is None else weights
    w, b = cp.Variable(P), cp.Variable()
    z = X @ w + b if intercept else X @ w
    if weights is None:
        losses = loss_of(loss, z, y) / N
    else:
        losses = sum(c[i] * loss_of(loss, z[i : i + 1], y[i : i + 1]) for i in range(N)) / c.sum()
    constraints = [w >= 0] if penalty.positive else []
    problem = cp.Problem(cp.Minimize(losses + lam * penalty_of(penalty, w)), constraints)
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem.solve(solver=cp.CLARABEL, **tight)


@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("loss", TARGETS)
def test_the_optimum_is_that_of_an_interior_point_method(loss, name):
    penalty = PENALTIES[name]
    problem = dg.Problem(X, TARGETS[loss], loss, penalty, 0.05, intercept=True)
    problem = problem.with_lam(0.1 * lambda_max(problem))
    solution = dg.solve(problem, tol=1e-9)
    assert solution.converged
    assert solution.name == "groups"
    expected, proof = optimum(loss, penalty, problem.lam), solution.certificate
    scale = 1.0 + abs(expected)
    assert proof.primal == pytest.approx(expected, abs=1e-7 * scale)
    assert proof.dual <= expected + 1e-8 * scale
    assert proof.gap >= proof.upper - expected - 1e-8 * scale


@pytest.mark.parametrize("name", ["weighted", "sparse weighted", "sparse net"])
def test_weights_of_samples_and_no_intercept(name):
    penalty, weights = PENALTIES[name], np.random.default_rng(0).integers(0, 4, N).astype(float)
    for intercept in (True, False):
        problem = dg.Problem(
            X, TARGETS["squared"], "squared", penalty, 0.05, weights, intercept=intercept
        )
        proof = dg.solve(problem, tol=1e-9).certificate
        expected = optimum("squared", penalty, 0.05, weights, intercept)
        assert proof.primal == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("name", PENALTIES)
def test_every_certificate_is_a_bound_wherever_the_coefficients_are(name):
    """Also at arbitrary coefficients, and for the bound that a poor dual point gives."""
    penalty, draw = PENALTIES[name], np.random.default_rng(1)
    problem = dg.Problem(X, TARGETS["squared"], "squared", penalty, 0.1, intercept=True)
    best = dg.solve(problem, tol=1e-12).certificate
    for scale in (0.0, 1e-8, 1e-3, 1.0, 1e3):
        w = scale * np.abs(draw.standard_normal(P))
        proof = dg.certify(problem, w, intercept=scale * draw.standard_normal())
        assert proof.dual <= best.upper
        assert proof.upper >= best.dual
        assert proof.gap >= proof.primal - best.upper


@pytest.mark.parametrize("name", PENALTIES)
def test_lambda_max_is_the_least_at_which_all_penalised_groups_are_0(name):
    penalty = PENALTIES[name]
    problem = dg.Problem(X, TARGETS["squared"], "squared", penalty, 1.0, intercept=True)
    highest, free = lambda_max(problem), problem.features.free[:P]
    solution = dg.solve(problem.with_lam(1.000001 * highest), tol=1e-12)
    assert (solution.coef[~free] == 0.0).all()
    solution = dg.solve(problem.with_lam(0.99 * highest), tol=1e-12)
    assert solution.coef[~free].any()


def test_without_norms_there_is_no_lambda_max():
    problem = dg.Problem(X, TARGETS["squared"], "squared", GroupLasso(3, l1_ratio=0.0), 1.0)
    with pytest.raises(ValueError, match="some groups have an L2 part alone"):
        lambda_max(problem)


@pytest.mark.parametrize("name", ["group", "sparse", "sparse net", "sparse positive"])
@pytest.mark.parametrize("intercept", [True, False])
def test_screened_coefficients_are_zero_at_the_optimum(name, intercept):
    problem = dg.Problem(
        X, TARGETS["squared"], "squared", PENALTIES[name], 1.0, intercept=intercept
    )
    problem = problem.with_lam(0.3 * lambda_max(problem))
    exact = dg.solve(problem, tol=1e-13)
    found = []
    for tol in (1e-1, 1e-3, 1e-9):
        rough = dg.solve(problem, tol=tol, max_epochs=1 if tol == 1e-1 else 1000)
        zero = proven_zero(problem, rough.certificate, rough.dual)
        assert (np.abs(exact.coef[zero]) <= 1e-9).all()
        found.append(zero.sum())
    assert found[-1] >= (exact.coef == 0.0).sum() - 1
    assert found[-1] > 0


@pytest.mark.parametrize("screen", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_path_has_the_solutions_of_each_problem(loss, screen):
    draw = np.random.default_rng(5)
    many = np.column_stack([X, draw.standard_normal((N, 60))])
    problem = dg.Problem(many, TARGETS[loss], loss, SparseGroupLasso(5, 0.3), 1.0, intercept=True)
    lams = grid(problem, 0.05, 6)
    for solution in path(problem, lams, tol=1e-8, screen=screen):
        assert solution.converged
        alone = dg.solve(problem.with_lam(solution.problem.lam), tol=1e-8)
        difference = abs(solution.certificate.primal - alone.certificate.primal)
        assert difference <= 2e-8 * alone.certificate.primal


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("kind", ["rows", "columns", "csr", "csc", "float32"])
def test_all_storages_have_one_optimum(kind, loss):
    draw = np.random.default_rng(6)
    dense = draw.standard_normal((60, 400)) * (draw.random((60, 400)) < 0.05)
    y = dense[:, :3].sum(axis=1) + 0.1 * draw.standard_normal(60)
    y = y if loss == "squared" else np.where(y > np.median(y), 1.0, -1.0)
    data = {
        "rows": dense,
        "columns": np.asfortranarray(dense),
        "csr": sp.csr_matrix(dense),
        "csc": sp.csc_matrix(dense),
        "float32": dense.astype(np.float32),
    }[kind]
    groups = [list(group) for group in draw.permutation(400).reshape(100, 4)]
    expected = None
    for X in (dense, data):
        problem = dg.Problem(X, y, loss, SparseGroupLasso(groups, 0.2), 1.0, intercept=True)
        problem = problem.with_lam(0.05 * lambda_max(problem))
        solution = dg.solve(problem, tol=1e-9)
        assert solution.converged
        expected = expected or solution.certificate.primal
        tolerance = 1e-5 if kind == "float32" else 1e-8
        assert solution.certificate.primal == pytest.approx(expected, rel=tolerance)


def test_columns_take_over_where_a_gram_matrix_does_not_pay(monkeypatch):
    problem = dg.Problem(
        X, TARGETS["squared"], "squared", PENALTIES["sparse"], 0.05, intercept=True
    )
    by_gram = dg.solve(problem, tol=1e-10)
    monkeypatch.setattr("dualgap.steps.groups.block_model.BlockModel.pays", lambda *_: False)
    for loss in ("squared", "logistic"):
        problem = dg.Problem(X, TARGETS[loss], loss, PENALTIES["sparse"], 0.05, intercept=True)
        by_columns = dg.solve(problem, tol=1e-10)
        assert by_columns.converged
        if loss == "squared":
            difference = by_columns.certificate.primal - by_gram.certificate.primal
            assert abs(difference) <= 1e-9 * by_gram.certificate.primal


@pytest.mark.parametrize("n", [7, 40])  # fewer and more samples than coefficients
def test_newton_steps_over_columns_solve_the_system_of_the_support(n):
    draw = np.random.default_rng(0)
    places = np.array([0, 2, 6, 7, 11, 13])
    starts = np.concatenate([[0], np.cumsum(np.diff(places) ** 2)])
    moving = draw.random(13) < 0.8
    columns = draw.standard_normal((13, n)) * moving[:, None]
    right, damping = draw.standard_normal(13) * moving, draw.random(5) + 0.1
    bends, D = [], np.zeros((13, 13))
    for t in range(5):
        one = slice(places[t], places[t + 1])
        root = draw.standard_normal((one.stop - one.start, one.stop - one.start))
        bends.append((root @ root.T).ravel())
        keep = moving[one]
        D[one, one] = bends[-1].reshape(root.shape) * np.outer(keep, keep)
        across = np.trace(D[one, one]) / max(len(root) - 1, 1)
        D[one, one] += np.diag(np.where(keep, 0.3 * across + damping[t], 1.0))
    factors = support._factors(np.concatenate(bends), places, starts, 0.3, damping, moving)
    found = support._solved(columns, factors, right)
    np.testing.assert_allclose(found, np.linalg.solve(columns @ columns.T + D, right), rtol=1e-8)


def test_many_active_groups_take_few_gap_checks():
    # With sweeps alone it was 33.
    draw = np.random.default_rng(1)
    common = draw.standard_normal((50, 20))
    many = draw.standard_normal((50, 1000)) + np.repeat(common, 50, axis=1)
    y = many[:, :500] @ draw.standard_normal(500) + 20.0 * draw.standard_normal(50)
    problem = dg.Problem(many, y, "squared", GroupLasso(50), 1.0, intercept=True)
    problem = problem.with_lam(0.001 * lambda_max(problem))
    solution = dg.solve(problem, tol=1e-6)
    assert solution.converged
    assert np.count_nonzero(solution.coef) > 500
    assert len(solution.history) <= 12


def test_random_groups_against_the_objective_at_other_points():
    draw = np.random.default_rng(7)
    for _ in range(20):
        count = int(draw.integers(1, P + 4))
        labels = draw.integers(0, count, P)
        groups = [np.flatnonzero(labels == k).tolist() for k in range(count)]
        weights = draw.choice([0.0, 0.5, 1.0, 2.0], count)
        penalty = SparseGroupLasso(groups, draw.random(), weights) if draw.random() < 0.5 else None
        penalty = penalty or GroupLasso(groups, weights, draw.choice([0.5, 1.0]))
        problem = dg.Problem(X, TARGETS["squared"], "squared", penalty, 0.2, intercept=True)
        solution = dg.solve(problem, tol=1e-10)
        assert solution.converged, penalty
        best = problem.primal(np.append(solution.coef, solution.intercept))
        for scale in (1e-3, 1e-1):
            other = solution.coef + scale * draw.standard_normal(P)
            assert problem.primal(np.append(other, solution.intercept)) >= best - 1e-9


# --- what the method says and keeps ---------------------------------------------------------------


def test_other_methods_refuse_groups_in_words():
    problem = dg.Problem(X, TARGETS["squared"], "squared", GroupLasso(3), 0.1)
    for name, method in METHODS.items():
        refusal = method.refusal(problem)
        assert (refusal is None) == (name == "groups"), name
        assert name == "groups" or "on groups of features" in refusal
    with pytest.raises(ValueError, match=r"on groups of features.*method='groups' would work"):
        dg.solve(problem, "working-set")
    with pytest.raises(ValueError, match="on groups of features"):
        dg.solve(problem, sampling="uniform")


def test_the_method_refuses_what_it_cannot_solve():
    problem = dg.Problem(X, TARGETS["squared"], "squared", "l1", 0.1)
    with pytest.raises(ValueError, match="the penalty L1 is not on groups"):
        dg.solve(problem, "groups")
    problem = dg.Problem(X, TARGETS["logistic"], "hinge", GroupLasso(3), 0.1)
    with pytest.raises(ValueError, match="Hinge loss has no derivative at its kink"):
        dg.solve(problem)


def test_laws_of_steps():
    check_step(
        METHODS["groups"].step, dg.Problem(X, TARGETS["squared"], "squared", GroupLasso(3), 0.1)
    )


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_run_resumes_bit_for_bit(tmp_path, loss):
    draw = np.random.default_rng(8)
    many = draw.standard_normal((60, 600))
    y = many[:, :20].sum(axis=1) + draw.standard_normal(60)
    y = y if loss == "squared" else np.where(y > 0, 1.0, -1.0)
    problem = dg.Problem(many, y, loss, SparseGroupLasso(4, 0.3), 1.0, intercept=True)
    problem = problem.with_lam(0.02 * lambda_max(problem))
    whole = dg.solve(problem, tol=1e-9)
    file = tmp_path / "run"
    for rounds in range(1, 40):
        part = dg.solve(problem, tol=1e-9, max_epochs=rounds, checkpoint=file, checkpoint_every=0)
        if part.converged:
            break
    assert part.converged
    assert rounds > 2
    np.testing.assert_array_equal(part.coef, whole.coef)
