"""How seconds and memory grow with the number of samples, on sparse data of fixed difficulty.

Printed by ``make bench-scaling``: processor seconds of the whole fit (``Problem`` and ``solve`` to
1e-4; those of all threads together, to which others on the machine add little), the exponent with
which they grow with the number of entries (wanted: <= 1.15), and the most memory that was in use
beyond X, in vectors of length n + d (wanted: <= 6). λ = 1/n, or a tenth of its largest value under
L1, keeps the difficulty the same: what a sample can change does not depend on n.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import tracemalloc
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.common import table

FEATURES, ENTRIES = 1000, 20
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
CASES = (("logistic", "l2"), ("hinge", "l2"), ("squared", "l1"))
REPEATS = 3


def data(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    # Popular features come first, as words do; a row that draws one twice has fewer entries.
    drawn = np.minimum(rng.zipf(1.3, (n, ENTRIES)) - 1, FEATURES - 1)
    indptr = np.arange(0, n * ENTRIES + 1, ENTRIES)
    X = sp.csr_array((np.ones(drawn.size), drawn.ravel(), indptr), shape=(n, FEATURES))
    X.sum_duplicates()
    X.data[:] = 1.0 / np.sqrt(ENTRIES)
    z = X @ rng.standard_normal(FEATURES)
    return X, np.sign(z + 0.5 * rng.standard_normal(n))


def fit(X: Any, y: Any, loss: str, penalty: str) -> Any:
    import dualgap as dg

    lam = 1.0 / len(y) if penalty == "l2" else 0.1 * float(np.abs(X.T @ y).max()) / len(y)
    return dg.solve(dg.Problem(X, y, loss, penalty, lam), tol=1e-4)


def one(loss: str, penalty: str, n: int) -> None:
    """In a process of its own: seconds, entries, memory in vectors, passes and the method."""
    fit(*data(1000), loss, penalty)  # kernels
    X, y = data(n)
    if penalty == "l1":
        X = sp.csc_array(X)
    best = np.inf
    for _ in range(REPEATS if n < 1_000_000 else 1):
        began = time.process_time()
        solution = fit(X, y, loss, penalty)
        best = min(best, time.process_time() - began)
    tracemalloc.start()
    fit(X, y, loss, penalty)
    peak = tracemalloc.get_traced_memory()[1] / (8.0 * sum(X.shape))
    method = solution.method.split("(")[1].split(",")[0]
    print(best, X.nnz, peak, solution.passes, method, sep="\t")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=3, help="loss, penalty and n of a single run")
    chosen = parser.parse_args().one
    if chosen:
        one(chosen[0], chosen[1], int(chosen[2]))
        return
    rows = []
    for loss, penalty in CASES:
        seconds, entries = [], []
        for n in SIZES:
            command = [sys.executable, __file__, "--one", loss, penalty, str(n)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            taken, nnz, peak, passes, method = printed.strip().split("\t")
            seconds.append(float(taken))
            entries.append(float(nnz))
            rows.append(
                [f"{loss}, {penalty}", f"{n:,}", f"{float(nnz):.1e}", f"{float(taken):.3f}",
                 f"{float(peak):.1f}", f"{float(passes):.1f}", method]
            )  # fmt: skip
        exponent = np.polyfit(np.log(entries), np.log(seconds), 1)[0]
        rows.append([f"{loss}, {penalty}", "exponent", "", f"{exponent:.2f}", "", "", ""])
    table(["problem", "n", "entries", "seconds", "vectors", "passes", "method"], rows)


if __name__ == "__main__":
    main()
