"""Fits on data in parts, by threads, a Dask cluster or an MPI job; each with a certificate."""

from dualgap.distributed.estimating import fit
from dualgap.distributed.partitioned import Partitioned
from dualgap.distributed.readers import from_dask, from_dataframe, from_libsvm
from dualgap.distributed.solve import solve

__all__ = ["Partitioned", "fit", "from_dask", "from_dataframe", "from_libsvm", "solve"]
