"""Who holds the partitions: the one protocol between the driver and an engine.

A crew keeps, for each partition, its data and its dual variables where the engine wants them. The
driver has vectors as long as u only. Answers come in the order of partitions, whoever gave them and
whenever, so that what the driver adds up has the same bits on any number of workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from dualgap.distributed.local import Task, alone
from dualgap.linalg import parallel
from dualgap.linalg.validate import Floats


class LostError(RuntimeError):
    """Dual variables of some partitions had to be set back: u does not belong to them any more."""

    def __init__(self, partitions: Sequence[int]) -> None:
        self.partitions = list(partitions)
        names = ", ".join(map(str, self.partitions))
        super().__init__(f"partitions {names} were set back to their last copy")


class Crew(ABC):
    """Partitions, and those who work on them."""

    size: int

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many there are now."""

    @abstractmethod
    def run(self, task: Task, told: Any) -> list[Any]:
        """Broadcast, let each partition do the task, and collect the answers in order.

        Raises ``LostError`` once dual variables that were lost are restored from their last copy,
        or start from 0 if there is none.
        """

    @abstractmethod
    def ask(self, task: Task, told: Any) -> list[Any]:
        """The same for a task that leaves dual variables as they are."""

    @abstractmethod
    def transform(self, function: Callable[[Any, Any], Any], told: Any) -> None:
        """Replace what each partition holds by ``function`` of it."""

    @abstractmethod
    def copy(self) -> list[Floats]:
        """The dual variables of all partitions: also what they are restored from, if lost."""

    @abstractmethod
    def put(self, duals: list[Floats]) -> None:
        """Give each partition its dual variables, which also count as a copy."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the data."""


def insisting(action: Callable[[], Any]) -> Any:
    """Again, until nobody is lost meanwhile; a crew that loses the same ones for ever says so."""
    while True:
        try:
            return action()
        except LostError:
            continue


@contextmanager
def naming(k: int) -> Iterator[None]:
    """Errors within say which partition they are about."""
    try:
        yield
    except Exception as error:
        raise about(k, error) from error


def about(k: int, error: BaseException) -> Exception:
    """The error, with the number of its partition in front."""
    for kind in (ValueError, TypeError, MemoryError, OSError):
        if isinstance(error, kind):
            return kind(f"partition {k}: {error}")
    return RuntimeError(f"partition {k}: {type(error).__name__}: {error}")


class ThreadCrew(Crew):
    """Everything in this process, by threads."""

    def __init__(self, sources: Sequence[Any], workers: int | None = None) -> None:
        self.size = len(sources)
        self._pool = ThreadPoolExecutor(min(workers or parallel.count(), self.size))
        self._duals: list[Any] = [None] * self.size
        self._held: list[Any] = list(sources)
        self._each(self._load)

    @property
    def workers(self) -> int:
        return self._pool._max_workers

    def run(self, task: Task, told: Any) -> list[Any]:
        def work(k: int) -> Any:
            answer, self._duals[k] = alone(task, self._held[k], self._duals[k], k, told)
            return answer

        return self._each(work)

    def ask(self, task: Task, told: Any) -> list[Any]:
        return self._each(lambda k: alone(task, self._held[k], self._duals[k], k, told)[0])

    def transform(self, function: Callable[[Any, Any], Any], told: Any) -> None:
        def work(k: int) -> None:
            self._held[k] = function(self._held[k], told)

        self._each(work)

    def copy(self) -> list[Floats]:
        return list(self._duals)

    def put(self, duals: list[Floats]) -> None:
        self._duals = list(duals)

    def close(self) -> None:
        self._pool.shutdown()

    def _load(self, k: int) -> None:
        self._held[k] = self._held[k].load()

    def _each(self, work: Callable[[int], Any]) -> list[Any]:
        def named(k: int) -> Any:
            with naming(k):
                return work(k)

        return list(self._pool.map(named, range(self.size)))
