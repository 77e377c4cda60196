"""Messages between the processes of an MPI job, for which nobody waits longer than a limit.

Orders go down a tree (a broadcast), answers come one from each process, so that it is known who is
late. What ends a run before its time goes to each process by itself: a tree would end at the one
that hangs. Nothing blocks: who waits asks again, first at once, then after ever longer pauses.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np

_ANSWER, _STOP = 1, 2  # tags
_FIRST, _LONGEST = 1e-6, 1e-3  # seconds between two questions
_FAREWELL = 1.0  # seconds for a last message to leave


class Messages:
    """A communicator of its own for one run; the first process gives orders."""

    def __init__(self, comm: Any, limit: float) -> None:
        self.limit, self.rank, self.size = limit, int(comm.Get_rank()), int(comm.Get_size())
        self.comm, request = comm.Idup()
        self._posted: list[Any] = []  # messages that may still be on their way
        if not self._within(request.Test, limit):
            raise RuntimeError(
                f"not all of the {self.size} processes have called solve within "
                f"round_seconds={limit:g}"
            )

    # --- the first process ----------------------------------------------------------------------

    def order(self, what: Any) -> None:
        """Tell all others."""
        self._began = time.monotonic()
        data = np.frombuffer(pickle.dumps(what, pickle.HIGHEST_PROTOCOL), np.uint8)
        for part in (np.array([len(data)]), data):
            request = self.comm.Ibcast(part, 0)
            if not self._within(request.Test, self.limit):
                self._posted.append((request, part))
                raise RuntimeError(f"a process took no order within round_seconds={self.limit:g}")

    def answers(self) -> list[Any]:
        """Those of all others to the last order."""
        found: dict[int, Any] = {}

        def complete() -> bool:
            for rank in range(1, self.size):
                message = None if rank in found else self.comm.improbe(rank, _ANSWER)
                if message is not None:
                    found[rank] = message.recv()
            return len(found) == self.size - 1

        if not self._within(complete, self._began + self.limit - time.monotonic()):
            raise LateError([rank for rank in range(1, self.size) if rank not in found])
        return [found[rank] for rank in sorted(found)]

    def stop(self, error: Exception) -> None:
        """Make all others raise an error as soon as they listen."""
        for rank in range(1, self.size):
            self._posted.append(self.comm.isend(error, rank, _STOP))
        sent = self._posted[1 - self.size :] if self.size > 1 else []
        self._within(lambda: all(request.test()[0] for request in sent), _FAREWELL)

    # --- the others -----------------------------------------------------------------------------

    def next(self) -> Any:
        """The next order; raises what ended the run."""
        length = np.zeros(1, np.int64)
        self._receive(length)
        data = np.empty(int(length[0]), np.uint8)
        self._receive(data)
        return pickle.loads(data.data)

    def _receive(self, part: Any) -> None:
        request = self.comm.Ibcast(part, 0)
        stopped = []

        def there() -> bool:
            if request.Test():
                return True
            if self.comm.iprobe(0, _STOP):
                stopped.append(self.comm.recv(source=0, tag=_STOP))
            return bool(stopped)

        self._within(there, np.inf)  # what the first process does between orders has no limit
        if stopped:
            self._posted.append((request, part))
            raise stopped[0]

    def answer(self, what: Any) -> None:
        """To the last order."""
        self._posted = [self.comm.isend(what, 0, _ANSWER)]

    # --- all ------------------------------------------------------------------------------------

    def close(self) -> None:
        """At the end of a run that all have seen."""
        self.comm.Free()

    @staticmethod
    def _within(done: Callable[[], bool], seconds: float) -> bool:
        end, pause = time.monotonic() + seconds, _FIRST
        while not done():
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause = min(2.0 * pause, _LONGEST)
        return True


class LateError(Exception):
    """Processes that have not answered."""

    def __init__(self, ranks: list[int]) -> None:
        super().__init__(ranks)
        self.ranks = ranks
