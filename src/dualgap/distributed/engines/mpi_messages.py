"""Messages between the processes of an MPI job, with a limit on every wait.

Orders are broadcast, down a tree. Each process answers by itself, so that the driver knows which
one is late. The error that ends a run early goes to each process directly: a broadcast would stop
at a process that hangs. No call blocks: a waiting process polls, with ever longer pauses.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.distributed.tuning import TUNING

_ANSWER, _STOP = 1, 2  # tags


class Messages:
    """A private communicator for one run; rank 0 gives the orders."""

    def __init__(self, comm: Any, limit: float) -> None:
        self.limit, self.rank, self.size = limit, int(comm.Get_rank()), int(comm.Get_size())
        self.comm, request = comm.Idup()
        self._posted: list[Any] = []  # messages that may not have left yet
        if not self._within(request.Test, limit):
            raise RuntimeError(
                f"not all {self.size} processes called solve within round_seconds={limit:g}"
            )

    # --- rank 0 ---------------------------------------------------------------------------------

    def order(self, order: Any) -> None:
        """Broadcast an order."""
        self._began = time.monotonic()
        data = np.frombuffer(pickle.dumps(order, pickle.HIGHEST_PROTOCOL), np.uint8)
        for buffer in (np.array([len(data)]), data):
            request = self.comm.Ibcast(buffer, 0)
            if not self._within(request.Test, self.limit):
                self._posted.append((request, buffer))
                raise RuntimeError(
                    f"a process did not take an order within round_seconds={self.limit:g}"
                )

    def answers(self) -> list[Any]:
        """The answers of all other processes to the last order."""
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
        """Make all other processes raise the error as soon as they listen."""
        for rank in range(1, self.size):
            self._posted.append(self.comm.isend(error, rank, _STOP))
        sent = self._posted[1 - self.size :] if self.size > 1 else []
        self._within(lambda: all(request.test()[0] for request in sent), TUNING.farewell_seconds)

    # --- other ranks ----------------------------------------------------------------------------

    def next(self) -> Any:
        """The next order; raises the error if the run has ended early."""
        length = np.zeros(1, np.int64)
        self._receive(length)
        data = np.empty(int(length[0]), np.uint8)
        self._receive(data)
        return pickle.loads(data.data)

    def _receive(self, buffer: Any) -> None:
        request = self.comm.Ibcast(buffer, 0)
        stopped = []

        def arrived() -> bool:
            if request.Test():
                return True
            if self.comm.iprobe(0, _STOP):
                stopped.append(self.comm.recv(source=0, tag=_STOP))
            return bool(stopped)

        self._within(arrived, np.inf)  # rank 0 may take any time between two orders
        if stopped:
            self._posted.append((request, buffer))
            raise stopped[0]

    def answer(self, answer: Any) -> None:
        """Send the answer to the last order."""
        self._posted = [self.comm.isend(answer, 0, _ANSWER)]

    # --- every rank -----------------------------------------------------------------------------

    def close(self) -> None:
        """At the end of a run, after the last order has reached every process."""
        self.comm.Free()

    @staticmethod
    def _within(done: Callable[[], bool], seconds: float) -> bool:
        end, pause = time.monotonic() + seconds, TUNING.first_pause
        while not done():
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause = min(2.0 * pause, TUNING.longest_pause)
        return True


class LateError(Exception):
    """Some processes have not answered in time."""

    def __init__(self, ranks: list[int]) -> None:
        super().__init__(ranks)
        self.ranks = ranks
