"""Which engine a client stands for. Engines are imported when one of theirs is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.distributed.engine import Crew, ThreadCrew
from dualgap.distributed.sources import Sources
from dualgap.linalg.validate import whole


def enlisted(
    client: Any, sources: Sources, round_seconds: float, drive: Callable[[Crew], Any]
) -> Any:
    """Let a crew of the client's workers hold the partitions while ``drive`` runs."""
    if _is_of(client, "mpi4py"):
        from dualgap.distributed.mpi_engine import MpiCrew

        return MpiCrew(client, sources, round_seconds).drive(drive)
    crew = _crew(client, sources, round_seconds)
    try:
        return drive(crew)
    finally:
        crew.close()


def _crew(client: Any, sources: Sources, round_seconds: float) -> Crew:
    if client is None:
        return ThreadCrew(sources)
    if isinstance(client, int):
        return ThreadCrew(sources, whole(client, "client", 1))
    if _is_of(client, "distributed") and hasattr(client, "submit"):  # a cluster has not
        from dualgap.distributed.dask_engine import DaskCrew

        return DaskCrew(client, sources, round_seconds)
    raise ValueError(
        "client must be None, a number of threads, a dask.distributed.Client or an MPI "
        f"communicator, not {client!r}: dask.distributed.Client connects to a cluster or an address"
    )


def _is_of(client: Any, package: str) -> bool:
    return any(kind.__module__.split(".")[0] == package for kind in type(client).__mro__)
