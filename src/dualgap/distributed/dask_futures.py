"""Futures of a Dask client whose workers come and go: submit, wait, and say who is lost."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
import uuid
from contextlib import suppress
from typing import Any

import cloudpickle
from distributed import KilledWorker

from dualgap.distributed.engine import about

_SHORT = 10_000  # bytes
LOOK = 0.5  # seconds between two looks at the cluster while waiting
_CANCELLED = (concurrent.futures.CancelledError, asyncio.CancelledError)
_LATE = (TimeoutError, asyncio.TimeoutError)
_OPEN = ("running", "connecting")  # of clients
_AWAITED = ("pending", "lost")  # of futures


class Order:
    """What all are told to do; not a tuple, into which Dask would look for tasks."""

    def __init__(self, task: Any, told: Any) -> None:
        self.task, self.told = task, told


class Futures:
    """A future for each partition, each within ``limit`` seconds."""

    def __init__(self, client: Any, limit: float) -> None:
        if client.status not in _OPEN:
            raise ValueError(f"client is {client.status}: connect a new one")
        if client.asynchronous:
            raise ValueError("client must not be asynchronous: use Client(address)")
        self.client, self.limit = client, limit
        self._name, self._turn = f"dualgap-{uuid.uuid4().hex[:8]}", 0

    # --- making -----------------------------------------------------------------------------------

    def _key(self, function: Any, k: int) -> str:
        self._turn += 1
        return f"{self._name}-{function.__name__.strip('_')}-{k}-{self._turn}"

    def one(self, function: Any, k: int, home: str, *args: Any) -> Any:
        """On the worker that should hold partition k, or on another one if that is gone."""
        self._refuse_closed()
        key = self._key(function, k)
        return self.client.submit(
            function, *args, key=key, workers=[home], allow_other_workers=True
        )

    def each(self, function: Any, *args: list[Any], **told: Any) -> list[Any]:
        """One for each partition, in one message, on the workers where its data is."""
        self._refuse_closed()
        keys = [self._key(function, k) for k in range(len(args[0]))]
        return list(self.client.map(function, *args, key=keys, **told))

    def shared(self, told: Any) -> Any:
        """What all are told: with the message if it is short, else from worker to worker."""
        return told if len(cloudpickle.dumps(told)) <= _SHORT else self.data(told)[0]

    def data(self, *many: Any) -> list[Any]:
        """Data on some workers, from which others fetch it."""
        deadline = time.monotonic() + self.limit
        while True:
            self._refuse_closed()
            try:
                return list(self._within_limit(self.client.scatter, list(many), hash=False))
            except (OSError, KeyError, *_LATE) as error:  # a worker has gone meanwhile
                if time.monotonic() > deadline:
                    raise (self._busy() if self.workers() else self._nobody()) from error
                time.sleep(LOOK)

    # --- waiting ----------------------------------------------------------------------------------

    def settle(self, futures: list[Any]) -> list[int]:
        """Wait until each future is there, or lost: returns the partitions of those."""
        deadline = time.monotonic() + self.limit
        while left := [future for future in futures if future.status in _AWAITED]:
            if time.monotonic() > deadline:
                raise self._late(futures)
            # By its own client: ``distributed.wait`` would ask the one that was started last.
            with suppress(*_LATE, *_CANCELLED):
                left[0].exception(timeout=LOOK)
            self._refuse_closed()
        for k, future in enumerate(futures):
            if future.status == "error":
                error = future.exception()
                if not isinstance(error, KilledWorker):
                    raise about(k, error) from error
        return [k for k, future in enumerate(futures) if future.status != "finished"]

    def gather(self, futures: list[Any]) -> list[Any] | None:
        """The results; None if some were lost on their way."""
        try:
            return list(self._within_limit(self.client.gather, futures))
        except (*_CANCELLED, *_LATE, KilledWorker, OSError):
            self._refuse_closed()
            return None

    def _within_limit(self, call: Any, *args: Any, **options: Any) -> Any:
        """The client itself would wait for ever for a worker that hangs."""

        async def asked() -> Any:
            return await call(*args, asynchronous=True, **options)

        return self.client.sync(asked, callback_timeout=self.limit)

    def workers(self) -> Any:
        """Who is there; empty or None if nobody is."""
        self._refuse_closed()
        try:
            return self.client.nthreads()
        except OSError:
            return None

    def some_workers(self) -> list[str]:
        """Who is there, as soon as somebody is."""
        deadline = time.monotonic() + self.limit
        while not (workers := self.workers()):
            if time.monotonic() > deadline:
                raise self._nobody()
            time.sleep(LOOK)
        return sorted(workers)

    # --- giving up --------------------------------------------------------------------------------

    def _refuse_closed(self) -> None:
        if self.client.status not in _OPEN:
            raise RuntimeError(
                f"client is {self.client.status}, or its scheduler is gone; with checkpoint=FOLDER "
                "the run goes on from its last checkpoint, with a new client"
            )

    def _late(self, futures: list[Any]) -> Exception:
        if not self.workers():
            return self._nobody()
        late = [k for k, future in enumerate(futures) if future.status in _AWAITED]
        return RuntimeError(
            f"partitions {', '.join(map(str, late))} did not answer within round_seconds="
            f"{self.limit:g}: raise it, or give a round less work"
        )

    def _nobody(self) -> Exception:
        return RuntimeError(
            f"no worker is left, and none has come within round_seconds={self.limit:g}; with "
            "checkpoint=FOLDER the run can be resumed"
        )

    def _busy(self) -> Exception:
        return RuntimeError(
            f"no worker has taken data within round_seconds={self.limit:g}: they may hang, or need "
            "more memory than they have"
        )
