"""Seconds of such rounds in an MPI job: ``mpiexec -n 2 python -m benchmarks.cluster.mpi``."""

from __future__ import annotations

from mpi4py import MPI

from benchmarks.cluster.__main__ import timed
from benchmarks.cluster.data import problem
from benchmarks.cluster.table import table

ROUNDS = (("cocoa+", 1), ("cocoa+", 4), ("quartz", 128))


def main() -> None:
    comm = MPI.COMM_WORLD
    one, lines = problem(even=False), []
    for scheme, work in ROUNDS:
        seconds, local = timed(one, comm, scheme, 8, work)
        lines.append([scheme, str(work), 1e3 * seconds, 1e3 * local])
    if comm.Get_rank() == 0:
        table(["scheme, 8 partitions", "local epochs or τ", "ms a round", "local ms"], lines)


if __name__ == "__main__":
    main()
