"""Fits on partitioned data, by threads, a Dask cluster or an MPI job; each with a certificate.

``data/``       partitions: where they come from, and each as a problem of its own
``engines/``    what holds them and runs tasks on them: threads, Dask or MPI
``schemes/``    what they do in a round
``tasks.py``    what else they do; ``messages.py``: what travels
``driver/``     rounds, proofs and checkpoints, from sums over partitions alone
"""

from dualgap.distributed.data.partitioned import Partitioned
from dualgap.distributed.data.readers import from_dask, from_dataframe, from_libsvm
from dualgap.distributed.estimators import fit
from dualgap.distributed.solve import solve

__all__ = ["Partitioned", "fit", "from_dask", "from_dataframe", "from_libsvm", "solve"]
