"""Data that stay on disk: how much anonymous memory a conversion and a solution take.

    python -m benchmarks.out_of_core [--folder FOLDER] [--gigabytes 6] [--text 2]

Two matrices are made: one of so many gigabytes, block by block, straight into a folder of arrays;
and one as LIBSVM text that ``convert`` turns into such a folder, of about as many as ``--text``
says. Both are solved to a certified gap of 1e-3·P(0) by ``auto``. Each step is a process of its
own, whose RssAnon (/proc/self/status) is read every 5 ms: pages of files do not count, which the
system takes back when others need room. The last line has all that was measured, as JSON.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.common import table
from dualgap import Problem, datasets, solve

PER_ROW, WIDE = 500, 200  # entries of a row, one in each of as many stretches of columns this wide
ROWS = 4000  # of a block
LEVELS = 9  # different values of text, so that it can be put together fast
TOL, LAM = 1e-3, 1e-5


def anonymous() -> int:
    """Bytes of this process that are no pages of files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    raise OSError("this needs Linux, whose /proc/self/status has RssAnon")


class Peak:
    """The largest RssAnon while it is entered."""

    def __enter__(self) -> Peak:
        self.bytes, self._over = anonymous(), threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.005):
            self.bytes = max(self.bytes, anonymous())

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._watch.join()
        self.bytes = max(self.bytes, anonymous())


def blocks(rows: int, seed: int) -> Any:
    """Rows of norm about 1 with noisy labels: columns, values in (0, 1], labels."""
    rng = np.random.default_rng(seed)
    goal = rng.standard_normal(PER_ROW * WIDE)
    first = WIDE * np.arange(PER_ROW)
    for start in range(0, rows, ROWS):
        size = min(ROWS, rows - start)
        columns = first + rng.integers(0, WIDE, (size, PER_ROW))
        levels = rng.integers(1, LEVELS + 1, (size, PER_ROW))
        scores = np.sum(goal[columns] * levels, axis=1) / LEVELS
        scores += 5.0 * rng.standard_normal(size)
        yield columns, levels, np.where(scores > 0.0, 1.0, -1.0)


def generate(folder: Path, rows: int) -> None:
    """Straight to the folder."""
    with datasets.CSRWriter(folder, np.float32) as out:
        for columns, levels, y in blocks(rows, 0):
            size = len(y)
            values = levels.ravel() / (LEVELS * np.sqrt(PER_ROW))
            bounds = PER_ROW * np.arange(size + 1)
            shape = size, PER_ROW * WIDE
            out.append(sp.csr_array((values, columns.ravel(), bounds), shape=shape), y)


def write_text(path: Path, rows: int) -> None:
    """The same kind of rows in LIBSVM format."""
    values = [f"{level / (LEVELS * np.sqrt(PER_ROW)):.6f}" for level in range(1, LEVELS + 1)]
    words = [f"{j + 1}:{value}" for j in range(PER_ROW * WIDE) for value in values]
    known = np.array(words, dtype=object)
    with open(path, "w") as file:
        for columns, levels, y in blocks(rows, 1):
            of_rows = known[columns * LEVELS + levels - 1].tolist()
            file.writelines(f"{t:g} {' '.join(row)}\n" for t, row in zip(y, of_rows))


def convert(source: Path, folder: Path) -> dict[str, Any]:
    began = time.perf_counter()
    with Peak() as peak:
        datasets.convert(source, folder)
    return {"convert_seconds": time.perf_counter() - began, "convert_peak": peak.bytes}


def fit(folder: Path) -> dict[str, Any]:
    began = time.perf_counter()
    with Peak() as peak:
        start = anonymous()
        data = datasets.open_folder(folder)
        problem = Problem(data.X, data.y, "hinge", "l2", LAM)
        solution = solve(problem, tol=TOL)
    return {
        "rows": problem.n,
        "entries": int(data.X.nnz),
        "solve_seconds": time.perf_counter() - began,
        "solve_peak": peak.bytes,
        "solve_start": start,
        "relative_gap": solution.certificate.relative_gap,
        "passes": solution.passes,
        "method": solution.method.split(",")[0] + ")",
    }


def alone(action: Any, *args: Any) -> Any:
    """The result of a step in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(action, args)


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where there is room; by default a new one")
    parser.add_argument("--gigabytes", type=float, default=6.0)
    parser.add_argument("--text", type=float, default=3.0, help="gigabytes after conversion")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="out-of-core-", dir=given.folder))
    measured: dict[str, dict[str, Any]] = {}
    try:
        alone(generate, home / "small", 200)  # so that kernels are compiled
        alone(fit, home / "small")
        rows = int(given.gigabytes * 1e9 / (8 * PER_ROW))
        alone(generate, home / "generated", rows)
        measured["generated"] = {"bytes": size_of(home / "generated")}
        measured["generated"] |= alone(fit, home / "generated")
        shutil.rmtree(home / "generated")
        alone(write_text, home / "text.svm", int(given.text * 1e9 / (12 * PER_ROW)))
        text = (home / "text.svm").stat().st_size
        measured["converted"] = {"text": text, **alone(convert, home / "text.svm", home / "text")}
        (home / "text.svm").unlink()
        measured["converted"] |= {"bytes": size_of(home / "text"), **alone(fit, home / "text")}
    finally:
        shutil.rmtree(home)
    for found in measured.values():
        found["share"] = found["solve_peak"] / found["bytes"]
    names = list(dict.fromkeys(name for found in measured.values() for name in found))
    cells = [[shown(found.get(name)) for found in measured.values()] for name in names]
    table(["", *measured], [[name, *row] for name, row in zip(names, cells)])
    print(json.dumps(measured))


def shown(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, (int, float)) else value


if __name__ == "__main__":
    main()
