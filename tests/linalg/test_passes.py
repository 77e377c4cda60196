"""Passes over data by several threads, in parts: the same bits, and the same as NumPy."""

import os
import threading
import tracemalloc
from itertools import pairwise

import numba
import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.linalg import parallel, products, storage
from dualgap.proof import terms

rng = np.random.default_rng(0)
N, D = 301, 7


@pytest.fixture
def small_parts(monkeypatch):
    """Whatever is small counts as large."""
    monkeypatch.setattr(parallel, "TUNING", parallel.TUNING._replace(worthwhile=1, dense_speed=1))
    monkeypatch.setattr(terms, "_THREADED_SAMPLES", 1)
    monkeypatch.setattr(terms, "_PIECE", 32)
    monkeypatch.setattr(terms, "_BOUNDED_PIECE", 32)


def data(kind):
    X = rng.standard_normal((N, D))
    X[rng.random(X.shape) < 0.6] = 0.0
    X[40:90] = 0.0
    return {"dense": X, "csr": sp.csr_array(X), "csc": sp.csc_array(X)}[kind], X


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", [(1,), (54,), (64,), (9, 2), (5, 5)])
def test_no_two_threads_write_to_one_cache_line(shape):
    found = parallel.arrays(4, *shape)
    assert all(one.shape == shape and one.flags.c_contiguous and not one.any() for one in found)
    lines = [
        {byte // 128 for byte in range(one.ctypes.data, one.ctypes.data + one.nbytes)}
        for one in found
    ]
    assert sum(map(len, lines)) == len(set.union(*lines))


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_products_in_parts(kind, threads, small_parts):
    given, X = data(kind)
    matrix = storage.columns(given) if kind == "csc" else storage.rows(given)
    X = X.T if kind == "csc" else X
    for width in (1, 3):
        w, a = rng.standard_normal((X.shape[1], width)), rng.standard_normal((len(X), width))
        z, u = np.empty(a.size), np.empty(w.size)
        with parallel.at_most(threads):
            products.gather(matrix, w.ravel(), z)
            products.scatter(matrix, a.ravel(), u)
        close(z, (X @ w).ravel())
        close(u, (X.T @ a).ravel())
    with parallel.at_most(threads):
        own = products.measure(matrix)
        other, counts = products.measure_across(matrix)
    assert products.largest(matrix, len(X)) == np.abs(X).max()
    close(own, np.sum(X * X, axis=1))
    close(other, np.sum(X * X, axis=0))
    stored = np.ones_like(X) if kind == "dense" else X != 0.0
    assert (storage.counts(matrix, slice(0, len(X))) == stored.sum(axis=1)).all()
    assert (counts == stored.sum(axis=0)).all()


def test_parts_have_about_as_many_entries(small_parts):
    matrix = storage.rows(data("csr")[0])
    cuts = parallel.across(matrix)
    assert len(cuts) > 1
    assert cuts[0].start == 0
    assert cuts[-1].stop == N
    assert all(one.stop == two.start for one, two in pairwise(cuts))
    sizes = [matrix.indptr[cut.stop] - matrix.indptr[cut.start] for cut in cuts]
    assert max(sizes) - min(sizes) <= 2 * D


def test_weights_are_of_one_type_whatever_they_are():
    some = storage.as_shares(rng.random(N))
    even = storage.as_shares(np.full(N, 0.5))
    assert even.strides == (0,)
    for found in (some, storage.divided(even, 3.0), storage.chosen(some, np.arange(0, N, 2))):
        assert numba.typeof(found) == numba.typeof(even)
    assert (storage.divided(some, 3.0) == some / 3.0).all()
    assert (storage.chosen(some, np.array([7, 3])) == some[[7, 3]]).all()


@pytest.mark.parametrize(
    ("loss", "penalty", "storage"),
    [("hinge", "l2", "csr"), ("logistic", "l2", "csr"), ("squared", "l1", "csc")],
)
def test_a_fit_takes_six_vectors_beyond_the_data(loss, penalty, storage):
    n, d, entries = 200_000, 50, 5
    places = np.sort(rng.integers(0, d // entries, (n, entries)) + np.arange(0, d, d // entries))
    values = rng.standard_normal(places.size)
    X = sp.csr_array((values, places.ravel(), np.arange(0, places.size + 1, entries)), (n, d))
    y = np.sign(X @ rng.standard_normal(d) + rng.standard_normal(n))
    lam = 1.0 / n if penalty == "l2" else 0.1 * float(np.abs(X.T @ y).max()) / n
    X = X.asformat(storage)

    def fit():
        return dg.solve(dg.Problem(X, y, loss, penalty, lam), method, tol=1e-4, n_threads=2)

    method = "sweeps" if penalty == "l2" else "working-set"
    assert fit().converged  # compiles
    tracemalloc.start()
    try:
        fit()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 6 * 8 * (n + d)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_the_number_of_threads_changes_no_bit(kind, small_parts):
    given, X = data(kind)
    y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(N))
    y[y == 0.0] = 1.0

    def fit(threads):
        with parallel.at_most(threads):
            problem = dg.Problem(given, y, "logistic", "l2", 1e-3)
        return dg.solve(problem, "cd-gap-decay", tol=1e-9, n_threads=threads)

    one, two, most = fit(1), fit(2), fit(None)
    for other in (two, most):
        assert (one.coef == other.coef).all()
        assert (one.dual == other.dual).all()
        assert one.certificate.gap == other.certificate.gap
    assert one.converged


def test_sums_over_pieces_are_those_of_one(small_parts, monkeypatch):
    given, X = data("dense")
    problem = dg.Problem(given, X[:, 0] + rng.standard_normal(N), "squared", "l1", 0.01)
    w = rng.standard_normal(D)
    pieces = dg.certify(problem, w)
    monkeypatch.setattr(terms, "_THREADED_SAMPLES", N + 1)
    whole = dg.certify(problem, w)
    assert pieces.primal == pytest.approx(whole.primal, rel=1e-14)
    assert pieces.gap == pytest.approx(whole.gap, rel=1e-12)


def test_cores_respect_what_others_set(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for name in parallel._LIMITS:
        monkeypatch.delenv(name, raising=False)
    assert parallel.cores() == 8
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert parallel.cores() == 3
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert parallel.cores() == 1
    with parallel.at_most(2):
        assert parallel.count() == 2
    assert parallel.count() == 1


def test_an_error_in_a_thread_is_the_caller_s():
    def fail(k):
        raise ArithmeticError(k)

    with parallel.at_most(4), pytest.raises(ArithmeticError):
        parallel.together(fail, [(k,) for k in range(8)])


def test_callers_who_share_the_pool_all_get_their_results():
    def call():
        with parallel.at_most(3):
            found.append(parallel.together(lambda k: k * k, [(k,) for k in range(50)]))

    found = []
    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [[k * k for k in range(50)]] * 4
