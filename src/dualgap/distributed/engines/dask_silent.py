"""Workers of a Dask cluster that are silent: frozen, or cut off from the network."""

from __future__ import annotations

import time
from typing import Any

# Dask waits for as many heartbeats before it gives a worker up, but for no less than five minutes.
_HEARTBEATS = 10.0


def silent_remover() -> Any:
    """A function that runs on the scheduler: it makes it forget workers that have not been heard of
    for some seconds, and returns their addresses.

    A worker that computes is not silent: another of its threads sends heartbeats. If all workers
    are silent, waiting for them is all that can be done.
    """

    # Made here so that it travels by value: schedulers need not have this package.
    async def remove_silent(patience: float, dask_scheduler: Any) -> list[str]:
        from distributed.scheduler import heartbeat_interval

        workers = dask_scheduler.workers
        patience = max(patience, _HEARTBEATS * heartbeat_interval(len(workers)))
        latest = time.time() - patience
        silent = [address for address, worker in workers.items() if worker.last_seen < latest]
        if len(silent) == len(workers):
            return []
        for address in silent:
            await dask_scheduler.remove_worker(address, stimulus_id=f"silent-{time.time()}")
        return silent

    return remove_silent
