"""Partitions in the processes of an MPI job: process r has those whose number is r modulo the size.

All processes call ``solve``; the first one drives, the others do what they are told until it is
done, and all get its result. If a process fails or is late, so does the run: resume from a
checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.distributed.engine import Crew, about
from dualgap.distributed.local import Task, alone
from dualgap.distributed.mpi_messages import LateError, Messages
from dualgap.distributed.sources import Sources
from dualgap.linalg.validate import Floats

_RUN, _ASK, _TRANSFORM, _COPY, _PUT, _END = "run", "ask", "transform", "copy", "put", "end"


class MpiCrew(Crew):
    """The processes of a communicator."""

    def __init__(self, comm: Any, sources: Sources, round_seconds: float) -> None:
        self._messages, self.size = Messages(comm, round_seconds), len(sources)
        self._own = self._of(self._messages.rank)
        self._duals: dict[int, Any] = {k: None for k in self._own}
        self._held: dict[int, Any] = {k: sources[k] for k in self._own}

    def _of(self, rank: int) -> range:
        return range(rank, self.size, self._messages.size)

    @property
    def workers(self) -> int:
        return self._messages.size

    # --- the first process ----------------------------------------------------------------------

    def run(self, task: Task, told: Any) -> list[Any]:
        return self._order(_RUN, task, told)

    def ask(self, task: Task, told: Any) -> list[Any]:
        return self._order(_ASK, task, told)

    def transform(self, function: Callable[[Any, Any], Any], told: Any) -> None:
        self._order(_TRANSFORM, function, told)

    def copy(self) -> list[Floats]:
        return self._order(_COPY, None, None)

    def put(self, duals: list[Floats]) -> None:
        self._order(_PUT, None, duals)

    def close(self) -> None:
        """The others wait for a result; without one they end with an error, too."""

    def _order(self, kind: str, function: Any, told: Any) -> list[Any]:
        """Everybody does it, and the answers come in the order of partitions."""
        self._messages.order((kind, function, told))
        answers = self._do(kind, function, told)
        try:
            for own in self._messages.answers():
                answers.update(own)
        except LateError as late:
            raise self._late(late.ranks) from None
        for k in range(self.size):
            if isinstance(answers[k], Exception):
                raise about(k, answers[k])
        return [answers[k] for k in range(self.size)]

    def _late(self, ranks: list[int]) -> Exception:
        names = (f"{r} (partitions {', '.join(map(str, self._of(r))) or 'none'})" for r in ranks)
        return RuntimeError(
            f"process {', '.join(names)} did not answer within round_seconds="
            f"{self._messages.limit:g}: raise it, or give a round less work; "
            "with checkpoint=FOLDER another job can go on from here"
        )

    def drive(self, action: Callable[[Crew], Any]) -> Any:
        """What ``action`` returns or raises, in every process."""
        if self._messages.rank != 0:
            return self._serve()
        try:
            self.transform(_load, None)
            result = action(self)
            self._messages.order((_END, None, result))
        except BaseException as error:
            self._messages.stop(RuntimeError(f"the first process failed: {error}"))
            raise
        self._messages.close()
        return result

    # --- every process --------------------------------------------------------------------------

    def _serve(self) -> Any:
        while True:
            kind, function, told = self._messages.next()
            if kind == _END:
                self._messages.close()
                return told
            self._messages.answer(self._do(kind, function, told))

    def _do(self, kind: str, function: Any, told: Any) -> dict[int, Any]:
        answers: dict[int, Any] = {}
        for k in self._own:
            try:
                answers[k] = self._do_one(kind, function, told, k)
            except Exception as error:  # the first process raises it for all
                answers[k] = error
        return answers

    def _do_one(self, kind: str, function: Any, told: Any, k: int) -> Any:
        if kind == _COPY:
            return self._duals[k]
        if kind == _PUT:
            self._duals[k] = told[k]
            return None
        if kind == _TRANSFORM:
            self._held[k] = function(self._held[k], told)
            return None
        answer, dual = alone(function, self._held[k], self._duals[k], k, told)
        if kind == _RUN:
            self._duals[k] = dual
        return answer


def _load(source: Any, told: None) -> Any:
    return source.load()
