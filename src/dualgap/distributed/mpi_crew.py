"""Partitions in the processes of an MPI job: process r has those whose number is r modulo the size.

All processes call ``solve``; the first one drives, the others do what they are told until it is
done, and all get its result. If a process fails, so does the job: resume from a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap._validate import Floats
from dualgap.distributed.crew import Crew, about
from dualgap.distributed.local import Task, alone
from dualgap.distributed.sources import Sources

_RUN, _ASK, _TRANSFORM, _COPY, _PUT, _END = "run", "ask", "transform", "copy", "put", "end"


class MpiCrew(Crew):
    """The processes of a communicator."""

    def __init__(self, comm: Any, sources: Sources) -> None:
        self.comm, self.size = comm, len(sources)
        self._own = range(comm.Get_rank(), self.size, comm.Get_size())
        self._duals: dict[int, Any] = {k: None for k in self._own}
        self._held: dict[int, Any] = {k: sources[k] for k in self._own}

    @property
    def workers(self) -> int:
        return int(self.comm.Get_size())

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
        self.comm.bcast((kind, function, told), root=0)
        gathered = self.comm.gather(self._do(kind, function, told), root=0)
        answers = {k: answer for own in gathered for k, answer in own.items()}
        for k in range(self.size):
            if isinstance(answers[k], Exception):
                raise about(k, answers[k])
        return [answers[k] for k in range(self.size)]

    def drive(self, action: Callable[[Crew], Any]) -> Any:
        """What ``action`` returns or raises, in every process."""
        if self.comm.Get_rank() != 0:
            return self._serve()
        try:
            self.transform(_load, None)
            result = action(self)
        except BaseException as error:
            self.comm.bcast((_END, None, RuntimeError(f"the first process failed: {error}")))
            raise
        self.comm.bcast((_END, None, result), root=0)
        return result

    # --- every process --------------------------------------------------------------------------

    def _serve(self) -> Any:
        while True:
            kind, function, told = self.comm.bcast(None, root=0)
            if kind == _END:
                if isinstance(told, Exception):
                    raise told
                return told
            self.comm.gather(self._do(kind, function, told), root=0)

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
