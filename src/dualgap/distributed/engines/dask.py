"""The engine for a Dask cluster: partitions are futures.

Data and dual variables stay on workers, as futures that any worker may hold. A hint says which
worker should, so that partitions are spread evenly and a worker that joins gets its share. Tasks
run where the data is. Each copy that the driver makes cuts the lineage of the dual variables: those
that are lost with their worker are restored from it. Data has its own lineage, back to the file or
the delayed object that it was read from.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from dualgap.distributed.data.sources import Source, Sources, as_raw, is_delayed
from dualgap.distributed.engines.dask_futures import Futures, Order
from dualgap.distributed.engines.protocol import (
    Engine,
    PartitionsLostError,
    PartitionTask,
    Transform,
    naming_partition,
    run_task,
)
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats

# A state is (answer, dual variables): one future holds both. Functions below run on workers, and
# their names are those of tasks on Dask's dashboard.


def _run(block: Any, state: Any, k: int, *, order: Order) -> tuple[Any, Any]:
    return run_task(order.function, block, _dual(block, state, k), k, order.message)


def _ask(block: Any, state: Any, k: int, *, order: Order) -> Any:
    return _run(block, state, k, order=order)[0]


def _transform(block: Any, k: int, order: Order) -> Any:
    return order.function(block, k, order.message)


def _answer(state: Any) -> Any:
    return state[0]


def _dual(block: Any, state: Any, k: int) -> Any:
    return None if state is None else state[1]


def _move(block: Any) -> Any:
    """Nothing to compute: the result is where the task ran."""
    return block


class DaskEngine(Engine):
    """The workers of a client."""

    def __init__(self, client: Any, sources: Sources, round_seconds: float) -> None:
        self._futures = Futures(client, round_seconds)
        self.sources, self.size = sources, len(sources)
        self._homes: dict[int, str] = {}  # the worker that should hold each partition
        self._transforms: list[Order] = []  # to repeat when data is loaded again
        self._copies: list[Any] = [None] * self.size
        self._states: list[Any] = [None] * self.size
        self._losses, self._assigned = 0, -np.inf  # losses in a row; when homes were assigned
        self._blocks: list[Any] = []
        self._assign()
        self._blocks = [self._load(k) for k in range(self.size)]

    @property
    def workers(self) -> int:
        return len(set(self._homes.values()))

    @property
    def on_this_machine(self) -> bool:  # type: ignore[override]
        hosts = [address.partition("://")[2] for address in self._homes.values()]
        return all(host.startswith(("127.", "[::1]")) for host in hosts)

    # --- the protocol ---------------------------------------------------------------------------

    def run(self, task: PartitionTask, message: Any) -> list[Any]:
        states = self._map(task.__name__, _run, order=self._order(task, message))
        answers = self._futures.each("answer", _answer, states)
        broken = self._futures.settle(answers)
        for k, state in enumerate(states):
            if k not in broken:
                self._states[k] = state
        return self._gather(answers, broken)

    def ask(self, task: PartitionTask, message: Any) -> list[Any]:
        return self._collect(task.__name__, _ask, order=self._order(task, message))

    def transform(self, function: Transform, message: Any, *, anew: bool = False) -> None:
        if anew:
            self._transforms.clear()
        self._transforms.append(Order(function, message))
        order = self._futures.shared(self._transforms[-1])
        self._blocks = [
            self._at_home(function.__name__, _transform, k, block, k, order)
            for k, block in enumerate(self._blocks)
        ]
        self._futures.settle(self._blocks)

    def keep(self) -> None:
        self.copy()

    def copy(self) -> list[Floats]:
        # Put back as data, dual variables have no lineage that the scheduler must remember.
        self.put(self._collect("copy", _dual))
        return list(self._copies)

    def put(self, duals: Sequence[Floats | None]) -> None:
        self._copies = list(duals)
        self._states = [None] * self.size
        known = [k for k, dual in enumerate(duals) if dual is not None]
        if known:
            states = self._futures.data(*((None, duals[k]) for k in known))
            for k, state in zip(known, states):
                self._states[k] = state

    def close(self) -> None:
        self._blocks, self._states = [], []

    def _order(self, task: PartitionTask, message: Any) -> Any:
        return self._futures.shared(Order(task, message))

    def _map(self, label: str, function: Any, **options: Any) -> list[Any]:
        self._assign()
        numbers = list(range(self.size))
        return self._futures.each(label, function, self._blocks, self._states, numbers, **options)

    def _collect(self, label: str, function: Any, **options: Any) -> list[Any]:
        futures = self._map(label, function, **options)
        return self._gather(futures, self._futures.settle(futures))

    def _gather(self, futures: list[Any], broken: list[int]) -> list[Any]:
        results = None if broken else self._futures.gather(futures)
        if results is None:
            raise self._restore(broken)
        self._losses = 0
        return results

    # --- data -----------------------------------------------------------------------------------

    def _at_home(self, label: str, function: Any, k: int, *args: Any, retries: int = 0) -> Any:
        home = self._homes[k]
        return self._futures.one(label, function, k, home, *args, retries=retries)

    def _load(self, k: int) -> Any:
        """The data of a partition, with all transforms so far."""
        source: Source = self.sources[k]
        again = {"retries": TUNING.loads - 1}  # a file system or a service may fail once
        if source.lazy:
            client = self._futures.client
            args = [client.compute(arg, **again) if is_delayed(arg) else arg for arg in source.args]
            block = self._at_home("load", source.read, k, *args, **again)
        elif source.read is as_raw:  # the data is in this process
            with naming_partition(k):
                raw = source.load()
            block = self._futures.data(raw)[0]
        else:
            block = self._at_home("load", source.read, k, *source.args, **again)
        for order in self._transforms:
            shared = self._futures.shared(order)
            block = self._at_home(order.function.__name__, _transform, k, block, k, shared)
        return block

    def _assign(self) -> None:
        """Choose a home for each partition, and move its data there if workers have changed."""
        if time.monotonic() < self._assigned + TUNING.poll_seconds:
            return
        workers = self._futures.some_workers()
        self._assigned = time.monotonic()
        before, self._homes = self._homes, assign_homes(self._homes, workers, self.size)
        for k, block in enumerate(self._blocks):
            if self._homes[k] != before[k]:
                self._blocks[k] = self._at_home("move", _move, k, block)

    def _restore(self, broken: list[int]) -> PartitionsLostError:
        """Load lost data again and restore lost dual variables from the last copy."""
        self._losses += 1
        if self._losses > TUNING.losses_in_a_row:
            first = broken[0] if broken else 0
            raise RuntimeError(
                f"partition {first}: its worker was lost {self._losses} times in a row; it may "
                "need more memory than workers have: use more and smaller partitions"
            )
        self._assigned = -np.inf
        self._assign()
        lost = []
        for k, (block, state, copy) in enumerate(zip(self._blocks, self._states, self._copies)):
            if block.status in ("cancelled", "error"):
                self._blocks[k] = self._load(k)
            if k in broken or (state is not None and state.status != "finished"):
                lost.append(k)
                self._states[k] = None if copy is None else self._futures.data((None, copy))[0]
        return PartitionsLostError(lost)


def assign_homes(before: dict[int, str], workers: Sequence[str], size: int) -> dict[int, str]:
    """A worker for each of ``size`` partitions: evenly, and with as few moves as possible."""
    most = -(-size // len(workers))
    lists: dict[str, list[int]] = {worker: [] for worker in workers}
    homeless = []
    for k in range(size):
        home = before.get(k)
        if home in lists and len(lists[home]) < most:
            lists[home].append(k)
        else:
            homeless.append(k)
    for k in homeless:
        min(lists.values(), key=len).append(k)
    while True:
        shortest, longest = min(lists.values(), key=len), max(lists.values(), key=len)
        if len(longest) - len(shortest) < 2:
            return {k: worker for worker, own in lists.items() for k in own}
        shortest.append(longest.pop())
