"""What each process of an MPI job runs: a fit, whose result every process writes to FOLDER.

    mpi_fit.py FOLDER SCHEME WORK [EVERY [ROUND]]

writes a checkpoint every EVERY rounds; rank 1 is killed in the middle of round ROUND.
"""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from cluster_data import blocks, problem, sparse_data
from mpi4py import MPI

from dualgap.distributed import Partitioned, solve, tasks

folder, scheme, work = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
comm = MPI.COMM_WORLD


def late(*args):
    """Replaces a round."""
    time.sleep(5.0)
    raise ValueError("this comes too late")


def dying(*args):
    """Replaces a round."""
    if args[-1].number == int(sys.argv[5]):
        os.kill(os.getpid(), signal.SIGKILL)
    return advance(*args)


def failing():
    """Write the error that each process gets from a run that must fail."""
    X, y = sparse_data()
    parts, how = blocks(X, y, 4), {}
    if scheme == "bad":
        parts[1] = (parts[1][0] * np.nan, parts[1][1])
    else:
        solve(Partitioned(parts), comm, work=1, tol=0.1)  # compiles, without a limit
        how["round_seconds"] = 2.0
        if comm.Get_rank() == 1:
            tasks.advance = late
    try:
        solve(Partitioned(parts), comm, work=1, **how)
    except Exception as error:
        (folder / f"{comm.Get_rank()}.txt").write_text(f"{type(error).__name__}: {error}")


if scheme in ("bad", "late"):
    failing()
else:
    advance, checks, how = tasks.advance, [], {}
    if len(sys.argv) > 4:
        how = {
            "checkpoint": folder,
            "checkpoint_every": int(sys.argv[4]),
            "callback": checks.append,
        }
    if len(sys.argv) > 5 and comm.Get_rank() == 1:
        tasks.advance = dying
    solution = solve(problem(), comm, scheme, partitions=5, work=work, tol=1e-3, **how)
    found = {"coef": solution.coef, "dual": solution.dual, "checks": len(checks)}
    np.savez(folder / f"{comm.Get_rank()}.npz", **found)
