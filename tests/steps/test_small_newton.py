"""Newton steps compiled as a whole, and certificates of small data in one kernel."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import losses, penalties
from dualgap.losses.targets import targets_of
from dualgap.problem import objective
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Pair, attempt
from dualgap.proof.dual_point import FLOAT64
from dualgap.run.solution import Status
from dualgap.steps.small.descend import Data
from dualgap.steps.small.gram_kernels import solve_on, weighted_gram
from dualgap.steps.small.normal_equations import normal_equations

rng = np.random.default_rng(5)
N, P = 40, 4
X = rng.standard_normal((N, P)) * [1.0, 0.01, 30.0, 1.0]
REAL = X @ [1.0, -20.0, 0.05, 0.0] + rng.standard_normal(N)
SIGNS = np.where(REAL > 0.3, 1.0, -1.0)
COUNTS = rng.poisson(2.0, N).astype(float)
WEIGHTS = rng.uniform(0.0, 2.0, N) * (rng.random(N) < 0.8)
PENALTIES = {
    "l2": penalties.L2(),
    "net": penalties.ElasticNet(0.3),
    "box": penalties.Box(-0.2, 0.3, penalties.ElasticNet(0.5)),
    "weighted": penalties.Weighted(penalties.L1(), np.array([1.0, 0.5, 2.0, np.inf])),
}
SCALAR = [name for name, loss in losses.REGISTRY.items() if not targets_of(loss()).block]


def targets(loss):
    domain = targets_of(losses.REGISTRY[loss]())
    if domain.labels:
        return SIGNS
    if domain.on_scale_of_y:
        return REAL
    return COUNTS + 0.5 * (loss == "gamma")


def plain(inner):
    """The Python function of one that only kernels can call."""
    return getattr(inner, "py_func", inner)


def without_the_small_path(problem):
    """The same problem, certified by the general path."""
    problem.__dict__["small_rows"] = None
    return problem


def pairs():
    """Each loss with two kinds of penalty; the others, which compile anew, with three losses."""
    some = ("squared", "hinge", "logistic")
    for loss in SCALAR:
        for penalty in PENALTIES:
            if penalty in ("l2", "weighted") or loss in some:
                yield loss, penalty


@pytest.mark.parametrize(("loss", "penalty"), list(pairs()))
def test_finds_the_optimum_of_newton_steps(loss, penalty):
    for intercept, weights in (
        (True, None),
        (True, WEIGHTS),
        (False, None),
        ("penalised", WEIGHTS),
    ):
        given = X, targets(loss), loss, PENALTIES[penalty], 0.05, weights, intercept
        found = dg.solve(dg.Problem(*given), "small-newton", tol=1e-8)
        other = dg.solve(without_the_small_path(dg.Problem(*given)), "newton", tol=1e-8)
        assert found.converged
        top = 1e-7 * abs(other.certificate.scale)
        assert found.certificate.dual <= other.certificate.primal + top
        assert other.certificate.dual <= found.certificate.primal + top
        assert found.certificate.primal == pytest.approx(other.certificate.primal, abs=top)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", SCALAR)
def test_certificate_is_that_of_the_general_path(loss, penalty):
    for intercept in (True, False) if penalty == "l2" else (True,):
        problem = dg.Problem(X, targets(loss), loss, PENALTIES[penalty], 0.05, WEIGHTS, intercept)
        solution = dg.solve(problem, tol=1e-3)
        w = joined(problem, solution.coef, solution.intercept)
        pair = Pair(w, solution.dual, problem.decision(w), np.empty(0))
        small = attempt(problem, pair, FLOAT64)
        general = attempt(without_the_small_path(problem), pair, FLOAT64)
        scale = abs(problem.scale)
        assert small.certificate.primal == pytest.approx(
            general.certificate.primal, abs=1e-14 * scale
        )
        assert small.certificate.dual == pytest.approx(general.certificate.dual, abs=1e-9 * scale)
        assert small.certificate.gap == pytest.approx(general.certificate.gap, abs=1e-9 * scale)
        np.testing.assert_allclose(small.pair.a, general.pair.a, atol=1e-8)


def test_a_dual_point_far_from_balanced_goes_the_general_way():
    problem = dg.Problem(X, SIGNS, "hinge", lam=0.1, intercept=True)
    pair = Pair(np.zeros(P + 1), np.where(SIGNS > 0.0, 0.9, -0.1), np.zeros(N), np.empty(0))
    found = attempt(problem, pair, FLOAT64)
    expected = attempt(without_the_small_path(problem), pair, FLOAT64)
    assert found.certificate.dual == expected.certificate.dual


def test_auto_takes_it_for_small_data_only():
    def method(X, **options):
        return dg.solve(dg.Problem(X, REAL, **options)).name

    assert method(X) == method(X, intercept=True) == method(X.astype(np.float32)) == "small-newton"
    assert method(np.asfortranarray(X)) == "small-newton"
    assert method(sp.csr_array(X)) == "small-newton"
    assert method(sp.csr_array((N, 500))) != "small-newton"
    assert method(np.tile(X, 30)) != "small-newton"


def test_every_step_is_seen_if_somebody_watches():
    problem = dg.Problem(X, SIGNS, "logistic", lam=1e-3, intercept=True)
    seen = []
    watched = dg.solve(problem, tol=1e-10, callback=lambda snapshot: seen.append(snapshot.gap))
    assert seen == [gap for gap in watched.history.gap if gap > watched.target]
    assert len(seen) > 3
    alone = dg.solve(problem, tol=1e-10)
    assert len(alone.history) == 2
    np.testing.assert_allclose(alone.coef, watched.coef, rtol=1e-6)


def test_max_epochs_counts_steps():
    problem = dg.Problem(X, SIGNS, "hinge", lam=1e-3, intercept=True)
    short = dg.solve(problem, tol=1e-12, max_epochs=2)
    assert short.status is Status.MAX_EPOCHS
    assert np.isfinite(short.certificate.gap)


def test_an_unreachable_target_ends():
    problem = dg.Problem(X, SIGNS, "hinge", lam=1e-3, intercept=True)
    solution = dg.solve(problem, tol=0.0, max_epochs=10_000)
    assert solution.certificate.gap <= 1e-9 * problem.scale


def test_resumes_from_its_best_pair(tmp_path):
    problem = dg.Problem(X, SIGNS, "logistic", lam=1e-3, intercept=True)
    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0, "tol": 1e-12}
    dg.solve(problem, max_epochs=2, **options)
    resumed = dg.solve(problem, **options)
    assert resumed.converged
    np.testing.assert_allclose(resumed.coef, dg.solve(problem, tol=1e-12).coef, rtol=1e-6)


def test_warm_start_saves_steps():
    problem = dg.Problem(X, SIGNS, "hinge", lam=1e-2, intercept=True)
    first = dg.solve(problem, tol=1e-9)
    again = dg.solve(problem, tol=1e-9, warm_start=first)
    assert again.passes < first.passes


def test_data_of_problems_with_other_targets_are_shared():
    first = dg.Problem(X, REAL, intercept=True)
    dg.solve(first)  # finds out about norms
    other = dg.Problem(first, SIGNS, "hinge", intercept=True)
    assert other.X is first.X
    assert other.row_squares is first.row_squares
    alone = dg.solve(dg.Problem(X, SIGNS, "hinge", intercept=True))
    np.testing.assert_array_equal(dg.solve(other).coef, alone.coef)


def test_the_kernels_of_gram_matrices():
    gram, solve = plain(weighted_gram), plain(solve_on)
    h = rng.standard_normal(N) * (rng.random(N) < 0.7)
    out, wide = np.empty((P, P)), np.empty((P + 1, P + 1))
    gram(X, 0.0, h, out)
    np.testing.assert_allclose(out, X.T @ (h[:, None] * X), rtol=1e-12, atol=1e-12)
    gram(X, 2.0, h, wide)
    bordered = np.column_stack([X, np.full(N, 2.0)])
    np.testing.assert_allclose(wide, bordered.T @ (h[:, None] * bordered), rtol=1e-12, atol=1e-12)
    matrix = X.T @ X
    places, right, move = np.array([0, 2, 3]), rng.standard_normal(3), np.empty(3)
    assert solve(matrix, np.diag(matrix) + 0.1, places, 3, right, 0.0, move)
    block = matrix[np.ix_(places, places)] + 0.1 * np.eye(3)
    np.testing.assert_allclose(move, np.linalg.solve(block, right), rtol=1e-10)


def test_radius_and_zeros_do_not_read_data_that_have_changed():
    data, y = X.copy(), REAL.copy()
    model = dg.Lasso(alpha=0.3).fit(data, y)
    same = dg.Lasso(alpha=0.3).fit(data, y)
    expected = same.support_certified_, same.decision_radius(X)
    data[:], y[:] = np.nan, np.nan
    np.testing.assert_array_equal(model.support_certified_, expected[0])
    np.testing.assert_array_equal(model.decision_radius(X), expected[1])
    svm = dg.LinearSVC().fit(X, SIGNS)
    assert np.isfinite(svm.decision_radius(X)).all()
    assert X.size <= objective.SMALL


def test_rounding_errors_of_a_check_do_not_keep_a_run_going():
    data = X.copy()
    data[:10, 0] *= 1e6  # float64 knows u up to 1e-8 here, and proofs take twice the precision
    solution = dg.solve(dg.Problem(data, REAL, "squared", "l1", 0.1, intercept=True), tol=1e-9)
    assert solution.name == "small-newton"
    assert solution.converged
    assert len(solution.history) < 5


@pytest.mark.parametrize("n", [1, 31, 256, 700])
@pytest.mark.parametrize("intercept", [True, False, "penalised"])
def test_normal_equations_are_those_of_the_problem(n, intercept):
    draws = np.random.default_rng(n)
    for p, weights in ((1, None), (4, draws.random(n) * (draws.random(n) < 0.8) + 1e-9), (9, None)):
        data, y = 3.0 + draws.standard_normal((n, p)), draws.standard_normal(n)
        problem = dg.Problem(data, y, losses.Squared(2.0), "l2", 0.3, weights, intercept)
        extended = np.column_stack([problem.small_rows, np.ones((n, problem.d - p))])
        hessian, u = np.empty((problem.d, problem.d)), np.empty(problem.d)
        given = Data(problem.small_rows, problem.constant, problem.y, problem.c, 0.3, np.empty(0))
        normal_equations(problem.loss, given, weights is None, 0.7, hessian, u)
        scaled = extended * problem.c[:, None]
        np.testing.assert_allclose(hessian, 0.5 * scaled.T @ extended, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(u, scaled.T @ (y - 0.7) / 0.6, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_least_squares_goes_on_from_its_model_where_a_step_was_not_enough(penalty):
    # The first step leaves an error, as columns differ in size and are nearly collinear.
    draws = np.random.default_rng(0)
    data = draws.standard_normal((300, 5)) * [1.0, 1e3, 1e-3, 1.0, 1.0]
    data[:, 4] = data[:, 3] + 1e-5 * draws.standard_normal(300)
    y = data[:, 0] + 1e3 * data[:, 2] + draws.standard_normal(300)
    problem = dg.Problem(data, y, "squared", penalty, 1e-9, intercept=True)
    gaps = []
    found = dg.solve(problem, "small-newton", tol=1e-12, callback=lambda s: gaps.append(s.gap))
    best = dg.solve(
        without_the_small_path(dg.Problem(data, y, lam=1e-9, penalty=penalty, intercept=True)),
        "newton",
        tol=1e-12,
    )
    assert found.certificate.dual <= best.certificate.primal * (1.0 + 1e-9)
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-9)
