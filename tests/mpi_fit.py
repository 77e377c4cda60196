"""What each process of an MPI job runs: a fit, of which every process writes the result."""

import sys
from pathlib import Path

import numpy as np
from cluster_data import blocks, problem, sparse_data
from mpi4py import MPI

from dualgap.distributed import Partitioned, solve

folder, scheme, work = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
comm = MPI.COMM_WORLD
if scheme == "bad":
    X, y = sparse_data()
    parts = blocks(X, y, 4)
    parts[1] = (parts[1][0] * np.nan, parts[1][1])
    try:
        solve(Partitioned(parts), comm)
    except Exception as error:
        (folder / f"{comm.Get_rank()}.txt").write_text(f"{type(error).__name__}: {error}")
else:
    solution = solve(problem(), comm, scheme, partitions=5, work=work, tol=1e-3)
    np.savez(folder / f"{comm.Get_rank()}.npz", coef=solution.coef, dual=solution.dual)
