"""What a fresh process waits for: importing, and its first fit with kernels from the cache.

Printed by ``make bench-kernels``. Each figure is the best of several processes: a busy machine
only ever makes them slower.
"""

from __future__ import annotations

import subprocess
import sys

REPEATS = 5

BASE = "import scipy.sparse, scipy.optimize"
FIT = """
import time
began = time.perf_counter()
import numpy as np, dualgap as dg
X = np.random.default_rng(0).standard_normal((200, 10))
start = time.perf_counter()
dg.solve(dg.Problem(X, np.sign(X[:, 0]), "{loss}", "{penalty}", 0.01))
print(time.perf_counter() - {since})
"""


def printed(code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def timed_import(statement: str) -> float:
    code = f"import time; s = time.perf_counter(); {statement}; print(time.perf_counter() - s)"
    return min(printed(code) for _ in range(REPEATS))


def main() -> None:
    base = timed_import(BASE)
    ours = timed_import(f"{BASE}; import dualgap")
    print(f"import scipy: {base:.2f} s; dualgap adds {ours - base:.2f} s (wanted: <= 0.3)")
    for loss, penalty in (("hinge", "l2"), ("logistic", "l2"), ("squared", "l1")):
        fit, whole = (
            FIT.format(loss=loss, penalty=penalty, since=since) for since in ("start", "began")
        )
        printed(fit)  # fills the cache
        best, in_all = (min(printed(code) for _ in range(REPEATS)) for code in (fit, whole))
        print(
            f"first fit in a fresh process, {loss} and {penalty}: {best:.2f} s (wanted: < 1), "
            f"import included {in_all:.2f} s (wanted: <= 1.5)"
        )


if __name__ == "__main__":
    main()
