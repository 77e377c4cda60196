"""How fast the compiled kernels are: ``make bench-kernels``, about two minutes on two cores.

1. A serial coordinate step against SciPy and NumPy. An epoch reads the entries of X twice, once for
   the dot products and once for the updates, as ``X @ w`` and ``X.T @ u`` do together. The ratio of
   the two times is what it costs to update one coordinate at a time, in random order. "first" is
   the ratio in the first epoch, "later" after some more; an update that does not move saves the
   second reading. "moved" is the share of the coordinates that move in the later epoch, "passes"
   the readings of a coordinate's entries per visit in the first.
2. How many bytes an epoch reads, and how fast.

The cost of an epoch as n grows is table 1 of two papers: ``dualgap reproduce 000 --figure T1``.

What is compared is timed in turn, many times, and the shortest times are compared: other programs
can only add to a time. Ratios carry over to another machine, seconds do not; nothing
here fails because a machine is slow or busy.

The set is w8a; generated data stand in when it cannot be had (see ``dualgap.datasets.load``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.common import one_thread, table
from dualgap import Problem, datasets, losses, penalties
from dualgap.steps.base import Start
from dualgap.steps.coordinate.coordinate import Coordinate

REPEATS = 30
LATER = 10  # epochs before the one that is shown as "later"
SPARSE_LIMIT, DENSE_LIMIT = 6.0, 3.0
SHAPES = ((20_000, 300), (5_000, 2_000), (100_000, 50))


# --- data -----------------------------------------------------------------------------------------


def dense_data(shape: tuple[int, int], dtype: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape, dtype=dtype)
    return X, np.where(X[:, 0] + rng.standard_normal(shape[0]) > 0.0, 1.0, -1.0)


# --- measuring ------------------------------------------------------------------------------------


@dataclass
class Comparison:
    """Times of epochs and of the two products, with what the epochs did."""

    first: Any
    later: Any
    serial: Any  # the products, BLAS limited to one thread
    threaded: Any  # the products, BLAS as it is
    moved: float  # share of the coordinates, in the later epoch
    passes: float  # per coordinate, in the first epoch
    volume: float  # bytes of all entries

    @property
    def ratio(self) -> float:
        """What the requirement is about."""
        return min(self.first) / min(self.serial)

    @property
    def row(self) -> list[str]:
        return [
            f"{1e3 * min(self.first):.2f}",
            f"{1e3 * min(self.serial):.2f}",
            f"{self.ratio:.2f}",
            f"{min(self.later) / min(self.serial):.2f}",
            f"{self.moved:.2f}",
            f"{self.passes:.2f}",
        ]


class Epochs:
    """Epochs of a coordinate run that start from the same two states again and again."""

    def __init__(self, problem: Problem, view: Any) -> None:
        self.run = Coordinate(view).start(problem, Start())
        self.rng = np.random.default_rng(0)
        self.begin = self._state()
        for _ in range(LATER):
            self.run.advance(self.rng.permutation(self.run.size))
        self.later = self._state()

    def _state(self) -> tuple[Any, Any]:
        return self.run.view.x.copy(), self.run.view.v.copy()

    def measure(self, state: tuple[Any, Any]) -> tuple[float, float, float]:
        """Seconds; and per coordinate, how many moved and the passes over the entries."""
        self.run.view.x[:], self.run.view.v[:] = state
        order = self.rng.permutation(self.run.size)
        began = time.perf_counter()
        moved, operations = self.run.advance(order)
        return time.perf_counter() - began, moved / len(order), operations / len(order)


def compare(problem: Problem, view: str) -> Comparison:
    X, epochs = problem.X, Epochs(problem, view)
    rng = np.random.default_rng(0)
    u, w = (rng.standard_normal(size).astype(X.dtype) for size in X.shape)

    def products() -> Any:
        return X @ w, X.T @ u

    rows = []
    with one_thread():
        for _ in range(REPEATS):
            first, later = epochs.measure(epochs.begin), epochs.measure(epochs.later)
            rows.append((first[0], later[0], clock(products), later[1], first[2]))
    # Not in turn with the rest: idle threads of BLAS spin for a while and would disturb it.
    threaded = [clock(products) for _ in range(REPEATS)]
    *times, moved, passes = np.array(rows).T
    volume = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    return Comparison(*times, threaded, np.median(moved), np.median(passes), volume)


def clock(action: Callable[[], Any]) -> float:
    action()  # brings back to the caches what an epoch has driven out
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def sparse_cases(X: Any, y: Any) -> Iterator[tuple[str, Problem, str]]:
    for penalty in (penalties.L2(), penalties.ElasticNet(0.5)):
        for loss in (losses.Hinge(), losses.Squared(), losses.SmoothedHinge(), losses.Logistic()):
            name = f"dual, {type(loss).__name__} + {type(penalty).__name__}"
            yield name, Problem(X, y, loss, penalty, 1.0 / len(y)), "dual"
    by_columns = X.tocsc()
    for loss in (losses.Squared(), losses.Logistic()):
        problem = Problem(by_columns, y, loss, penalties.L1(), 1e-4)
        yield f"primal (CSC), {type(loss).__name__} + L1", problem, "primal"


def dense_cases() -> Iterator[tuple[str, Problem]]:
    for shape in SHAPES:
        for dtype in (np.float64, np.float32):
            X, y = dense_data(shape, dtype)
            for loss in (losses.Hinge(), losses.Squared()):
                name = f"{shape[0]} x {shape[1]} {X.dtype}, {type(loss).__name__} + L2"
                yield name, Problem(X, y, loss, penalties.L2(), 1.0 / len(y))


HEADER = ("epoch ms", "products ms", "first", "later", "moved", "passes")


def show_sparse() -> dict[str, Comparison]:
    w8a = datasets.load("w8a", missing="synthetic")
    data, X, y = w8a.name, w8a.X, w8a.y
    print(f"1a. Epoch / (X @ w + X.T @ u) by SciPy on {data}: {X.shape[0]} x {X.shape[1]},")
    print(f"    {X.nnz} entries of {X.dtype} and {X.indices.dtype}. Required in the first epoch:")
    print(f"    <= {SPARSE_LIMIT:g}. The later one is epoch {LATER + 1}.\n")
    results = {name: compare(problem, view) for name, problem, view in sparse_cases(X, y)}
    table(
        (data, *HEADER, "met"),
        [[name, *result.row, met(result, SPARSE_LIMIT)] for name, result in results.items()],
    )
    return results


def show_dense() -> dict[str, Comparison]:
    print("1b. The same by NumPy on dense arrays, dual view. NumPy works in the precision of X,")
    print(
        f"    the kernel in float64. Required: <= {DENSE_LIMIT:g} with BLAS limited to one thread;"
    )
    print('    "threads" is the first epoch against BLAS with its default number of threads.\n')
    results = {name: compare(problem, "dual") for name, problem in dense_cases()}
    rows = []
    for name, result in results.items():
        threaded = min(result.first) / min(result.threaded)
        rows.append([name, *result.row, f"{threaded:.2f}", met(result, DENSE_LIMIT)])
    table(("dense", *HEADER, "threads", "met"), rows)
    return results


def met(result: Comparison, limit: float) -> str:
    return "yes" if result.ratio <= limit else "no"


# --- 2. the cost of an epoch as n grows -----------------------------------------------------------


def show_bytes(results: dict[str, Comparison]) -> None:
    print("2.  Bytes read in an epoch = passes · entries · (bytes of a value + of an index), with")
    print("    no indices in a dense array. The second pass of a visit finds its row in cache.\n")
    rows = []
    for name, result in results.items():
        read = result.passes * result.volume
        both = 2.0 * result.volume / min(result.serial)
        rate = read / min(result.first)
        rows.append([name, f"{read / 1e6:.1f}", f"{rate / 1e9:.2f}", f"{both / 1e9:.2f}"])
    table(("first epoch", "MB", "GB/s", "GB/s of the products"), rows)


def main() -> None:
    sparse, dense = show_sparse(), show_dense()
    show_bytes({name: result for name, result in (sparse | dense).items() if "Squared" in name})


if __name__ == "__main__":
    main()
