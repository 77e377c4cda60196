"""What a fresh process costs: its first fit, its import, and its memory.

``python -m benchmarks.users.fresh WHAT LIBRARY ARGUMENT`` is that process; it prints one number, or
several. The functions below start it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPEATS = 5
SECONDS = 240.0
MB = 1e6
FIRST_FITS = (
    ("LogisticRegression", "iris"), ("LogisticRegression", "breast_cancer,scaled"),
    ("LinearSVC", "iris"), ("LinearSVC", "breast_cancer,scaled"), ("LinearSVR", "diabetes"),
    ("Ridge", "diabetes"), ("Lasso", "diabetes"), ("ElasticNet", "diabetes"),
    ("QuantileRegressor", "diabetes"), ("HuberRegression", "diabetes"),
    ("PoissonRegressor", "diabetes"), ("RidgeCV", "diabetes"), ("LassoCV", "diabetes"),
    ("LogisticRegressionCV", "breast_cancer,scaled"),
)  # fmt: skip
MEMORY = (
    ("dualgap", ""),
    ("sklearn", "lbfgs"),
    ("sklearn", "newton-cholesky"),
)
COVTYPE = "covtype.binary.scale01"


def entries(only: str, session: str) -> Any:
    """Names and entries, one after the other. ``only`` selects as for cases."""
    words = [word.strip() for word in only.split(";") if word.strip()]

    def wanted(name: str) -> bool:
        return not words or any(word in name for word in words)

    common = {"session": session, "reported": True, "peers": {}}
    for kind, data in FIRST_FITS:
        name = f"first use:{data}:{kind}, empty cache"
        if wanted(name):
            with tempfile.TemporaryDirectory() as folder:
                ours = _timed("first", "dualgap", data, kind, NUMBA_CACHE_DIR=folder)
            yield name, {**common, "group": "first use", "ours": ours}
    name = "first use:iris:import and LogisticRegression"
    if wanted(name):
        ours, theirs = (_starts(library) for library in ("dualgap", "sklearn"))
        yield name, {**common, "group": "first use", "ours": ours, "peers": {"sklearn": theirs}}
    for storage in ("dense", "sparse"):
        name = f"memory:covtype.binary:LogisticRegression, {storage}"
        if wanted(name):
            rows = {f"{lib} {how}".strip(): _memory(lib, storage, how) for lib, how in MEMORY}
            yield name, {**common, "group": "memory", "ours": {"runs": []}, "memory": rows}


def _timed(*arguments: str, **environment: str) -> dict[str, Any]:
    """A run of a fresh process that prints its seconds, of the clock and of the processor."""
    try:
        seconds, processor = _start(*arguments, **environment)
    except subprocess.TimeoutExpired:
        return {"status": f"stopped after {SECONDS:.0f} s", "stopped": SECONDS, "runs": []}
    times = {"seconds": float(f"{seconds:.4g}"), "processor": float(f"{processor:.4g}")}
    return {"status": "done", "runs": [{"setting": "defaults", **times}]}


def _start(*arguments: str, **environment: str) -> list[float]:
    """The numbers that a fresh process prints."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.users.fresh", *arguments]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=SECONDS,
        env={**os.environ, **environment},
    )
    return [float(word) for word in done.stdout.split()]


def _starts(library: str) -> dict[str, Any]:
    """Of a process with kernels from the cache, import included; the first one fills the cache."""
    records = [_timed("start", library, "iris", "") for _ in range(REPEATS + 1)][1:]
    return {"status": "done", "runs": [run for record in records for run in record["runs"]]}


def _memory(library: str, storage: str, solver: str) -> dict[str, float]:
    from benchmarks.users import data

    base, peak, size = _start("memory", library, f"{storage}:{data.kept(COVTYPE)}", solver)
    return {"base": round(base), "peak": round(peak), "X": round(size)}


# --- in the fresh process -------------------------------------------------------------------------


def _model(library: str, kind: str, **params: Any) -> Any:
    if library == "dualgap":
        import dualgap

        return getattr(dualgap, kind)(**params)
    import sklearn.linear_model

    return getattr(sklearn.linear_model, kind)(**params)


def _first(library: str, name: str, kind: str) -> None:
    from benchmarks.users import data

    X, y = data.load(name)
    model = _model(library, kind)
    began, worked = time.perf_counter(), time.process_time()
    model.fit(X, y)
    print(time.perf_counter() - began, time.process_time() - worked)


def _from_start(library: str) -> None:
    """iris is made here, since loading it imports half of scikit-learn."""
    began, worked = time.perf_counter(), 0.0  # of the process from its start
    import numpy as np

    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 50)
    X = rng.standard_normal((150, 4)) + y[:, None]
    _model(library, "LogisticRegression").fit(X, y)
    print(time.perf_counter() - began, time.process_time() - worked)


def _peak(library: str, name: str, solver: str) -> None:
    """Megabytes before a fit, at its peak, and of X; the first fit is of 1,000 rows."""
    from benchmarks.users import data

    storage, _, copy = name.partition(":")
    X, y = data.read(Path(copy))
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    if storage == "dense":
        X = X.toarray()
        size = X.nbytes
    params = {"solver": solver} if solver else {}
    _model(library, "LogisticRegression", **params).fit(X[:1000], y[:1000])
    base = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    _model(library, "LogisticRegression", **params).fit(X, y)
    print(base / MB, _resident("VmHWM") / MB, size / MB)


def _resident(key: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return 1024.0 * float(line.split()[1])
    raise RuntimeError(f"the system does not tell {key}")


def main() -> None:
    what, library, name, argument = sys.argv[1:]
    if what == "first":
        _first(library, name, argument)
    elif what == "start":
        _from_start(library)
    else:
        _peak(library, name, argument)


if __name__ == "__main__":
    main()
