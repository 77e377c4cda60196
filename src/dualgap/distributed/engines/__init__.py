"""Engines hold the partitions and run tasks on them, as ``protocol.py`` says.

Dask and MPI are imported only if a client of theirs is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.distributed.data.sources import Sources
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.engines.threads import ThreadEngine
from dualgap.linalg.validate import whole


def run_with_engine(
    client: Any, sources: Sources, round_seconds: float, drive: Callable[[Engine], Any]
) -> Any:
    """Start the engine that the client stands for, and let ``drive`` use it."""
    if _is_from(client, "mpi4py"):
        from dualgap.distributed.engines.mpi import MpiEngine

        return MpiEngine(client, sources, round_seconds).drive(drive)
    engine = _engine(client, sources, round_seconds)
    try:
        return drive(engine)
    finally:
        engine.close()


def _engine(client: Any, sources: Sources, round_seconds: float) -> Engine:
    if client is None:
        return ThreadEngine(sources)
    if isinstance(client, int):
        return ThreadEngine(sources, whole(client, "client", 1))
    if _is_from(client, "distributed") and hasattr(client, "submit"):  # a Client, not a cluster
        from dualgap.distributed.engines.dask import DaskEngine

        return DaskEngine(client, sources, round_seconds)
    raise ValueError(
        "client must be None, a number of threads, a dask.distributed.Client or an MPI "
        f"communicator, not {client!r}: dask.distributed.Client connects to a cluster or an address"
    )


def _is_from(client: Any, package: str) -> bool:
    return any(kind.__module__.split(".")[0] == package for kind in type(client).__mro__)
