"""Partitions as futures of a Dask cluster.

Data and dual variables stay on workers, as futures that any worker may hold: a hint says which one
should, so that partitions are spread evenly and a worker that joins gets its share. Work goes to
where the data is. Each copy that the driver makes cuts the lineage of dual variables: those that
are lost with their worker come back from it. Data has its lineage, back to the file or the delayed
object that it was read from.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
import uuid
from collections.abc import Callable
from typing import Any

import cloudpickle
import numpy as np
from distributed import KilledWorker, wait

from dualgap._validate import Floats
from dualgap.distributed.crew import Crew, LostError, about
from dualgap.distributed.local import Task, alone
from dualgap.distributed.placing import placed
from dualgap.distributed.sources import Source, Sources, is_lazy, raw_of

_SHORT = 10_000  # bytes
_LOOK = 0.5  # seconds between two looks at the cluster while waiting
_PATIENCE = 5  # losses in a row, without a round in between, after which a partition is to blame
_CANCELLED = (concurrent.futures.CancelledError, asyncio.CancelledError)
_LATE = (TimeoutError, asyncio.TimeoutError)
_OPEN = ("running", "connecting")


def _moved(block: Any, state: Any, k: int, *, task: Task, told: Any) -> tuple[Any, Any]:
    return alone(task, block, None if state is None else state[1], k, told)


def _asked(block: Any, state: Any, k: int, *, task: Task, told: Any) -> Any:
    return _moved(block, state, k, task=task, told=told)[0]


def _answer(state: Any) -> Any:
    return state[0]


def _dual(block: Any, state: Any, k: int) -> Any:
    return None if state is None else state[1]


def _same(block: Any) -> Any:
    return block


class DaskCrew(Crew):
    """The workers of a client."""

    def __init__(self, client: Any, sources: Sources, round_seconds: float) -> None:
        if client.status not in _OPEN:
            raise ValueError(f"client is {client.status}: connect a new one")
        if client.asynchronous:
            raise ValueError("client must not be asynchronous: use Client(address)")
        self.client, self.sources, self.limit = client, sources, round_seconds
        self.size = len(sources)
        self._name, self._turn = f"dualgap-{uuid.uuid4().hex[:8]}", 0
        self._homes: dict[int, str] = {}
        self._made: list[tuple[Callable[[Any, Any], Any], Any]] = []  # what made blocks of data
        self._copies: list[Any] = [None] * self.size
        self._states: list[Any] = [None] * self.size
        self._losses, self._looked = 0, -np.inf
        self._held: list[Any] = []
        self._spread()
        self._held = [self._loaded(k) for k in range(self.size)]

    @property
    def workers(self) -> int:
        return len(set(self._homes.values()))

    # --- what the driver asks for ---------------------------------------------------------------

    def run(self, task: Task, told: Any) -> list[Any]:
        states = self._map(_moved, task=task, told=self._shared(told))
        answers = self._on_all(_answer, states)
        broken = self._settle(answers)
        results = None if broken else self._gather(answers)
        for k, state in enumerate(states):
            if k not in broken:
                self._states[k] = state
        if results is None:
            raise self._set_back(broken)
        self._losses = 0
        return results

    def ask(self, task: Task, told: Any) -> list[Any]:
        return self._collect(_asked, task=task, told=self._shared(told))

    def transform(self, function: Callable[[Any, Any], Any], told: Any) -> None:
        self._made.append((function, told))
        shared = self._shared(told)
        self._held = [self._submit(function, k, held, shared) for k, held in enumerate(self._held)]
        self._settle(self._held)

    def copy(self) -> list[Floats]:
        # Put back as data they have no past, which the scheduler would have to remember.
        self.put(self._collect(_dual))
        return list(self._copies)

    def put(self, duals: list[Floats]) -> None:
        self._copies = list(duals)
        self._states = self._scattered(*((None, dual) for dual in duals))

    def close(self) -> None:
        self._held, self._states = [], []

    def _map(self, function: Any, **told: Any) -> list[Any]:
        self._spread()
        return self._on_all(function, self._held, self._states, list(range(self.size)), **told)

    def _collect(self, function: Any, **told: Any) -> list[Any]:
        futures = self._map(function, **told)
        broken = self._settle(futures)
        results = None if broken else self._gather(futures)
        if results is None:
            raise self._set_back(broken)
        self._losses = 0
        return results

    # --- futures --------------------------------------------------------------------------------

    def _key(self, function: Any, k: int) -> str:
        self._turn += 1
        return f"{self._name}-{function.__name__.strip('_')}-{k}-{self._turn}"

    def _submit(self, function: Any, k: int, *args: Any) -> Any:
        """On the worker that should hold the partition, or on another one if that is gone."""
        self._refuse_closed()
        return self.client.submit(
            function,
            *args,
            key=self._key(function, k),
            workers=[self._homes[k]],
            allow_other_workers=True,
        )

    def _on_all(self, function: Any, *args: list[Any], **told: Any) -> list[Any]:
        """A future for each partition, in one message, on the workers where its data is."""
        self._refuse_closed()
        keys = [self._key(function, k) for k in range(self.size)]
        return list(self.client.map(function, *args, key=keys, **told))

    def _shared(self, told: Any) -> Any:
        """What all are told: with the message if it is short, else from worker to worker."""
        if told is None or len(cloudpickle.dumps(told)) <= _SHORT:
            return told
        return self._scattered(told)[0]

    def _scattered(self, *many: Any) -> list[Any]:
        """Data on some workers, from which others fetch it."""
        deadline = time.monotonic() + self.limit
        while True:
            self._refuse_closed()
            try:
                return list(self.client.scatter(list(many), hash=False))
            except (OSError, KeyError, *_LATE) as error:  # a worker has gone meanwhile
                workers = self._alive()
                if time.monotonic() > deadline:
                    raise (error if workers else self._nobody()) from error
                time.sleep(_LOOK)

    def _loaded(self, k: int) -> Any:
        """The data of a partition, with all that was made of it."""
        source: Source = self.sources[k]
        if source.lazy:
            parts = [self.client.compute(p) if _is_delayed(p) else p for p in source.parts]
            held = self._submit(source.read, k, *parts)
        elif source.read is raw_of:  # it is here, and nowhere else
            held = self._scattered(source.load())[0]
        else:
            held = self._submit(source.read, k, *source.parts)
        for function, told in self._made:
            held = self._submit(function, k, held, self._shared(told))
        return held

    def _spread(self) -> None:
        """Choose a worker for each partition, and bring its data there, if workers have changed."""
        now = time.monotonic()
        if now < self._looked + _LOOK:
            return
        while not (workers := self._alive()):
            if time.monotonic() > now + self.limit:
                raise self._nobody()
            time.sleep(_LOOK)
        self._looked = time.monotonic()
        before, self._homes = self._homes, placed(self._homes, sorted(workers), self.size)
        for k, held in enumerate(self._held):
            if self._homes[k] != before[k]:
                self._held[k] = self._submit(_same, k, held)

    def _refuse_closed(self) -> None:
        if self.client.status not in _OPEN:
            raise RuntimeError(
                f"client is {self.client.status}: its scheduler is gone; with checkpoint=FOLDER "
                "the run goes on from its last checkpoint, with a new client"
            )

    def _alive(self) -> Any:
        self._refuse_closed()
        try:
            return self.client.nthreads()
        except OSError:
            return None

    # --- failures -------------------------------------------------------------------------------

    def _settle(self, futures: list[Any]) -> list[int]:
        """Wait until each future is there, or lost: returns the partitions of those."""
        deadline = time.monotonic() + self.limit
        left = futures
        while left:
            try:
                wait(left, timeout=_LOOK)  # type: ignore[no-untyped-call]
            except _LATE + _CANCELLED:
                workers = self._alive()
                if time.monotonic() > deadline:
                    raise self._late(futures, workers) from None
            left = [future for future in left if future.status in ("pending", "lost")]
        broken = []
        for k, future in enumerate(futures):
            if future.status == "error":
                error = future.exception()
                if not isinstance(error, KilledWorker):
                    raise about(k, error) from error
            if future.status != "finished":
                broken.append(k)
        return broken

    def _gather(self, futures: list[Any]) -> list[Any] | None:
        """The results; None if some were lost on their way."""
        try:
            return list(self.client.gather(futures))
        except (*_CANCELLED, *_LATE, KilledWorker, OSError):
            self._alive()
            return None

    def _set_back(self, broken: list[int]) -> LostError:
        """Restore what was lost, as it was when the last copy was made."""
        self._losses += 1
        if self._losses > _PATIENCE:
            first = broken[0] if broken else 0
            raise RuntimeError(
                f"partition {first}: its worker was lost {self._losses} times in a row; it may "
                "need more memory than workers have: use more and smaller partitions"
            )
        self._looked = -np.inf
        self._spread()
        lost = []
        for k in range(self.size):
            held, state = self._held[k], self._states[k]
            if held.status in ("cancelled", "error"):
                self._held[k] = self._loaded(k)
            if k in broken or (state is not None and state.status != "finished"):
                lost.append(k)
                copy = self._copies[k]
                scattered = None
                if copy is not None:
                    scattered = self._scattered((None, copy))[0]
                self._states[k] = scattered
        return LostError(lost)

    def _late(self, futures: list[Any], workers: Any) -> Exception:
        if not workers:
            return self._nobody()
        late = [k for k, future in enumerate(futures) if future.status in ("pending", "lost")]
        return RuntimeError(
            f"partitions {', '.join(map(str, late))} did not answer within round_seconds="
            f"{self.limit:g}: raise it, or give a round less work"
        )

    def _nobody(self) -> Exception:
        return RuntimeError(
            f"no worker is left, and none has come within round_seconds={self.limit:g}; with "
            "checkpoint=FOLDER the run can be resumed"
        )


def _is_delayed(part: Any) -> bool:
    return is_lazy(part) and hasattr(part, "__dask_graph__")
