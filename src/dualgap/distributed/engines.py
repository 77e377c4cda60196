"""Which engine a client stands for. Engines are imported when one of theirs is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.distributed.crew import Crew, ThreadCrew
from dualgap.distributed.sources import Sources


def enlisted(
    client: Any, sources: Sources, round_seconds: float, drive: Callable[[Crew], Any]
) -> Any:
    """Let a crew of the client's workers hold the partitions while ``drive`` runs."""
    crew = _crew(client, sources, round_seconds)
    try:
        return drive(crew)
    finally:
        crew.close()


def _crew(client: Any, sources: Sources, round_seconds: float) -> Crew:
    if client is None or (isinstance(client, int) and not isinstance(client, bool)):
        return ThreadCrew(sources, client)
    raise ValueError(
        "client must be None, a number of threads, a dask.distributed.Client or an MPI "
        f"communicator, not {client!r}"
    )
