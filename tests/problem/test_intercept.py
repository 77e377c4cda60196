"""The constant feature that is stored nowhere is worth a stored one, in every respect."""

import tracemalloc
from dataclasses import fields
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

import dualgap as dg
from dualgap.compile import rules
from dualgap.losses import SmoothedHinge, Softmax
from dualgap.penalties import L1, L2, Box, ElasticNet, NonNegative, Weighted
from dualgap.proof.rounding import error_of_z
from dualgap.samplings import Permutation, Product, TauNice

SIZES = (30, 4)


def data(seed=0):
    """Small whole numbers, so that float32 holds them, with zeros among them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, SIZES) * (rng.random(SIZES) < 0.7).astype(float)
    z = X @ np.array([1.0, -0.5, 0.25, 0.0]) + 1.5 + rng.standard_normal(len(X))
    return X, z


def labels(z):
    return np.where(z > 1.0, 1.0, -1.0)


def wide_indices(X):
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


KINDS = {
    "dense": lambda X, _: X,
    "fortran": lambda X, _: np.asfortranarray(X),
    "float32": lambda X, _: X.astype(np.float32),
    "csr": lambda X, _: sp.csr_array(X),
    "csc": lambda X, _: sp.csc_matrix(X),
    "int64": lambda X, _: wide_indices(X),
    "memory map": mapped,
}


def with_column(X, value=1.0):
    return np.column_stack([X, np.full(len(X), value)])


def free_last(base, p=SIZES[1]):
    return Weighted(base, np.append(np.ones(p), 0.0))


def check_same_certificate(found, expected):
    for field in fields(found):
        if field.name in ("constant", "scale"):  # an intercept fits itself to the scale
            continue
        ours, theirs = getattr(found, field.name), getattr(expected, field.name)
        if theirs is None:
            assert ours is None
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-15, err_msg=field.name)


def check_same_problem(found, expected):
    assert (found.n, found.d) == (expected.n, expected.d)
    for fact in ("row_squares", "column_squares", "even_squares"):
        ours, theirs = getattr(found, fact), getattr(expected, fact)
        np.testing.assert_allclose(ours, theirs, rtol=1e-14, err_msg=fact)
    for ours, theirs in zip(found.features, expected.features):
        np.testing.assert_array_equal(ours, theirs)
    rng = np.random.default_rng(1)
    w, a = rng.standard_normal(found.coef_size), rng.random(found.dual_size)
    np.testing.assert_allclose(found.decision(w), expected.decision(w), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.average(a), expected.average(a), rtol=1e-12, atol=1e-14)
    if found.intercept is not True:
        assert found.scale == pytest.approx(expected.scale, rel=1e-14)


# --- the matrix -------------------------------------------------------------------------------


def unrolled(matrix):
    out = np.zeros(matrix.shape)
    for i in range(matrix.shape[0]):
        for t in range(*rules.span(matrix, i)):
            out[i, rules.place(matrix, i, t)] += rules.entry(matrix, i, t)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_the_rules_of_both_views(kind, tmp_path):
    X, y = data()
    problem = dg.Problem(KINDS[kind](X, tmp_path), y, intercept="penalised", intercept_scaling=3.0)
    whole = with_column(X, 3.0)
    for matrix, expected in ((problem.rows, whole), (problem.columns, whole.T)):
        np.testing.assert_array_equal(unrolled(matrix), expected)
        width = expected.shape[1]
        for low, high in ((0, width), (1, width), (0, width - 1), (width - 1, width), (2, 2)):
            for i in range(len(expected)):
                start, stop = rules.within(matrix, i, low, high)
                places = [rules.place(matrix, i, t) for t in range(start, stop)]
                found = [rules.place(matrix, i, t) for t in range(*rules.span(matrix, i))]
                assert places == [k for k in found if low <= k < high]
        assert rules.within(matrix, 0, width, width)[0] >= rules.within(matrix, 0, width, width)[1]
        for i in range(len(expected)):
            rules.announce(matrix, i)
            rules.fetch(matrix, i)


@pytest.mark.parametrize(
    ("kind", "view"), [("dense", "rows"), ("fortran", "columns"), ("csr", "rows"),
                       ("csc", "columns"), ("float32", "rows"), ("memory map", "rows"),
                       ("memory map", "columns")]
)  # fmt: skip
def test_the_data_is_not_copied(kind, view, tmp_path):
    X, y = data()
    given = KINDS[kind](X, tmp_path)
    problem = dg.Problem(given, y, intercept=True)
    assert problem.X is given or np.shares_memory(problem.X, given)
    base = getattr(problem, view).base
    assert np.shares_memory(base.data, given.data if sp.issparse(given) else given)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_certificate_needs_no_more_memory(order):
    X = np.asarray(np.random.default_rng(0).standard_normal((2000, 200)), order=order)
    y = X[:, 0] + 1.0
    for n in (10, 2000):  # the first time, kernels are compiled
        tracemalloc.start()
        problem = dg.Problem(np.asarray(X[:n], order=order), y[:n], intercept=True)
        given = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        dg.certify(problem, np.zeros(200), intercept=1.0)
        peak = tracemalloc.get_traced_memory()[1] - given
        tracemalloc.stop()
    assert peak < 0.3 * X.nbytes


# --- worth a stored column --------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_unpenalised_intercept_is_a_column_of_ones_without_a_weight(kind, tmp_path):
    X, y = data()
    given = KINDS[kind](X, tmp_path)
    found = dg.Problem(given, y, "squared", "l2", 0.1, intercept=True)
    expected = dg.Problem(with_column(X), y, "squared", free_last(L2()), 0.1)
    check_same_problem(found, expected)
    solution = dg.solve(found, tol=1e-12)
    assert solution.converged
    best = np.linalg.solve(
        with_column(X).T @ with_column(X) / len(y) + 0.1 * np.diag([1.0] * 4 + [0.0]),
        with_column(X).T @ y / len(y),
    )
    np.testing.assert_allclose(np.append(solution.coef, solution.intercept), best, atol=1e-5)
    # Some way off, since at the optimum a gap has no digits to compare.
    coef, intercept = 0.9 * solution.coef, 0.9 * solution.intercept
    ours = dg.certify(found, coef, 0.9 * solution.dual, intercept)
    theirs = dg.certify(expected, np.append(coef, intercept), 0.9 * solution.dual)
    check_same_certificate(ours, theirs)


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("base", [L2(), ElasticNet(0.5)])
def test_the_same_for_two_classes(kind, base, tmp_path):
    X, z = data()
    y = labels(z)
    found = dg.Problem(KINDS[kind](X, tmp_path), y, "logistic", base, 0.02, intercept=True)
    expected = dg.Problem(with_column(X), y, "logistic", free_last(base), 0.02)
    solution, other = (dg.solve(problem, tol=1e-10) for problem in (found, expected))
    assert solution.converged
    w = np.append(solution.coef, solution.intercept)
    np.testing.assert_allclose(w, other.coef, atol=1e-3)
    check_same_certificate(
        dg.certify(found, other.coef[:-1], other.dual, other.coef[-1]),
        dg.certify(expected, other.coef, other.dual),
    )


@pytest.mark.parametrize("kind", ["dense", "csr", "int64", "float32", "memory map"])
def test_a_penalised_intercept_is_a_column_of_the_scaling(kind, tmp_path):
    X, z = data()
    y, value = labels(z), 2.5
    given = KINDS[kind](X, tmp_path)
    setting = (y, SmoothedHinge(0.5), "l2", 0.05)
    found = dg.Problem(given, *setting, intercept="penalised", intercept_scaling=value)
    expected = dg.Problem(with_column(X, value), *setting)
    assert found.penalty == L2()
    check_same_problem(found, expected)
    solution = dg.solve(found, "sdca", Permutation(), tol=1e-6)
    assert solution.converged
    other = dg.solve(expected, "sdca", Permutation(), tol=1e-6)
    w = np.append(solution.coef, solution.intercept / value)
    np.testing.assert_allclose(w, other.coef, atol=1e-4)
    check_same_certificate(
        dg.certify(found, solution.coef, solution.dual, solution.intercept),
        dg.certify(expected, w, solution.dual),
    )
    np.testing.assert_allclose(
        solution.certificate.decision_radius(given),
        solution.certificate.radius * np.linalg.norm(with_column(X, value), axis=1),
    )


def test_many_classes_have_an_intercept_each():
    X, z = data()
    y = np.digitize(z, [0.0, 2.0])
    found = dg.Problem(sp.csr_array(X), y, Softmax(), "l2", 0.05, intercept="penalised")
    expected = dg.Problem(sp.csr_array(with_column(X)), y, Softmax(), "l2", 0.05)
    check_same_problem(found, expected)
    solution = dg.solve(found, tol=1e-9)
    assert solution.converged
    assert solution.coef.shape == (4, 3)
    assert solution.intercept.shape == (3,)
    w = np.vstack([solution.coef, solution.intercept])
    check_same_certificate(
        dg.certify(found, solution.coef, solution.dual, solution.intercept),
        dg.certify(expected, w, solution.dual),
    )


def test_sets_and_threads_see_the_constant_feature():
    X, z = data()
    setting = (labels(z), SmoothedHinge(0.5), "l2", 0.05)
    found = dg.Problem(sp.csr_array(X), *setting, intercept="penalised")
    expected = dg.Problem(sp.csr_array(with_column(X)), *setting)
    runs = [
        dg.solve(problem, "quartz", TauNice(10), tol=0.0, max_epochs=5, n_threads=threads)
        for problem, threads in ((found, 1), (found, 3), (expected, 1))
    ]
    np.testing.assert_array_equal(runs[0].dual, runs[1].dual)
    np.testing.assert_allclose(runs[0].dual, runs[2].dual, atol=1e-9)
    with pytest.raises(ValueError, match="1 group "):
        dg.solve(found, "quartz", Product(2))


# --- penalties --------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, "penalised"])
def test_bounds_do_not_hold_the_intercept(intercept):
    X, y = data()
    problem = dg.Problem(X, y - 9.0, "squared", NonNegative(), 0.1, intercept=intercept)
    np.testing.assert_array_equal(problem.penalty.low, [0.0] * 4 + [-inf])
    solution = dg.solve(problem, tol=1e-12)
    weights = np.sqrt(0.1 * len(y)) * np.diag([1.0] * 4 + [float(intercept == "penalised")])
    best = scipy.optimize.lsq_linear(
        np.vstack([with_column(X), weights]),
        np.append(y - 9.0, np.zeros(5)),
        ([0.0] * 4 + [-inf], inf),
        tol=1e-14,
    ).x
    assert solution.converged
    assert solution.intercept < -1.0
    np.testing.assert_allclose(np.append(solution.coef, solution.intercept), best, atol=1e-5)


def test_weights_are_those_of_the_features_that_are_stored():
    X, y = data()
    penalty = Weighted(L1(), np.array([1.0, 2.0, inf, 0.5]))
    for intercept, last in ((True, 0.0), ("penalised", 1.0)):
        problem = dg.Problem(X, y, penalty=penalty, intercept=intercept)
        np.testing.assert_array_equal(problem.penalty.weights, [1.0, 2.0, inf, 0.5, last])
    with pytest.raises(ValueError, match="each of the 4 features"):
        dg.Problem(X, y, penalty=Weighted(L1(), np.ones(5)), intercept=True)


class Prior(NamedTuple):
    """½‖w − mean‖², with an array that has no entry for a constant feature."""

    mean: Any

    def value(self, w, j):
        return 0.5 * (w - self.mean[j]) ** 2

    def conj(self, u, j):
        return u * (self.mean[j] + 0.5 * u)

    def conj_slope(self, u, near, j):
        return self.mean[j] + u

    def prox(self, u, t, j):
        return (u + t * self.mean[j]) / (1.0 + t)

    def domain(self, j):
        return -inf, inf

    def strength(self, j):
        return 1.0


def test_a_penalty_of_a_user_is_not_asked_about_the_constant_feature():
    X, y = data()
    mean = np.array([1.0, 2.0, 0.0, -1.0])
    problem = dg.Problem(X, y, "squared", Prior(mean), 0.1, intercept=True)
    assert rules.value(problem.penalty, 5.0, 4) == 0.0  # NumPy would refuse mean[4]
    assert rules.conj(problem.penalty, 0.0, 4) == rules.strength(problem.penalty, 4) == 0.0
    assert dg.solve(problem, tol=1e-9).converged
    with pytest.raises(ValueError, match="arrays have no entry"):
        dg.Problem(X, y, "squared", Prior(mean), 0.1, intercept="penalised")


def test_bounds_for_each_feature():
    X, y = data()
    low, high = np.array([-1.0, -inf, 0.0, 0.5]), np.array([0.5, inf, 0.0, 1.0])
    solution = dg.solve(dg.Problem(X, y, "squared", Box(low, high), 0.1), tol=1e-12)
    w = scipy.optimize.minimize(
        lambda w: np.mean((X @ w - y) ** 2) / 2 + 0.05 * w @ w,
        np.zeros(4),
        bounds=list(zip(low, high)),
        options={"ftol": 1e-15, "gtol": 1e-10},
    ).x
    np.testing.assert_allclose(solution.coef, w, atol=1e-5)
    with pytest.raises(ValueError, match="low must be <= high"):
        dg.Problem(X, y, penalty=Box(high, low))
    with pytest.raises(ValueError, match="each of the 4 features"):
        dg.Problem(X, y, penalty=Box(low[:2], 1.0))


# --- what a user gives and gets ---------------------------------------------------------------


def test_a_shift_of_the_features_moves_the_intercept_alone():
    X, y = data()
    shift = np.array([3.0, -1.0, 5.0, 2.0])
    problems = (dg.Problem(Z, y, "squared", "l2", 0.1, intercept=True) for Z in (X, X + shift))
    here, there = (dg.solve(problem, tol=1e-13, max_epochs=10_000) for problem in problems)
    np.testing.assert_allclose(there.coef, here.coef, atol=1e-5)
    assert there.intercept == pytest.approx(here.intercept - shift @ here.coef, abs=1e-4)


def test_warm_starts():
    X, y = data()
    problem = dg.Problem(X, y, "squared", "l2", 0.1, intercept="penalised", intercept_scaling=4.0)
    first = dg.solve(problem, "cd-gap-decay", tol=1e-12)
    for start in (
        first,
        (first.coef, first.intercept, first.dual),
        (first.coef, first.intercept, None),
        (first.coef, first.dual),
    ):
        again = dg.solve(problem, "cd-gap-decay", tol=1e-9, max_epochs=0, warm_start=start)
        assert again.converged
    plain = dg.Problem(X, y, "squared", "l2", 0.1)
    assert dg.solve(plain).intercept == 0.0
    with pytest.raises(ValueError, match="warm_start intercept is not 0"):
        dg.solve(plain, warm_start=first)


def test_callbacks_see_the_intercept():
    X, y = data()
    seen = []
    problem = dg.Problem(X, y, intercept=True)
    solution = dg.solve(problem, "cd-gap-decay", tol=1e-9, callback=seen.append)
    assert seen[-1].coef.shape == (4,)
    assert seen[-1].intercept == pytest.approx(solution.intercept, abs=1e-2)


def test_refusals_in_words():
    X, y = data()
    for bad in ("penalized", 1, None, 0.5):
        with pytest.raises(ValueError, match="intercept must be True, False"):
            dg.Problem(X, y, intercept=bad)
    for bad in (0.0, -1.0, inf, "one"):
        with pytest.raises(ValueError, match="intercept_scaling must be"):
            dg.Problem(X, y, intercept="penalised", intercept_scaling=bad)
    problem = dg.Problem(X, y, intercept=np.True_)
    assert "4 features" in repr(problem)
    assert repr(problem).endswith("intercept=True)")
    assert "intercept" not in repr(dg.Problem(X, y))
    with pytest.raises(ValueError, match="coef has 5 entries where 4"):
        dg.certify(problem, np.zeros(5))
    with pytest.raises(ValueError, match="intercept"):
        dg.certify(problem, np.zeros(4), intercept=np.nan)
    with pytest.raises(ValueError, match="intercept is not 0"):
        dg.certify(dg.Problem(X, y), np.zeros(4), intercept=1.0)
    with pytest.raises(ValueError, match="intercept by rules of its own"):
        dg.solve(dg.Problem(X, y, intercept="penalised"), "sag")
    with pytest.raises(ValueError, match="rescale X"):
        dg.Problem(X * 1e-300, y, intercept=True)


# --- rounding ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_rounding_errors_of_z_do_not_depend_on_the_units_of_features(make, intercept):
    X = np.random.default_rng(0).standard_normal((50, 4))
    units = np.array([1e12, 1.0, 1e-12, 1e-100])
    w = np.append([1.0, 2.0, 3.0, 4.0] / units, 5.0)[: 4 + intercept]
    y = np.zeros(50)
    even, uneven = (dg.Problem(make(Z), y, intercept=intercept) for Z in (X, X * units))
    bound = error_of_z(uneven, w, sharp=True)(slice(0, 50))
    assert ("rows" in vars(uneven)) != ("columns" in vars(uneven))  # as X is stored, it will do
    usual = error_of_z(even, w * np.append(units, 1.0)[: len(w)], sharp=True)(slice(0, 50))
    assert (bound <= 4.0 * usual).all()
    exact = (X * units).astype(np.longdouble) @ w[:4].astype(np.longdouble) + 5.0 * intercept
    assert (np.abs(uneven.decision(w) - exact) <= bound).all()


# --- the scale ---------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "quantile", "poisson"])
def test_the_scale_is_that_of_the_best_constant(loss):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 3))
    y = {"poisson": rng.poisson(3.0, 40), "squared": 1e4 + rng.standard_normal(40)}.get(
        loss, 7.0 + rng.standard_normal(40)
    )
    if loss in ("logistic", "hinge"):
        y = (rng.random(40) < 0.2).astype(int)
    weights = rng.random(40)
    problem = dg.Problem(X, y, loss, lam=0.1, sample_weight=weights, intercept=True)
    values = [problem.loss_value(np.full(40, b)) for b in np.linspace(-15.0, 15.0, 3001)]
    if loss == "squared":
        values = [problem.loss_value(np.full(40, b)) for b in np.linspace(9990.0, 10010.0, 2001)]
    assert problem.scale == pytest.approx(min(values) - problem.floor, rel=2e-3)


def test_the_scale_of_classes():
    labels = np.repeat([0, 1, 2], [10, 20, 30])
    X = np.random.default_rng(6).standard_normal((60, 2))
    shares = np.array([1.0, 2.0, 3.0]) / 6.0
    problem = dg.Problem(X, labels, "softmax", lam=0.1, intercept=True)
    assert problem.scale == pytest.approx(-np.sum(shares * np.log(shares)))


def test_a_constant_added_to_y_only_moves_the_intercept():
    """With P(0) at an intercept of 0, tol would be met before the start."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((50, 3))
    y = X @ [1.0, -2.0, 0.0] + 0.3 * rng.standard_normal(50)
    near = dg.solve(dg.Problem(X, y, lam=0.01, intercept=True), tol=1e-8)
    far = dg.Problem(X, y + 1e6, lam=0.01, intercept=True)
    far = dg.solve(far, tol=1e-8, relative_to="start")
    assert far.converged
    np.testing.assert_allclose(far.coef, near.coef, atol=1e-4)
    assert far.intercept - 1e6 == pytest.approx(near.intercept, abs=1e-4)
    constant = dg.solve(dg.Problem(X, np.full(50, 3.0), lam=0.01, intercept=True))
    assert constant.converged
    assert constant.intercept == pytest.approx(3.0)
