"""X of every kind: the same answer, no copy where none is needed, inputs never written to."""

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_data import random_csr

import dualgap as dg
from dualgap.linalg import products, storage
from dualgap.linalg.matrices import Ones, Sparse


def data():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (40, 7)) * (rng.random((40, 7)) < 0.5)
    return X.astype(float), np.where(X[:, 0] + rng.standard_normal(40) > 0, 1.0, -1.0)


def duplicated(X):
    """The same matrix with every entry split in two, in no order."""
    coo = sp.coo_matrix(X)
    order = np.random.default_rng(0).permutation(2 * coo.nnz)
    rows, columns = np.tile(coo.row, 2)[order], np.tile(coo.col, 2)[order]
    values = np.concatenate([0.25 * coo.data, 0.75 * coo.data])[order]
    by_row = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])
    return sp.csr_matrix((values[by_row], columns[by_row], indptr), shape=X.shape)


def unsorted(X):
    matrix = sp.csr_matrix(X)
    for i in range(matrix.shape[0]):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        matrix.indices[part] = matrix.indices[part][::-1].copy()
        matrix.data[part] = matrix.data[part][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def wide_indices(X):
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def long_long_indices(X):
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype("q"), matrix.indptr.astype("q")
    return matrix


def frozen(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def frozen_csr(X):
    matrix = sp.csr_matrix(X)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


KINDS = {
    "fortran": np.asfortranarray,
    "slice": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: X.astype(np.int8),
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "read-only": frozen,
    "csr": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_array,
    "int64 indices": wide_indices,
    "long long indices": long_long_indices,
    "float32 csr": lambda X: sp.csr_array(X.astype(np.float32)),
    "duplicates": duplicated,
    "unsorted": unsorted,
    "read-only csr": frozen_csr,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "penalty"), [("hinge", "l2"), ("squared", "l1")])
def test_every_kind_gives_the_same_answer(kind, loss, penalty):
    X, y = data()
    expected = dg.solve(dg.Problem(X, y, loss, penalty, 0.05), tol=1e-10, max_epochs=5000)
    given = KINDS[kind](X)
    before = given.copy() if hasattr(given, "copy") else None
    solution = dg.solve(dg.Problem(given, y, loss, penalty, 0.05), tol=1e-10, max_epochs=5000)
    assert solution.converged
    np.testing.assert_allclose(solution.coef, expected.coef, atol=1e-4)
    assert solution.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-9)
    if sp.issparse(given):
        assert (given != before).nnz == 0
        np.testing.assert_array_equal(given.indices if given.format != "coo" else 0,
                                      before.indices if given.format != "coo" else 0)  # fmt: skip


def test_memory_maps_are_read_in_place(tmp_path):
    X, y = data()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    problem = dg.Problem(mapped, y, "hinge", lam=0.05)
    assert np.shares_memory(problem.rows.data, mapped)
    assert np.shares_memory(problem.columns.data, mapped)
    assert dg.solve(problem).converged
    assert dg.solve(dg.Problem(mapped, y, "squared", "l1", 0.05)).converged


def test_nothing_is_copied_that_can_be_read_in_place():
    X, _ = data()
    for dtype in (np.float32, np.float64):
        dense = X.astype(dtype)
        assert np.shares_memory(storage.rows(storage.as_data(dense)).data, dense)
        fortran = np.asfortranarray(dense)
        assert np.shares_memory(storage.columns(storage.as_data(fortran)).data, fortran)
        for make, view in ((sp.csr_array, storage.rows), (sp.csc_array, storage.columns)):
            matrix = make(dense)
            seen = view(storage.as_data(matrix))
            assert np.shares_memory(seen.data, matrix.data)
            assert np.shares_memory(seen.indices, matrix.indices)
            assert seen.data.dtype == dtype
    wide = wide_indices(X)
    assert np.shares_memory(storage.rows(storage.as_data(wide)).indices, wide.indices)


def test_a_problem_never_makes_sparse_data_dense():
    wide = sp.random(50, 2_000_000, density=1e-6, random_state=0, format="csr")
    y = np.where(np.arange(50) % 2, 1.0, -1.0)
    assert dg.solve(dg.Problem(wide, y, "hinge", lam=0.1)).converged


def test_float32_data_is_certified_in_float64():
    X, y = data()
    X = (X * 1.1).astype(np.float32)
    narrow = dg.solve(dg.Problem(X, y, "squared", lam=0.05), tol=1e-12)
    wide = dg.solve(dg.Problem(X.astype(float), y, "squared", lam=0.05), tol=1e-12)
    assert narrow.coef.dtype == np.float64
    np.testing.assert_allclose(narrow.coef, wide.coef, rtol=1e-6)
    exact = np.linalg.solve(
        X.astype(float).T @ X / 40 + 0.05 * np.eye(7), X.astype(float).T @ y / 40
    )
    np.testing.assert_allclose(narrow.coef, exact, atol=1e-5)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("intercept", [False, True])
def test_entries_that_are_all_one_are_not_read(make, intercept):
    X, y = (data()[0] > 0).astype(float), data()[1]
    settings = {"loss": "logistic", "lam": 0.01, "intercept": intercept}
    ones, dense = dg.Problem(make(X), y, **settings), dg.Problem(X, y, **settings)
    assert isinstance(storage.rows(ones.X), Ones)
    assert isinstance(storage.columns(ones.X), Ones)
    for method in ("sweeps", "newton", "cd-gap-decay") if not intercept else ("newton",):
        found, expected = (dg.solve(p, method, tol=1e-10) for p in (ones, dense))
        assert found.certificate.gap <= 1e-10 * ones.scale
        np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-6, atol=1e-6)


def test_a_part_is_seen_as_the_whole_is():
    X, y = data()
    X[:20] = X[:20] > 0
    whole = dg.Problem(sp.csr_array(X), y, "logistic", lam=0.01)
    part = whole.on_samples(np.arange(20))
    assert (part.X.data == 1.0).all()
    assert type(part.stored_rows) is type(part.rows) is Sparse


@pytest.mark.parametrize("entries", ["any", "ones"])
def test_products_with_rows_of_all_lengths(entries):
    rng = np.random.default_rng(3)
    lengths = np.concatenate([[1500, 1024, 0], rng.poisson(6.0, 12_000), [0, 1100, 3]])
    indices = [np.sort(rng.choice(2000, length, replace=False)) for length in lengths]
    values = rng.standard_normal(lengths.sum()) if entries == "any" else np.ones(lengths.sum())
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    X = sp.csr_array((values, np.concatenate(indices), bounds), shape=(len(lengths), 2000))
    matrix, w, found = storage.rows(X), rng.standard_normal(2000), np.empty(len(lengths))
    assert products._is_ragged(matrix)
    products.gather(matrix, w, found)
    np.testing.assert_allclose(found, X @ w, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products.measure(matrix), X.power(2).sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("ones", [False, True])
def test_some_rows_are_those_rows(ones, index, dtype):
    rng = np.random.default_rng(5)
    X = random_csr((9_000, 40), 0.9, rng, dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    X.data = np.ones_like(X.data) if ones else X.data
    stored = storage.rows(X)
    assert type(stored) is (Ones if ones else Sparse)
    for places in (np.array([8_999]), np.array([0, 2, 3]), np.sort(rng.permutation(9_000)[:8_000])):
        part = storage.select(stored, places)
        assert part.has_canonical_format
        assert part.dtype == dtype
        np.testing.assert_array_equal(part.toarray(), X[places].toarray())


def test_newton_starts_from_a_sample_of_ones():
    rng = np.random.default_rng(6)
    X = sp.csr_array((rng.random((6_000, 12)) < 0.3).astype(float))
    y = np.sign(X @ rng.standard_normal(12) + 0.3 * rng.standard_normal(6_000))
    for loss in ("hinge", "squared-hinge", "logistic"):
        problem = dg.Problem(X, y, loss, lam=1e-3)
        assert isinstance(problem.rows, Ones)
        assert dg.solve(problem, "newton", tol=1e-8).converged
