"""Categories stored as codes: the same products, and the same fits, as with one-hot columns."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.linalg import storage
from dualgap.linalg.cells import groups_of
from dualgap.linalg.coded_matrix import CodedMatrix
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.gram import gram

SHAPES = {
    "merged": (2000, 3, (5, 2, 4)),
    "apart": (200, 2, (30, 20, 10)),
    "one column": (300, 1, (7,)),
    "no numbers": (500, 0, (3, 4)),
    "long rows": (40, 1020, (3, 4, 2, 2, 2)),
}


def coded(shape, dtype=np.float64, seed=0):
    """A matrix of codes, and the same without."""
    n, q, sizes = shape
    rng = np.random.default_rng(seed)
    starts = tuple(np.cumsum([q, *sizes]).tolist())
    codes = np.column_stack([rng.integers(a, b, n) for a, b in itertools.pairwise(starts)])
    numbers = rng.normal(size=(n, q)).astype(dtype)
    plain = np.zeros((n, starts[-1]), dtype)
    plain[:, :q] = numbers
    for column in codes.T:
        plain[np.arange(n), column] = 1.0
    return CodedMatrix.of(numbers, codes, starts), plain


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_one_hot_columns(shape, dtype, intercept):
    X, plain = coded(SHAPES[shape], dtype)
    ours, theirs = DesignMatrix(X, intercept), DesignMatrix(sp.csr_array(plain), intercept)
    rng = np.random.default_rng(1)
    w, v, h = rng.normal(size=ours.d), rng.normal(size=ours.n), rng.random(ours.n)
    h[::7] = 0.0
    for action in (
        lambda data: data.times(w, 1),
        lambda data: data.summed(v, 1),
        lambda data: data.times(np.repeat(w, 3), 3),
        lambda data: data.summed(np.repeat(v, 3), 3),
        lambda data: gram(data, h),
        lambda data: gram(data, v),
        lambda data: data.row_squares,
        lambda data: data.column_squares,
        lambda data: data.summed_squares(h, of_rows=False),
        lambda data: data.summed_squares(w**2, of_rows=True),
        lambda data: data.even_squares,
    ):
        expected = action(theirs)
        np.testing.assert_allclose(action(ours), expected, atol=1e-12 * np.abs(expected).max())
    if ours.p < 100:  # zeros among numbers are entries of ours
        np.testing.assert_array_equal(ours.row_counts, theirs.row_counts)
    assert not X.is_expanded


def test_columns_share_cells_where_samples_are_many():
    assert groups_of(coded(SHAPES["merged"])[0]) == [[0, 1, 2]]
    assert len(groups_of(coded(SHAPES["apart"])[0])) == 3
    X, _ = coded((3000, 0, (12, 11, 2, 6)))  # 187 cells at most
    assert sorted(map(sorted, groups_of(X))) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("shape", ["merged", "apart", "no numbers"])
def test_kernels_see_the_same_entries(shape):
    from dualgap.compile.rules import entry, place, span, within

    X, plain = coded(SHAPES[shape])
    stored, width = storage.rows(X), plain.shape[1]
    for i in range(5):
        row = np.zeros(width)
        for t in range(*span(stored, i)):
            row[place(stored, i, t)] += entry(stored, i, t)
        np.testing.assert_array_equal(row, plain[i])
        for low, high in ((0, 3), (2, width), (4, 4), (3, width - 2)):
            found = [int(place(stored, i, t)) for t in range(*within(stored, i, low, high))]
            expected = [j for j in np.flatnonzero(plain[i]) if low <= j < high]
            assert found == expected


def test_it_is_a_csr_array_for_others():
    X, plain = coded(SHAPES["merged"])
    places = np.array([5, 3, 3])
    for part in (X[places], X[plain[:, 0] > 0], X[2:9]):
        assert isinstance(part, CodedMatrix)
        assert not part.is_expanded
    np.testing.assert_array_equal(X[places].toarray(), plain[places])
    np.testing.assert_allclose(X @ np.arange(14.0), plain @ np.arange(14.0))
    np.testing.assert_allclose(np.arange(2000.0) @ X, np.arange(2000.0) @ plain)
    assert not X.is_expanded
    again = pickle.loads(pickle.dumps(X))
    assert not again.is_expanded
    assert again.starts == X.starts
    np.testing.assert_array_equal(again.toarray(), plain)
    np.testing.assert_array_equal(X[:, [0, 4]].toarray(), plain[:, [0, 4]])
    np.testing.assert_array_equal(X.T.toarray(), plain.T)
    np.testing.assert_array_equal(X[3, 2], plain[3, 2])
    np.testing.assert_array_equal((2.0 * X).toarray(), 2.0 * plain)
    assert X.nnz == 2000 * 6
    assert type(X.tocsr(copy=True)) is sp.csr_array


METHODS = [
    *((method, "logistic") for method in ("newton", "sweeps", "working-set", "sdca")),
    *((method, "logistic") for method in ("cd-gap-decay", "quartz", "afg")),
    *((method, "softmax") for method in ("newton-cg", "quasi-newton", "sdca")),
]


@pytest.mark.parametrize(("method", "loss"), METHODS)
def test_methods_find_the_same_optimum(method, loss):
    X, plain = coded((400, 3, (5, 2, 4)))
    y = np.where(plain @ np.random.default_rng(2).normal(size=14) > 0.0, 1.0, -1.0)
    made = {}
    for name, data in (("codes", X), ("csr", sp.csr_array(plain))):
        problem = dg.Problem(data, y, loss, "l2", 0.01, intercept="penalised")
        made[name] = dg.solve(problem, method, tol=1e-6)
        assert made[name].converged
    ours, theirs = made["codes"].certificate, made["csr"].certificate
    assert abs(ours.primal - theirs.primal) <= ours.gap + theirs.gap
    assert ours.dual <= theirs.upper
    assert theirs.dual <= ours.upper


def test_columns_far_from_0_are_shifted():
    X, plain = coded((400, 2, (3, 4)))
    X.numbers[:, 1] += 2.0**30
    plain[:, 1] = X.numbers[:, 1]
    y = plain @ np.arange(9.0) - 2.0**30
    ours = dg.solve(dg.Problem(X, y, lam=0.1, intercept=True), tol=1e-8)
    theirs = dg.solve(dg.Problem(plain, y, lam=0.1, intercept=True), tol=1e-8)
    assert ours.converged
    np.testing.assert_allclose(ours.coef, theirs.coef, rtol=1e-5)
    assert X.numbers[0, 1] > 1e9  # not changed


def test_large_fits_do_not_expand_codes():
    X, plain = coded((30_000, 3, (5, 12, 4)))
    y = np.random.default_rng(0).poisson(np.exp(0.1 * plain @ np.linspace(-1, 1, 24)))
    dg.solve(dg.Problem(X, y.astype(float), "poisson", lam=1e-3, intercept=True), tol=1e-6)
    assert not X.is_expanded
