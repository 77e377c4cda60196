"""Newton steps for many classes: products, systems, shapes of data, and what auto takes."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.linalg import parallel
from dualgap.proof.block_ballast import spanning_forest
from dualgap.proof.free_features import choose_ballast
from dualgap.steps.base import Setting, Start
from dualgap.steps.newton_cg import NewtonCG, newton_cg, system
from dualgap.steps.newton_cg.losses_at import ClassLosses
from dualgap.steps.newton_cg.products import Products
from dualgap.testing import check_step

KINDS = ("whole", "blocks", "shared", "diagonal")
LOSSES = (dg.losses.Softmax(), dg.losses.MulticlassHinge(0.5))
FORMS = (np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array)


def problem_with(
    n=60,
    d=5,
    K=4,
    loss="softmax",
    intercept=True,
    lam=0.01,
    make=np.asarray,
    seed=0,
    noise=1.0,
    **more,
):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.argmax(X @ rng.standard_normal((d, K)) + noise * rng.gumbel(size=(n, K)), axis=1)
    y[:K] = np.arange(K)
    return dg.Problem(make(X), y, loss, "l2", lam, intercept=intercept, **more)


def hessian_by_differences(problem, W):
    """Of Σ c φ(XW), from slopes on both sides."""
    losses, products, step = ClassLosses(problem), Products(problem), 1e-5

    def slopes(W):
        return products.summed(losses.at(products.times(W)).slopes).ravel()

    rows = []
    for place in range(W.size):
        unit = np.zeros(W.size)
        unit[place] = step
        unit = unit.reshape(W.shape)
        rows.append((slopes(W + unit) - slopes(W - unit)) / (2.0 * step))
    return np.array(rows)


@pytest.mark.parametrize("make", FORMS)
@pytest.mark.parametrize("intercept", [True, "penalised", False])
@pytest.mark.parametrize("loss", LOSSES)
def test_products_are_those_with_the_hessian(make, intercept, loss):
    weights = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    problem = problem_with(loss=loss, intercept=intercept, make=make, sample_weight=weights)
    rng = np.random.default_rng(2)
    W, V = rng.standard_normal((2, problem.d, problem.width))
    losses, products = ClassLosses(problem), Products(problem)
    z = products.times(W)
    np.testing.assert_allclose(z.ravel(), problem.decision(W.ravel()), atol=1e-12)
    at = losses.at(z)
    assert at.value == pytest.approx(problem.loss_value(z.ravel()), rel=1e-12)
    np.testing.assert_allclose(
        -problem.weighted(losses.dual_at(z).ravel()), at.slopes.ravel(), atol=1e-15
    )
    curvature = losses.curvature(at)
    expected = hessian_by_differences(problem, W)
    whole = curvature.hessian(products.few_rows(None))
    np.testing.assert_allclose(whole, expected, atol=1e-7)
    found = products.hessian_times(V, curvature)
    np.testing.assert_allclose(found.ravel(), whole @ V.ravel(), atol=1e-12)
    diagonal = products.squares(curvature.diagonals())
    np.testing.assert_allclose(diagonal.ravel(), np.diag(whole), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, "penalised", False])
def test_each_way_to_solve_a_system_leads_to_the_optimum(monkeypatch, kind, intercept):
    monkeypatch.setattr(system, "_kind", lambda problem: kind)
    for loss in LOSSES:
        problem = problem_with(n=200, loss=loss, intercept=intercept)
        expected = dg.solve(problem, "prox-point", tol=1e-8, max_epochs=20_000)
        found = dg.solve(problem, "newton-cg", tol=1e-8)
        assert found.converged
        assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=2e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_laws(monkeypatch, kind):
    monkeypatch.setattr(system, "_kind", lambda problem: kind)
    check_step(NewtonCG(), problem_with(n=200, d=8))


def test_laws_of_a_start_from_a_sample():
    problem = problem_with(n=6000, d=4, K=3)
    assert NewtonCG().start(problem, Start()).unsampled
    check_step(NewtonCG(), problem)


@pytest.mark.parametrize(
    "problem",
    [
        problem_with(n=40, d=200, K=3),
        problem_with(n=300, d=3, K=40),
        problem_with(n=400, noise=0.0, lam=1e-6),
        problem_with(n=400, d=1, K=3),
        problem_with(n=300, make=lambda X: X * 10.0 ** np.arange(-4.0, 6.0, 2.0)),
        problem_with(n=300, make=lambda X: X + 1e3),
        problem_with(n=300, make=lambda X: X.astype(np.float32)),
    ],
    ids=["wide", "classes", "separable", "one feature", "scales", "offset", "float32"],
)
def test_shapes_of_data(problem):
    assert dg.solve(problem, "newton-cg", tol=1e-6, max_epochs=50).converged


def test_rare_and_absent_classes():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 4)), rng.integers(0, 3, 2000)
    y[:2] = 3  # in no sample of a tenth, most likely
    assert dg.solve(dg.Problem(X, y, "softmax", "l2", 1e-3, intercept=True), "newton-cg").converged
    weights = np.where(y == 3, 0.0, 1.0)
    problem = dg.Problem(X, y, "softmax", "l2", 1e-3, sample_weight=weights, intercept=True)
    assert dg.solve(problem, "newton-cg").converged


def test_results_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr("dualgap.steps.newton_cg.products._SHARED_FROM", 1)
    monkeypatch.setattr("dualgap.steps.newton_cg.products._CHUNK_ENTRIES", 256)
    monkeypatch.setattr("dualgap.steps.newton_cg.losses_at._SHARED_FROM", 1)
    monkeypatch.setattr("dualgap.steps.newton_cg.losses_at._CHUNK_ENTRIES", 256)
    for make in (np.asarray, sp.csr_array):
        problem = problem_with(n=500, make=make)
        one, two = (dg.solve(problem, "newton-cg", n_threads=threads) for threads in (1, 3))
        assert np.array_equal(one.coef, two.coef)
    assert parallel.count() >= 1


def test_free_features_are_balanced_up_to_rounding():
    problem = problem_with(n=500)
    run = NewtonCG().start(problem, Start(), Setting())
    run.advance(None)
    pair = run.pair()
    imbalance = np.abs((problem.lam * pair.u)[problem.free_places])
    assert imbalance.max() <= 1e-13


def test_damping_grows_where_steps_are_cut_and_falls_where_they_are_not():
    run = newton_cg.NewtonCGRun(problem_with(), None, Setting())
    run.system.learn(0.01)
    first = run.system.damping
    run.system.learn(0.01)
    assert run.system.damping > first > 0.0
    for _ in range(20):
        run.system.learn(1.0)
    assert run.system.damping == 0.0


def test_refusals_say_what_is_missing():
    X, y = np.eye(6), np.array([0, 1, 2] * 2)
    assert "one decision value" in NewtonCG().refusal(dg.Problem(X, y % 2, "logistic", "l2", 1.0))
    assert "L2 parts alone" in NewtonCG().refusal(dg.Problem(X, y, "softmax", "l1", 1.0))


def test_auto_takes_it_for_many_classes():
    from dualgap.methods.auto import choose

    assert "newton-cg" in choose(problem_with(), 1e-4)[0]
    assert "newton-cg" not in choose(problem_with(intercept=False, lam=10.0), 1e-4)[0]


def test_the_ballast_connects_all_classes_with_one_sample_each():
    problem = problem_with(n=300, K=12)
    a = ClassLosses(problem).dual_at(np.zeros((problem.n, problem.width))).ravel()
    ballast = choose_ballast(problem, a)
    assert len(ballast.samples) == problem.width - 1
    assert len(set(ballast.samples.tolist())) == len(ballast.samples)
    assert np.linalg.matrix_rank(ballast.constraints) == problem.width - 1
    assert sorted(spanning_forest(ballast)) == list(range(problem.width - 1))
