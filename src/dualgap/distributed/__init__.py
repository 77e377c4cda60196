"""Fits on data in parts, by threads, a Dask cluster or an MPI job; each with a certificate."""

from dualgap.distributed.partitioned import Partitioned
from dualgap.distributed.solve import solve

__all__ = ["Partitioned", "solve"]
