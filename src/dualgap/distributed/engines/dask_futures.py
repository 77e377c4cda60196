"""Futures of a Dask client whose workers come and go: submit, wait, and tell which were lost.

A worker that dies is the scheduler's business. One that is frozen still has its connection, so that
the scheduler waits for minutes; ``engines/dask_silent.py`` makes it forget such a worker, whose
partitions then go to others as if it had died.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
import uuid
from contextlib import suppress
from typing import Any

import cloudpickle
from distributed import KilledWorker

from dualgap.distributed.engines.dask_silent import silent_remover
from dualgap.distributed.engines.protocol import about_partition
from dualgap.distributed.tuning import TUNING

_CANCELLED = (concurrent.futures.CancelledError, asyncio.CancelledError)
_TIMED_OUT = (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)
_OPEN = ("running", "connecting")  # of clients
_PENDING = ("pending", "lost")  # of futures


class Order:
    """A function and a message for all partitions. Dask would search a tuple for tasks."""

    def __init__(self, function: Any, message: Any) -> None:
        self.function, self.message = function, message


class Futures:
    """A future for each partition, which must finish within ``limit`` seconds."""

    def __init__(self, client: Any, limit: float) -> None:
        if client.status not in _OPEN:
            raise ValueError(f"client is {client.status}: connect a new one")
        if client.asynchronous:
            raise ValueError("client must not be asynchronous: use Client(address)")
        self.client, self.limit = client, limit
        self.patience = min(TUNING.patience_seconds, limit / 4.0)
        self._run, self._turn = uuid.uuid4().hex[:8], 0

    # --- submitting -------------------------------------------------------------------------------

    def _key(self, label: str, k: int) -> str:
        """Dask's dashboard shows what stands before the first dash."""
        self._turn += 1
        return f"dualgap:{label.strip('_')}-{self._run}-{k}-{self._turn}"

    def one(
        self, label: str, function: Any, k: int, home: str, *args: Any, retries: int = 0
    ) -> Any:
        """Run on the home of partition k, or on another worker if that one is gone."""
        self._refuse_closed()
        where = {"workers": [home], "allow_other_workers": True}
        key = self._key(label, k)
        return self.client.submit(function, *args, key=key, retries=retries, **where)

    def each(self, label: str, function: Any, *args: list[Any], **options: Any) -> list[Any]:
        """Run for each partition where its data is, with one message to the scheduler."""
        self._refuse_closed()
        keys = [self._key(label, k) for k in range(len(args[0]))]
        return list(self.client.map(function, *args, key=keys, **options))

    def shared(self, order: Order) -> Any:
        """The order itself if it is short, else a future that workers fetch from each other."""
        if len(cloudpickle.dumps(order)) <= TUNING.inline_bytes:
            return order
        return self.data(order)[0]

    def data(self, *many: Any) -> list[Any]:
        """Futures of data in this process, which goes to some worker."""
        deadline = time.monotonic() + self.limit
        while True:
            self._refuse_closed()
            try:
                return list(self._within_limit(self.client.scatter, list(many), hash=False))
            except (OSError, KeyError, *_TIMED_OUT) as error:  # a worker was lost meanwhile
                if time.monotonic() > deadline:
                    raise (
                        self._unresponsive() if self.workers() else self._no_workers()
                    ) from error
                time.sleep(TUNING.poll_seconds)

    # --- waiting ----------------------------------------------------------------------------------

    def settle(self, futures: list[Any]) -> list[int]:
        """Wait until each future is finished or lost; returns the partitions of the lost ones."""
        began = asked = time.monotonic()
        while left := [future for future in futures if future.status in _PENDING]:
            now = time.monotonic()
            if now > began + self.limit:
                raise self._timed_out(futures)
            if now > asked + self.patience:
                self._remove_silent()
                asked = now
            # The future asks its own client; ``distributed.wait`` would ask the one started last.
            with suppress(*_TIMED_OUT, *_CANCELLED):
                left[0].exception(timeout=TUNING.poll_seconds)
            self._refuse_closed()
        for k, future in enumerate(futures):
            if future.status == "error":
                error = future.exception()
                if not isinstance(error, KilledWorker):
                    raise about_partition(k, error) from error
        return [k for k, future in enumerate(futures) if future.status != "finished"]

    def gather(self, futures: list[Any]) -> list[Any] | None:
        """The results; None if some were lost on the way."""
        try:
            return list(self._within_limit(self.client.gather, futures))
        except (*_CANCELLED, *_TIMED_OUT, KilledWorker, OSError):
            self._refuse_closed()
            return None

    def _within_limit(self, call: Any, *args: Any, **options: Any) -> Any:
        """Call a method of the client, which by itself would wait for ever for a frozen worker."""
        deadline = time.monotonic() + self.limit
        result = self._begin(call, *args, **options)
        while True:
            try:
                return result.result(timeout=self.patience)
            except _TIMED_OUT:
                if result.done() or self._remove_silent() or time.monotonic() > deadline:
                    result.cancel()
                    raise

    def _begin(self, call: Any, *args: Any, **options: Any) -> Any:
        """A future of this process for what the client will return."""

        async def awaited() -> Any:
            return await call(*args, asynchronous=True, **options)

        loop = self.client.loop.asyncio_loop
        return asyncio.run_coroutine_threadsafe(awaited(), loop)

    def _remove_silent(self) -> list[str]:
        """Frozen workers, which the scheduler has now forgotten."""
        self._refuse_closed()
        try:
            call = self._begin(self.client.run_on_scheduler, silent_remover(), self.patience)
            return list(call.result(timeout=self.limit))
        except (OSError, *_TIMED_OUT):  # another call will tell that the scheduler is gone
            return []

    def workers(self) -> Any:
        """The workers at present; empty or None if there are none."""
        self._refuse_closed()
        try:
            return self.client.nthreads()
        except OSError:
            return None

    def some_workers(self) -> list[str]:
        """The workers, as soon as there is at least one."""
        deadline = time.monotonic() + self.limit
        while not (workers := self.workers()):
            if time.monotonic() > deadline:
                raise self._no_workers()
            time.sleep(TUNING.poll_seconds)
        return sorted(workers)

    # --- giving up --------------------------------------------------------------------------------

    def _refuse_closed(self) -> None:
        if self.client.status not in _OPEN:
            raise RuntimeError(
                f"client is {self.client.status}, or its scheduler is gone; with checkpoint=FOLDER "
                "a new client can resume the run from its last checkpoint"
            )

    def _timed_out(self, futures: list[Any]) -> Exception:
        if not self.workers():
            return self._no_workers()
        pending = [k for k, future in enumerate(futures) if future.status in _PENDING]
        return RuntimeError(
            f"partitions {', '.join(map(str, pending))} did not answer within round_seconds="
            f"{self.limit:g}: raise it, or give each round less work"
        )

    def _no_workers(self) -> Exception:
        return RuntimeError(
            f"no worker is left, and none has joined within round_seconds={self.limit:g}; with "
            "checkpoint=FOLDER the run can be resumed"
        )

    def _unresponsive(self) -> Exception:
        return RuntimeError(
            f"no worker accepted data within round_seconds={self.limit:g}: workers may hang or be "
            "out of memory"
        )
