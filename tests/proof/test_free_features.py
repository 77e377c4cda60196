"""Features without a penalty: losses with kinks and losses of many classes have them too."""

import block_reference as blocks
import cvxpy as cp
import numpy as np
import pytest
import reference as ref
from reference import LOSSES

import dualgap as dg
from dualgap import losses
from dualgap.penalties import L1, L2, Weighted

KINKS = ["hinge", "quantile", "epsilon-insensitive"]
SCALARS = [*KINKS, "smoothed-hinge"]


def data(loss, n=60, d=4, free=1, seed=0, imbalance=None):
    """X with ``free`` unpenalised features at the end, the last of them constant; y; weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X = np.c_[X + 0.5, rng.standard_normal((n, free - 1)), np.ones(n)]
    score = X[:, 0] - X[:, 1] + 0.7
    y = ref.targets(loss, score, rng)
    if imbalance is not None:
        y = np.where(np.argsort(np.argsort(score)) < n - imbalance, -1.0, 1.0)
    return X, y, rng.integers(1, 4, n).astype(float)


def penalty(base, size, free=1):
    return Weighted(base, np.repeat([1.0, 0.0], [size - free, free]))


def optimum(loss, base, X, y, c, lam, free=1):
    """min P from an interior-point solver: the objective of its coefficients."""
    kept = X.shape[1] - free
    name = "l1" if isinstance(base, L1) else "l2"  # as tuples they are equal

    def objective(w):
        values = ref.loss_values(loss, X @ w, y)
        return float(c @ values + lam * ref.penalty_value(name, w[:kept]))

    w = cp.Variable(X.shape[1])
    z = X @ w
    r, m = y - z, cp.pos(1 - cp.multiply(y, z))
    values = {
        "hinge": lambda: m,
        "quantile": lambda: cp.maximum(0.3 * r, -0.7 * r),
        "epsilon-insensitive": lambda: cp.pos(cp.abs(r) - 0.2),
        "smoothed-hinge": lambda: cp.huber(m, 0.5),
    }[loss]()
    size = cp.norm1(w[:kept]) if name == "l1" else cp.sum_squares(w[:kept]) / 2
    problem = cp.Problem(cp.Minimize(c @ values + lam * size))
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-12, tol_feas=1e-10)
    return objective(np.asarray(w.value)), objective


def check_solution(problem, best, objective, rng, tol=1e-6):
    """The gap closes, and no pair, however bad, gets a bound above the optimum."""
    solution = dg.solve(problem, tol=tol, max_epochs=5000)
    assert solution.converged, str(solution)
    ours = objective(solution.coef)
    assert ours == pytest.approx(solution.certificate.primal, rel=1e-9, abs=1e-12)
    assert best - 1e-9 * problem.scale <= ours + 1e-9 * problem.scale
    assert ours <= best + tol * problem.scale
    assert solution.certificate.dual <= best + 1e-9 * problem.scale
    for spread in (0.01, 0.3, 3.0):
        coef = solution.coef + spread * rng.standard_normal(solution.coef.shape)
        dual = solution.dual + spread * rng.standard_normal(solution.dual.shape)
        for given in (None, solution.dual, dual):
            proof = dg.certify(problem, coef, given)
            assert proof.dual <= best + 1e-9 * problem.scale
            assert proof.gap >= objective(coef) - best - 1e-9 * problem.scale
    return solution


@pytest.mark.parametrize("loss", SCALARS)
@pytest.mark.parametrize("lam", [0.1, 0.01])
def test_intercept_with_l2(loss, lam):
    X, y, s = data(LOSSES[loss])
    problem = dg.Problem(X, y, LOSSES[loss], penalty(L2(), 5), lam, s)
    best, objective = optimum(loss, L2(), X, y, problem.c, lam)
    check_solution(problem, best, objective, np.random.default_rng(1))


@pytest.mark.parametrize("loss", KINKS)
def test_intercept_with_l1(loss):
    X, y, s = data(LOSSES[loss])
    problem = dg.Problem(X, y, LOSSES[loss], penalty(L1(), 5), 0.03, s)
    best, objective = optimum(loss, L1(), X, y, problem.c, 0.03)
    check_solution(problem, best, objective, np.random.default_rng(1))


@pytest.mark.parametrize("loss", SCALARS)
def test_two_unpenalised_features(loss):
    X, y, s = data(LOSSES[loss], free=2)
    problem = dg.Problem(X, y, LOSSES[loss], penalty(L2(), 6, 2), 0.02, s)
    best, objective = optimum(loss, L2(), X, y, problem.c, 0.02, 2)
    check_solution(problem, best, objective, np.random.default_rng(1))


@pytest.mark.parametrize("loss", ["hinge", "smoothed-hinge"])
@pytest.mark.parametrize("rare", [1, 4])
def test_extreme_imbalance(loss, rare):
    X, y, _ = data(LOSSES[loss], n=201 * rare, imbalance=rare)
    assert (y > 0).sum() == rare
    problem = dg.Problem(X, y, LOSSES[loss], penalty(L2(), 5), 1e-3)
    best, objective = optimum(loss, L2(), X, y, problem.c, 1e-3)
    check_solution(problem, best, objective, np.random.default_rng(1))


@pytest.mark.parametrize("loss", ["softmax", "multiclass-hinge"])
@pytest.mark.parametrize("free", [1, 2])
def test_blocks(loss, free):
    X, y, s = blocks.data("dense", n=60)
    X = np.c_[X[:, : 5 - free], np.ones(60)]
    W = Weighted(L2(), np.repeat([1.0, 0.0], [X.shape[1] - free, free]))
    problem = dg.Problem(X, y, blocks.LOSSES[loss], W, 0.01, s)
    kept = X.shape[1] - free
    c = s / s.sum()

    def objective(coef):
        values = blocks.loss_values(loss, X @ coef, y)
        return float(c @ values + 0.005 * np.sum(coef[:kept] ** 2))

    best = objective(block_optimum(loss, X, y, c, 0.01, kept))
    check_solution(problem, best, objective, np.random.default_rng(1))


def block_optimum(loss, X, y, c, lam, kept):
    own = np.eye(y.max() + 1)[y]
    W = cp.Variable((X.shape[1], own.shape[1]))
    Z = X @ W
    at_y = cp.sum(cp.multiply(own, Z), axis=1)
    if loss == "softmax":
        values = cp.log_sum_exp(Z, axis=1) - at_y
    else:
        V = cp.Variable(own.shape)
        values = cp.max(V, axis=1) + cp.sum(cp.square(Z + (1 - own) + 0.5 * own - V), axis=1)
        values = values - at_y - 0.25
    problem = cp.Problem(cp.Minimize(c @ values + lam * cp.sum_squares(W[:kept]) / 2))
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-12, tol_feas=1e-10)
    return np.asarray(W.value)


def test_a_rare_class_among_many():
    """199 samples of two classes and one of a third: its intercept is far below the others."""
    X, y, _ = blocks.data("dense", n=200, K=2)
    X, y = np.c_[X, np.ones(200)], np.where(np.arange(200) == 7, 2, y)
    for loss in ("softmax", "multiclass-hinge"):
        problem = dg.Problem(X, y, blocks.LOSSES[loss], penalty(L2(), 5), 0.01)
        solution = dg.solve(problem, tol=1e-6, max_epochs=5000)
        assert solution.converged, str(solution)
        balance = X[:, -1] @ (solution.dual / 200)
        np.testing.assert_allclose(balance, 0.0, atol=1e-6)


@pytest.mark.parametrize("loss", KINKS)
def test_a_constant_alone_is_a_quantile(loss):
    """With the intercept as the only feature the optimum is known: a quantile of y."""
    rng = np.random.default_rng(0)
    y = np.sign(rng.standard_normal(40) + 0.5) if loss == "hinge" else rng.standard_normal(40)
    problem = dg.Problem(np.ones((40, 1)), y, LOSSES[loss], penalty(L2(), 1), 1.0)
    grid = np.concatenate([y, y - 0.2, y + 0.2])  # the kinks
    best = min(float(np.mean(ref.loss_values(loss, b, y))) for b in grid)
    solution = dg.solve(problem, tol=1e-8, max_epochs=5000)
    assert solution.converged, str(solution)
    assert solution.certificate.primal == pytest.approx(best, abs=1e-8)
    assert solution.certificate.dual <= best + 1e-12


@pytest.mark.parametrize("loss", KINKS)
def test_two_samples(loss):
    X, y = np.array([[0.5, 1.0], [-1.0, 1.0]]), np.array([1.0, -1.0])
    problem = dg.Problem(X, y, LOSSES[loss], penalty(L2(), 2), 0.1, [1.0, 3.0])
    best, objective = optimum(loss, L2(), X, y, problem.c, 0.1)
    check_solution(problem, best, objective, np.random.default_rng(1))


def test_constant_targets_are_met_exactly():
    X, _, _ = data(losses.Quantile(0.3))
    for loss in ("quantile", "epsilon-insensitive"):
        problem = dg.Problem(X, np.full(60, 3.0), LOSSES[loss], penalty(L2(), 5), 0.1)
        solution = dg.solve(problem, tol=1e-6)
        assert solution.converged, str(solution)
        assert solution.certificate.primal <= 1e-6 * problem.scale


def test_every_sample_at_a_bound():
    """So strong a penalty that w = 0: the rare class is at its bound, nobody is at a kink."""
    X, y, _ = data(losses.Hinge(), n=40, imbalance=10)
    X[:, :-1] = 0.0
    problem = dg.Problem(X, y, "hinge", penalty(L2(), 5), 10.0)
    solution = dg.solve(problem, tol=1e-6)
    assert solution.converged, str(solution)
    assert solution.certificate.primal == pytest.approx(2 * 10 / 40, rel=1e-5)


def test_a_penalty_of_its_own_does_not_see_facts_of_another():
    X, y, _ = data(losses.Hinge())
    problem = dg.Problem(X, y, "hinge", penalty(L2(), 5), 0.1)
    first = problem.unpenalised
    assert first is problem.unpenalised
    other = problem.with_penalty(Weighted(L2(), [0.0, 1.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(other.free_places, [0])
    columns = other.unpenalised.X * np.sqrt(other.column_squares[:1])
    np.testing.assert_allclose(columns, np.asarray(X)[:, :1], rtol=1e-15)
    assert problem.unpenalised is first


def test_a_shift_of_the_features_moves_nothing_but_the_intercept():
    X, y, _ = data(losses.Hinge())
    one, two = (
        dg.solve(dg.Problem(M, y, "hinge", penalty(L2(), 5), 0.1), tol=1e-7, max_epochs=5000)
        for M in (X, X + np.array([3.0, 3.0, 3.0, 3.0, 0.0]))
    )
    assert one.converged, str(one)
    assert two.converged, str(two)
    assert two.certificate.dual <= one.certificate.primal + 1e-12
    assert one.certificate.dual <= two.certificate.primal + 1e-12
    np.testing.assert_allclose(one.coef[:4], two.coef[:4], atol=1e-2)


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_units_of_the_targets_do_not_matter(unit):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(40)
    problem = dg.Problem(np.ones((40, 1)), unit * y, LOSSES["quantile"], penalty(L2(), 1), 1.0)
    solution = dg.solve(problem, tol=1e-8, max_epochs=200)
    assert solution.converged, str(solution)
