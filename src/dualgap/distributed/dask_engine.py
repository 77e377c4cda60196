"""Partitions as futures of a Dask cluster.

Data and dual variables stay on workers, as futures that any worker may hold: a hint says which one
should, so that partitions are spread evenly and a worker that joins gets its share. Work goes to
where the data is. Each copy that the driver makes cuts the lineage of dual variables: those that
are lost with their worker come back from it. Data has its lineage, back to the file or the delayed
object that it was read from.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.distributed.dask_futures import LOOK, Futures, Order
from dualgap.distributed.engine import Crew, LostError, naming
from dualgap.distributed.local import Task, alone
from dualgap.distributed.placing import placed
from dualgap.distributed.sources import Source, Sources, is_delayed, raw_of
from dualgap.linalg.validate import Floats

_PATIENCE = 5  # losses in a row, without a round in between, after which a partition is to blame


def _moved(block: Any, state: Any, k: int, *, order: Order) -> tuple[Any, Any]:
    return alone(order.task, block, None if state is None else state[1], k, order.told)


def _asked(block: Any, state: Any, k: int, *, order: Order) -> Any:
    return _moved(block, state, k, order=order)[0]


def _made(held: Any, order: Order) -> Any:
    return order.task(held, order.told)


def _answer(state: Any) -> Any:
    return state[0]


def _dual(block: Any, state: Any, k: int) -> Any:
    return None if state is None else state[1]


def _same(block: Any) -> Any:
    return block


class DaskCrew(Crew):
    """The workers of a client."""

    def __init__(self, client: Any, sources: Sources, round_seconds: float) -> None:
        self._futures = Futures(client, round_seconds)
        self.sources, self.size = sources, len(sources)
        self._homes: dict[int, str] = {}
        self._orders: list[Order] = []  # what made blocks of data
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
        states = self._map(_moved, order=self._futures.shared(Order(task, told)))
        answers = self._futures.each(_answer, states)
        broken = self._futures.settle(answers)
        for k, state in enumerate(states):
            if k not in broken:
                self._states[k] = state
        return self._gathered(answers, broken)

    def ask(self, task: Task, told: Any) -> list[Any]:
        return self._collect(_asked, order=self._futures.shared(Order(task, told)))

    def transform(self, function: Callable[[Any, Any], Any], told: Any) -> None:
        self._orders.append(Order(function, told))
        shared = self._futures.shared(self._orders[-1])
        self._held = [self._at_home(_made, k, held, shared) for k, held in enumerate(self._held)]
        self._futures.settle(self._held)

    def copy(self) -> list[Floats]:
        # Put back as data they have no past, which the scheduler would have to remember.
        self.put(self._collect(_dual))
        return list(self._copies)

    def put(self, duals: list[Floats]) -> None:
        self._copies = list(duals)
        self._states = self._futures.data(*((None, dual) for dual in duals))

    def close(self) -> None:
        self._held, self._states = [], []

    def _map(self, function: Any, **told: Any) -> list[Any]:
        self._spread()
        numbers = list(range(self.size))
        return self._futures.each(function, self._held, self._states, numbers, **told)

    def _collect(self, function: Any, **told: Any) -> list[Any]:
        futures = self._map(function, **told)
        return self._gathered(futures, self._futures.settle(futures))

    def _gathered(self, futures: list[Any], broken: list[int]) -> list[Any]:
        results = None if broken else self._futures.gather(futures)
        if results is None:
            raise self._set_back(broken)
        self._losses = 0
        return results

    # --- data -----------------------------------------------------------------------------------

    def _at_home(self, function: Any, k: int, *args: Any) -> Any:
        return self._futures.one(function, k, self._homes[k], *args)

    def _loaded(self, k: int) -> Any:
        """The data of a partition, with all that was made of it."""
        source: Source = self.sources[k]
        if source.lazy:
            client = self._futures.client
            parts = [client.compute(part) if is_delayed(part) else part for part in source.parts]
            held = self._at_home(source.read, k, *parts)
        elif source.read is raw_of:  # it is here, and nowhere else
            with naming(k):
                raw = source.load()
            held = self._futures.data(raw)[0]
        else:
            held = self._at_home(source.read, k, *source.parts)
        for order in self._orders:
            held = self._at_home(_made, k, held, self._futures.shared(order))
        return held

    def _spread(self) -> None:
        """Choose a worker for each partition, and bring its data there, if workers have changed."""
        if time.monotonic() < self._looked + LOOK:
            return
        workers = self._futures.some_workers()
        self._looked = time.monotonic()
        before, self._homes = self._homes, placed(self._homes, workers, self.size)
        for k, held in enumerate(self._held):
            if self._homes[k] != before[k]:
                self._held[k] = self._at_home(_same, k, held)

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
        for k, (held, state, copy) in enumerate(zip(self._held, self._states, self._copies)):
            if held.status in ("cancelled", "error"):
                self._held[k] = self._loaded(k)
            if k in broken or (state is not None and state.status != "finished"):
                lost.append(k)
                self._states[k] = None if copy is None else self._futures.data((None, copy))[0]
        return LostError(lost)
