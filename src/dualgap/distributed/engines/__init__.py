"""Engines hold the partitions and run tasks on them, as ``protocol.py`` says.

Dask and MPI are imported only if a client of theirs is given.
"""

from __future__ import annotations

import sys
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
    engine = _engine(active_client() if client is None else client, sources, round_seconds)
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


def active_client() -> Any:
    """The Dask client that this process has connected last; None if there is none."""
    dask = sys.modules.get("distributed")  # whoever has a client has imported it
    if dask is None:
        return None
    try:
        return dask.default_client()
    except ValueError:
        return None


def _is_from(client: Any, package: str) -> bool:
    return any(kind.__module__.split(".")[0] == package for kind in type(client).__mro__)
