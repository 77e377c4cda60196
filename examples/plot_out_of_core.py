"""
Data that stay on disk
======================

Rows are written to a folder as they come, here from a generator that stands for a log or a database.
The solver then reads the folder in place. What it allocates are a few vectors, not the data.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import dualgap as dg
from dualgap.plots import ConvergenceDisplay

BLOCKS, ROWS, FEATURES, ENTRIES = 20, 4000, 20_000, 250
rng = np.random.default_rng(0)
true = rng.standard_normal(FEATURES)
place = tempfile.TemporaryDirectory()
folder = Path(place.name, "data")

with dg.datasets.CSRWriter(folder, dtype=np.float32) as writer:
    for _ in range(BLOCKS):
        columns = rng.integers(0, FEATURES, (ROWS, ENTRIES))
        values = rng.standard_normal((ROWS, ENTRIES)).astype(np.float32) / np.sqrt(ENTRIES)
        ends = np.arange(0, ROWS * ENTRIES + 1, ENTRIES)
        X = sp.csr_array((values.ravel(), columns.ravel(), ends), shape=(ROWS, FEATURES))
        X.sum_duplicates()
        writer.append(X, np.sign(X @ true + 0.3 * rng.standard_normal(ROWS)))
    writer.finish(FEATURES)

data = dg.datasets.open_folder(folder)
stored = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
tracemalloc.start()  # counts arrays that are allocated; memory maps are not
problem = dg.Problem(data.X, data.y, "logistic", "l2", lam=1e-5)
solution = dg.solve(problem, tol=1e-5, checkpoint=Path(place.name, "run"))  # goes on if broken off
peak = tracemalloc.get_traced_memory()[1] / 1e6
tracemalloc.stop()
print(f"{problem.n:,} rows, {stored:.0f} MB on disk, {peak:.0f} MB allocated at the peak")
print(solution.method, solution, sep="\n")

_, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
ConvergenceDisplay({"gap": solution}).plot(ax=left)
bars = right.barh(["allocated\nat the peak", "on disk"], [peak, stored], color=["#D55E00", "#0072B2"])
right.bar_label(bars, fmt="%.0f MB", padding=4)
right.set(xlabel="MB", xlim=(0, 1.2 * stored))
plt.show()
del data, problem
place.cleanup()
