"""How fast the compiled kernels are: ``make bench-kernels``, about two minutes on two cores.

1. A serial coordinate step against SciPy and NumPy. An epoch reads the entries of X twice, once for
   the dot products and once for the updates, as ``X @ w`` and ``X.T @ u`` do together. The ratio of
   the two times is what it costs to update one coordinate at a time, in random order. "first" is
   the ratio in the first epoch, "later" after some more; an update that does not move saves the
   second reading. "moved" is the share of the coordinates that move in the later epoch, "passes"
   the readings of a coordinate's entries per visit in the first.
2. The cost of an epoch as n grows, with a fixed number of entries per row; time is fitted by
   n^exponent. Rows fall out of the caches on the way, which every method pays for, so the time
   relative to SDCA shows what a sampling adds.
3. How many bytes an epoch reads, and how fast.

What is compared is timed in turn, many times, and the shortest times are compared: other programs
can only add to a time. Ratios and exponents carry over to another machine, seconds do not; nothing
here fails because a machine is slow or busy.

The set is w8a; generated data stand in when it cannot be had (see ``dualgap.datasets.load``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import one_thread, short_rows, table

from dualgap import Problem, datasets, losses, penalties, solve
from dualgap.steps.coordinate import Coordinate
from dualgap.steps.start import Start

REPEATS = 30
LATER = 10  # epochs before the one that is shown as "later"
SPARSE_LIMIT, DENSE_LIMIT = 6.0, 3.0
SHAPES = ((20_000, 300), (5_000, 2_000), (100_000, 50))

WIDTH, ROW_ENTRIES = 1_000, 20
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
EPOCHS, ROUNDS = 3, 2
SHORT = 300_000  # smaller problems are measured more often: their times are the noisier ones
METHODS = {
    "sdca": "SDCA (uniform)",
    "iprox-sdca": "IProx-SDCA (importance)",
    "adasdca+": "AdaSDCA+ option I",
    "adasdca+ii": "AdaSDCA+ option II",
}
STEP_SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
STEP_SECONDS = 0.5
LARGE = 10_000  # from here on the work of a step outweighs Python's fixed cost


# --- data -----------------------------------------------------------------------------------------


def dense_data(shape: tuple[int, int], dtype: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape, dtype=dtype)
    return X, np.where(X[:, 0] + rng.standard_normal(shape[0]) > 0.0, 1.0, -1.0)


def ridge(n: int) -> Problem:
    """Ridge regression with ``ROW_ENTRIES`` entries in each of n rows."""
    rng = np.random.default_rng(1)
    X = short_rows(n, WIDTH, ROW_ENTRIES)
    y = X @ rng.standard_normal(WIDTH) + rng.standard_normal(n)
    return Problem(X, y, "squared", "l2", lam=1.0 / n)


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


def exponent(sizes: Sequence[int], values: Any) -> float:
    """The p of the least-squares fit values ∝ n^p."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


# --- 1. coordinate steps against products ---------------------------------------------------------


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


def epoch_seconds(problem: Problem) -> dict[str, float]:
    """The best time of an epoch by each method, measured by the loop of ``solve`` itself."""
    best = dict.fromkeys(METHODS, np.inf)
    for _ in range(max(ROUNDS, SHORT // problem.n)):
        for method in METHODS:
            history = solve(problem, method, tol=0.0, max_epochs=1 + EPOCHS).history
            # The first epoch also pays for the first weights and, once, for compiling.
            best[method] = min(best[method], np.diff(history.seconds)[1:].min())
    return best


def show_growth() -> None:
    print(f"2a. Time of an epoch on n x {WIDTH} sparse data with {ROW_ENTRIES} entries per row:")
    print("    nanoseconds per entry, and the exponents p of time ∝ n^p, of")
    print("    time / (nnz + n log2 n) ∝ n^p, and of time / time of SDCA ∝ n^p.\n")
    measured = [epoch_seconds(ridge(n)) for n in SIZES]
    sizes = np.array(SIZES)
    uniform = np.array([times["sdca"] for times in measured])
    rows = []
    for method, name in METHODS.items():
        spent = np.array([times[method] for times in measured])
        nanoseconds = 1e9 * spent / (ROW_ENTRIES * sizes)
        claim = sizes * (ROW_ENTRIES + np.log2(sizes))
        fits = [exponent(SIZES, spent / scale) for scale in (1.0, claim, uniform)]
        rows.append([name, *(f"{t:.1f}" for t in nanoseconds), *(f"{p:.2f}" for p in fits)])
    columns = [f"n={n:.0e}".replace("e+0", "e") for n in SIZES]
    table(("ns per entry", *columns, "time", "/(nnz+n log n)", "/SDCA"), rows)


def step_seconds(problem: Problem) -> float:
    """Mean time of a step that makes its weights anew, in the better of some runs."""
    best = np.inf
    for _ in range(ROUNDS):
        run = solve(problem, "adasdca", tol=0.0, max_epochs=1, max_seconds=STEP_SECONDS)
        best = min(best, run.history.seconds[-1] / run.history.updates[-1])
    return float(best)


def show_steps() -> None:
    print("2b. AdaSDCA looks at all coordinates before each step: time of a step, and the exponent")
    print(f"    of an epoch of n steps over all n and over n >= {LARGE}.\n")
    step_seconds(ridge(STEP_SIZES[0]))  # compiles
    sizes = np.array(STEP_SIZES)
    spent = np.array([step_seconds(ridge(n)) for n in STEP_SIZES])
    large = sizes >= LARGE
    fits = [exponent(sizes, sizes * spent), exponent(sizes[large], (sizes * spent)[large])]
    columns = [f"n={n:.0e}".replace("e+0", "e") for n in STEP_SIZES]
    row = ["AdaSDCA", *(f"{1e3 * t:.2f}" for t in spent), *(f"{p:.2f}" for p in fits)]
    table(("ms per step", *columns, "epoch, all n", "large n"), [row])


# --- 3. bytes -------------------------------------------------------------------------------------


def show_bytes(results: dict[str, Comparison]) -> None:
    print("3.  Bytes read in an epoch = passes · entries · (bytes of a value + of an index), with")
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
    with one_thread():
        show_growth()
        show_steps()
    show_bytes({name: result for name, result in (sparse | dense).items() if "Squared" in name})


if __name__ == "__main__":
    main()
