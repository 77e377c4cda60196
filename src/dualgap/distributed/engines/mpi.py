"""The engine for an MPI job: rank r holds partitions r, r + size, r + 2·size, …

All processes call ``solve``. Rank 0 is the driver; the others follow its orders until the run ends,
and all return its result. If a process fails or is late, the run fails: resume it from a
checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dualgap.distributed.data.sources import Sources
from dualgap.distributed.engines.mpi_messages import LateError, Messages
from dualgap.distributed.engines.protocol import (
    Engine,
    PartitionTask,
    Transform,
    about_partition,
    run_task,
)
from dualgap.linalg.validate import Floats

_RUN, _ASK, _TRANSFORM, _COPY, _PUT, _END = "run", "ask", "transform", "copy", "put", "end"


class MpiEngine(Engine):
    """The processes of a communicator."""

    def __init__(self, comm: Any, sources: Sources, round_seconds: float) -> None:
        self._messages, self.size = Messages(comm, round_seconds), len(sources)
        self._own = self._partitions_of(self._messages.rank)
        self._duals: dict[int, Any] = {k: None for k in self._own}
        self._blocks: dict[int, Any] = {k: sources[k] for k in self._own}

    def _partitions_of(self, rank: int) -> range:
        return range(rank, self.size, self._messages.size)

    @property
    def workers(self) -> int:
        return self._messages.size

    # --- the protocol, on rank 0 ----------------------------------------------------------------

    def run(self, task: PartitionTask, message: Any) -> list[Any]:
        return self._order(_RUN, task, message)

    def ask(self, task: PartitionTask, message: Any) -> list[Any]:
        return self._order(_ASK, task, message)

    def transform(self, function: Transform, message: Any, *, anew: bool = False) -> None:
        self._order(_TRANSFORM, function, message)

    def keep(self) -> None:
        """A lost process ends the run."""

    def copy(self) -> list[Floats]:
        return self._order(_COPY, None, None)

    def put(self, duals: Sequence[Floats | None]) -> None:
        self._order(_PUT, None, duals)

    def close(self) -> None:
        """Nothing to do: ``drive`` has ended the other processes, by a result or an error."""

    def _order(self, kind: str, function: Any, message: Any) -> list[Any]:
        """All processes follow the order; the answers, in the order of partitions."""
        self._messages.order((kind, function, message))
        answers = self._follow(kind, function, message)
        try:
            for of_rank in self._messages.answers():
                answers.update(of_rank)
        except LateError as late:
            raise self._timed_out(late.ranks) from None
        for k in range(self.size):
            if isinstance(answers[k], Exception):
                raise about_partition(k, answers[k])
        return [answers[k] for k in range(self.size)]

    def _timed_out(self, ranks: list[int]) -> Exception:
        names = (
            f"{r} (partitions {', '.join(map(str, self._partitions_of(r))) or 'none'})"
            for r in ranks
        )
        return RuntimeError(
            f"process {', '.join(names)} did not answer within round_seconds="
            f"{self._messages.limit:g}: raise it, or give each round less work; "
            "with checkpoint=FOLDER another job can resume the run"
        )

    def drive(self, drive: Callable[[Engine], Any]) -> Any:
        """What ``drive`` returns or raises on rank 0, in every process."""
        if self._messages.rank != 0:
            return self._serve()
        try:
            self.transform(_load, None)
            result = drive(self)
            self._messages.order((_END, None, result))
        except BaseException as error:
            self._messages.stop(RuntimeError(f"rank 0 failed: {error}"))
            raise
        self._messages.close()
        return result

    # --- every rank -----------------------------------------------------------------------------

    def _serve(self) -> Any:
        while True:
            kind, function, message = self._messages.next()
            if kind == _END:
                self._messages.close()
                return message
            self._messages.answer(self._follow(kind, function, message))

    def _follow(self, kind: str, function: Any, message: Any) -> dict[int, Any]:
        answers: dict[int, Any] = {}
        for k in self._own:
            try:
                answers[k] = self._follow_for(k, kind, function, message)
            except Exception as error:  # rank 0 raises it
                answers[k] = error
        return answers

    def _follow_for(self, k: int, kind: str, function: Any, message: Any) -> Any:
        if kind == _COPY:
            return self._duals[k]
        if kind == _PUT:
            self._duals[k] = message[k]
            return None
        if kind == _TRANSFORM:
            self._blocks[k] = function(self._blocks[k], k, message)
            return None
        answer, dual = run_task(function, self._blocks[k], self._duals[k], k, message)
        if kind == _RUN:
            self._duals[k] = dual
        return answer


def _load(source: Any, k: int, message: None) -> Any:
    return source.load()
