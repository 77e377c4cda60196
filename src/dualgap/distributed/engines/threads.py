"""The engine for one process: partitions are in its memory, and its threads run the tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dualgap.distributed.engines.protocol import (
    Engine,
    PartitionTask,
    Transform,
    about_partition,
    run_task,
)
from dualgap.linalg import parallel
from dualgap.linalg.validate import Floats


class ThreadEngine(Engine):
    """Nothing is ever lost here: a failure ends the process, and a checkpoint is what remains.

    ``workers``: threads at most. Tasks compute all the time, so there are never more than cores.
    """

    on_this_machine = True

    def __init__(self, sources: Sequence[Any], workers: int | None = None) -> None:
        self.size = len(sources)
        self._workers = min(workers or parallel.count(), self.size)
        self._duals: list[Any] = [None] * self.size
        self._blocks: list[Any] = list(sources)
        self.transform(lambda source, k, _: source.load(), None)

    @property
    def workers(self) -> int:
        return self._workers

    def run(self, task: PartitionTask, message: Any) -> list[Any]:
        def work(k: int) -> Any:
            answer, self._duals[k] = run_task(task, self._blocks[k], self._duals[k], k, message)
            return answer

        return self._each(work)

    def ask(self, task: PartitionTask, message: Any) -> list[Any]:
        return self._each(lambda k: run_task(task, self._blocks[k], self._duals[k], k, message)[0])

    def transform(self, function: Transform, message: Any, *, anew: bool = False) -> None:
        def work(k: int) -> None:
            self._blocks[k] = function(self._blocks[k], k, message)

        self._each(work)

    def keep(self) -> None:
        """Nothing is ever lost."""

    def copy(self) -> list[Floats]:
        return list(self._duals)

    def put(self, duals: Sequence[Floats | None]) -> None:
        self._duals = list(duals)

    def close(self) -> None:
        self._blocks, self._duals = [], []

    def _each(self, work: Callable[[int], Any]) -> list[Any]:
        """The results for all partitions; of several errors, that of the first partition."""

        def attempt(k: int) -> tuple[Any, Exception | None]:
            try:
                return work(k), None
            except Exception as error:
                return None, error

        with parallel.at_most(self._workers):
            found = parallel.together(attempt, [(k,) for k in range(self.size)])
        for k, (_, error) in enumerate(found):
            if error is not None:
                raise about_partition(k, error) from error
        return [answer for answer, _ in found]
