"""The number of threads changes no bit of a result."""

import batch_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.losses import SmoothedHinge, Softmax
from dualgap.samplings import Arbitrary, Full, TauNice
from dualgap.steps import ASDCA, SPDC, Quartz
from dualgap.steps.sets import batch

STEPS = {"I": Quartz("I"), "II": Quartz("II"), "spdc": SPDC(), "asdca": ASDCA()}
STORAGES = {"csr": sp.csr_array, "csc": sp.csc_array, "dense": np.asarray}


def sets_of(n):
    """Sets of all sizes, many of them empty."""
    return Arbitrary(lambda rng: np.flatnonzero(rng.random(n) < 0.02), np.full(n, 0.02))


def make(storage="csr", dtype=np.float64, blocks=False, n=60, d=9):
    X = ref.sparse_rows(n, d)
    y = np.arange(n) % 3 if blocks else ref.labels(X)
    X = STORAGES[storage](X.astype(dtype))
    return dg.Problem(X, y, Softmax() if blocks else SmoothedHinge(0.5), "l2", 0.02)


def check_same(problem, step, sampling, threads, monkeypatch, epochs=4):
    calls = []
    together = batch._together

    def counted(pool, action, todo):
        calls.append(len(todo))
        return together(pool, action, todo)

    monkeypatch.setattr(batch, "_together", counted)
    runs = [
        dg.solve(problem, step, sampling, tol=0.0, max_epochs=epochs, n_threads=k)
        for k in (1, *threads)
    ]
    assert set(calls) == {1, *threads}  # a single thread takes the same way
    for run in runs[1:]:
        np.testing.assert_array_equal(run.coef, runs[0].coef)
        np.testing.assert_array_equal(run.dual, runs[0].dual)
        np.testing.assert_array_equal(run.history.gap, runs[0].history.gap)
        np.testing.assert_array_equal(
            run.history.vector_operations, runs[0].history.vector_operations
        )
    assert runs[0].history.gap[-1] < runs[0].history.gap[0]


CASES = [(step, "csr", np.float64, False) for step in STEPS]
CASES += [("I", storage, np.float64, False) for storage in ("csc", "dense")]
CASES += [("spdc", storage, np.float32, False) for storage in ("csr", "dense")]
CASES += [(step, "csr", np.float64, True) for step in ("I", "II")]


@pytest.mark.parametrize(("step", "storage", "dtype", "blocks"), CASES)
def test_threads_change_nothing(step, storage, dtype, blocks, monkeypatch):
    monkeypatch.setattr(batch, "_MIN_ENTRIES_FOR_THREADS", 0)
    problem = make(storage, dtype, blocks)
    check_same(problem, STEPS[step], TauNice(7), (2, 3, 5), monkeypatch)


def test_more_threads_than_features_samples_and_members(monkeypatch):
    monkeypatch.setattr(batch, "_MIN_ENTRIES_FOR_THREADS", 0)
    X = sp.csr_array(np.array([[1.0], [0.0], [-2.0]]))
    tiny = dg.Problem(X, [1.0, -1.0, -1.0], SmoothedHinge(0.5), "l2", 0.02)
    check_same(tiny, Quartz(), TauNice(1), (2, 7), monkeypatch)
    check_same(tiny, SPDC(), Full(), (7,), monkeypatch)


@pytest.mark.parametrize("blocks", [False, True])
def test_empty_sets(blocks, monkeypatch):
    monkeypatch.setattr(batch, "_MIN_ENTRIES_FOR_THREADS", 0)
    check_same(make(blocks=blocks), Quartz(), sets_of(60), (3,), monkeypatch, epochs=8)


def test_threads_work_where_sets_are_large(monkeypatch):
    """Without any encouragement: a set of more than 500,000 entries."""
    check_same(make(n=16_000, d=200), Quartz(), TauNice(15_000), (2,), monkeypatch, epochs=2)


def test_small_sets_are_not_worth_it(monkeypatch):
    monkeypatch.setattr(batch, "ThreadPoolExecutor", None)
    solution = dg.solve(make(), Quartz(), TauNice(7), max_epochs=1, n_threads=2)
    assert solution.history.updates[-1] > 0


def test_an_error_in_a_thread_surfaces(monkeypatch):
    monkeypatch.setattr(batch, "_MIN_ENTRIES_FOR_THREADS", 0)

    def broken(*given):
        raise RuntimeError("in a thread")

    monkeypatch.setattr(batch.batch_kernels, "respond_rows", broken)
    with pytest.raises(RuntimeError, match="in a thread"):
        dg.solve(make(), Quartz(), TauNice(7), max_epochs=1, n_threads=2)
