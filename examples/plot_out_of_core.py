"""
Data that stay on disk
======================

Rows are written to a folder as they come; here a generator stands for a log or a database. The
solver then reads the folder in place. What it allocates are vectors as long as there are rows and
features, so rows that have four times as many entries do not make it allocate more.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import dualgap as dg

BLOCKS, ROWS, FEATURES = 20, 4000, 20_000
rng = np.random.default_rng(0)
true = rng.standard_normal(FEATURES)


def block(entries):
    columns = rng.integers(0, FEATURES, (ROWS, entries))
    values = rng.standard_normal((ROWS, entries)).astype(np.float32) / np.sqrt(entries)
    ends = np.arange(0, ROWS * entries + 1, entries)
    X = sp.csr_array((values.ravel(), columns.ravel(), ends), shape=(ROWS, FEATURES))
    X.sum_duplicates()
    return X, np.sign(X @ true + 0.3 * rng.standard_normal(ROWS))


def fitted(data, run=None):
    problem = dg.Problem(data.X, data.y, "logistic", "l2", lam=1e-5)
    return dg.solve(problem, tol=1e-5, checkpoint=run)  # resumes from the file if interrupted


stored, allocated = [], []
for entries in (60, 120, 240):
    with tempfile.TemporaryDirectory() as place:
        with dg.datasets.CSRWriter(f"{place}/data", dtype=np.float32) as writer:
            for _ in range(BLOCKS):
                writer.append(*block(entries))
            folder = writer.finish(FEATURES)
        data = dg.datasets.open_folder(folder)
        fitted(data)  # loads compiled code, which is not to be counted
        tracemalloc.start()  # counts arrays that are allocated; memory maps are not
        solution = fitted(data, f"{place}/run")
        allocated.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
        stored.append(sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6)
        print(f"{stored[-1]:.0f} MB on disk, {allocated[-1]:.0f} MB allocated. {solution}")

_, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(stored, stored, "s--", color="#999999", label="the data")
axes.plot(stored, allocated, "o-", color="#D55E00", label="allocated at the peak of the fit")
axes.set(xlabel="MB on disk", ylabel="MB", xlim=(0, None), ylim=(0, None))
axes.legend(frameon=False)
plt.show()
