"""How much slower is ``method="auto"`` than the best suitable method? Run: make bench-auto

For random points of a grid of generated problems this times ``auto`` and every practical method
that accepts the problem, in one thread, and reports regret = time(auto)/time(best). Times are
seconds of the CPU, so other work on the machine matters less. The goal is a median of at most 1.1
and at most 2 anywhere.
A method that takes several times as long as the best so far is cut off. The points come in random
order, so that those that a run of ten minutes reaches are a fair sample; ``--first`` starts
elsewhere, and ``--seed`` draws other data, of shapes between those of the grid: what the constants
of the cost model were not fitted to.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import dualgap as dg
from dualgap.methods.registry import METHODS

CANDIDATES = ("small-newton", "newton", "sweeps", "working-set", "prox-point", "cd-gap-decay")
# n, p, entries a row; as many entries as features make a dense array.
SHAPES = (
    (500, 10, 10),
    (300, 300, 300),
    (1_500, 1_000, 1_000),
    (300, 3_000, 90),
    (20_000, 20, 20),
    (4_000, 400, 400),
    (400, 2_000, 2_000),
    (60_000, 120, 12),
    (40_000, 300, 12),
    (3_000, 500, 40),
    (10_000, 1_500, 60),
    (3_000, 20_000, 60),
    (15_000, 30_000, 40),
)
LOSSES = (
    "logistic",
    "hinge",
    "squared-hinge",
    "epsilon-insensitive",
    "squared",
    "huber",
    "poisson",
)
KINDS = ("scaled", "unscaled", "correlated", "far")
STRENGTHS = (1e-2, 1.0, 1e2)  # C: lam is 1/(C n)
PENALTIES = ("l2", "l1")
CUT_OFF = 4.0  # times the best so far ...
LEAST_SECONDS = 0.1  # ... but at least so long


class Case(NamedTuple):
    """One problem of the grid."""

    shape: tuple[int, int, int]
    loss: str
    penalty: str
    strength: float
    intercept: bool
    kind: str
    dtype: str

    def problem(self, X: Any, score: Any) -> dg.Problem:
        n = X.shape[0]
        loss = dg.losses.REGISTRY[self.loss]
        y = np.where(score > np.median(score), 1, -1) if _is_binary(loss) else score
        if self.loss == "poisson":
            y = np.random.default_rng(0).poisson(np.exp(np.clip(score / np.std(score), -3.0, 3.0)))
        return dg.Problem(
            X, y, self.loss, self.penalty, 1.0 / (self.strength * n), intercept=self.intercept
        )


def _is_binary(loss: Any) -> bool:
    return bool(loss.targets == "binary")


def cases(seed: int = 0) -> list[Case]:
    """The points of the grid in random order: those at any distance are a fair sample of it.

    A third is without an intercept or under L1, an eighth float32. A seed draws other shapes.
    """
    rng = np.random.default_rng(seed)
    grid = list(itertools.product(SHAPES, LOSSES, STRENGTHS, KINDS))
    found = []
    for place in rng.permutation(len(grid)):
        shape, loss, strength, kind = grid[place]
        shape = drawn_shape(rng) if seed else shape
        penalty = "l1" if rng.random() < 1 / 3 else "l2"
        dtype = "float32" if rng.random() < 1 / 8 else "float64"
        found.append(Case(shape, loss, penalty, strength, rng.random() < 2 / 3, kind, dtype))
    return found


def drawn_shape(rng: np.random.Generator) -> tuple[int, int, int]:
    """Dense where that has at most four million numbers, in half of the cases."""
    n, p = (int(10.0 ** rng.uniform(*range)) for range in ((2.3, 4.8), (1.0, 4.3)))
    dense = n * p <= 4_000_000 and rng.random() < 0.5
    return n, p, p if dense else min(int(10.0 ** rng.uniform(0.7, 2.0)), -(-p // 4))


def data(shape: tuple[int, int, int], kind: str, dtype: str, seed: int = 0) -> tuple[Any, Any]:
    """X and noisy scores. Sparse columns are as frequent as words are, and stay as they are unless
    they are ``unscaled``: by up to a factor of 100."""
    n, p, entries = shape
    rng = np.random.default_rng([n + p, seed] if seed else n + p)
    if entries == p:
        X = rng.standard_normal((n, p)) @ np.diag(1.0 / np.sqrt(1.0 + np.arange(p)))
        if kind == "correlated":
            X += rng.standard_normal((n, 3)) @ rng.standard_normal((3, p)) / np.sqrt(p)
        if kind == "far":
            X += rng.uniform(3.0, 30.0, p) / np.sqrt(p)
        X /= np.sqrt(np.mean(np.sum(X * X, axis=1)))
    else:
        chances = 1.0 / (1.0 + np.arange(p))
        places = rng.choice(p, size=(n, 2 * entries), p=chances / chances.sum())
        rows = np.repeat(np.arange(n), 2 * entries)
        X = sp.csr_array((np.ones(rows.size), (rows, places.ravel())), shape=(n, p))
        X.sum_duplicates()
        X.data = np.log1p(X.data) / np.sqrt(entries)
    if kind == "unscaled":
        X = X * 10.0 ** rng.uniform(-2.0, 2.0, p)
        X = sp.csr_array(X) if sp.issparse(X) else X
    X = X.astype(dtype)
    score = X @ (rng.standard_normal(p) * (rng.random(p) < 0.5))
    return X, score + 0.5 * np.std(score) * rng.standard_normal(n) + 0.3 * np.std(score)


def seconds(problem: Any, method: str, limit: float) -> tuple[float, bool, str]:
    """CPU seconds of a fit, whether it arrived, and what it was."""
    began = time.process_time()
    solution = dg.solve(problem, method, max_seconds=limit, max_epochs=100_000, n_threads=1)
    return time.process_time() - began, solution.converged, solution.method


def measure(case: Case, X: Any, score: Any, limit: float, repeats: int) -> dict[str, Any]:
    """The times of all methods on one case."""
    problem = case.problem(X, score)
    names = [name for name in CANDIDATES if METHODS[name].refusal(problem) is None]
    times: dict[str, float] = {}
    words = ""
    for name in ["auto", *names]:
        best = min((t for t in times.values()), default=limit)
        allowed = min(limit, max(CUT_OFF * best, LEAST_SECONDS)) if times else limit
        seconds(case.problem(X, score), name, min(allowed, 0.02))  # compiles most kernels
        runs = []
        for turn in range(repeats):
            spent, arrived, said = seconds(case.problem(X, score), name, allowed)
            runs.append(spent if arrived else np.inf)
            if turn and min(runs) > 0.2:  # the first may have compiled the rest
                break
        if min(runs) < np.inf:
            times[name] = min(runs)
        if name == "auto":
            words = said.split(",")[0].replace("auto (", "")
    return {"case": case._asdict(), "chosen": words, "times": times}


def regret(row: dict[str, Any]) -> float:
    """Time of auto over that of the best method; the method it chose counts with the better of its
    two measurements, so that noise alone is no regret."""
    times = row["times"]
    if not times:
        return 1.0
    own = min(times.get("auto", np.inf), times.get(row["chosen"], np.inf))
    return float(own / min(times.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=2.0, help="seconds for each method")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=10.0, help="no further case after these")
    parser.add_argument("--first", type=int, default=0, help="leave out so many cases")
    parser.add_argument("--seed", type=int, default=0, help="draw other data")
    parser.add_argument("--json", help="a file for all times")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    ends = time.monotonic() + 60.0 * given.minutes
    for case in cases(given.seed)[given.first :]:
        if time.monotonic() > ends:
            break
        X, score = data(case.shape, case.kind, case.dtype, given.seed)
        row = measure(case, X, score, given.limit, given.repeats)
        rows.append(row)
        cells = " ".join(f"{name} {1e3 * t:.1f}" for name, t in row["times"].items())
        print(f"{regret(row):5.2f}  {row['chosen']:12} {tuple(case)}  ms: {cells}", flush=True)
        if given.json:
            with open(given.json, "w") as file:
                json.dump(rows, file)
    regrets = np.array([regret(row) for row in rows])
    print(
        f"{len(rows)} cases: median {np.median(regrets):.2f}, "
        f"90 % {np.quantile(regrets, 0.9):.2f}, worst {regrets.max():.2f}, "
        f"above 2: {np.sum(regrets > 2.0)}"
    )


if __name__ == "__main__":
    main()
