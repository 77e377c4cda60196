"""A contestant in a process of its own, warm, so that one that hangs does not end the race."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from typing import Any, NamedTuple

from benchmarks.peers.worker import SolverError
from benchmarks.users.case import Instance
from benchmarks.users.models import OURS, Contestant, Setting, found

_FORK = multiprocessing.get_context("fork")  # the data need not be sent
SMALL = 200_000  # numbers in X; with more, a warm-up takes a part of the samples
WARM_ROWS = 1000
START_SECONDS = 240.0  # a first fit compiles


class Run(NamedTuple):
    """``processor`` are the seconds of all threads, which others do not add to."""

    seconds: float
    processor: float
    coef: Any
    intercept: Any
    note: str


class Worker:
    """``run(setting, limit)`` is one fit; None after ``limit`` seconds, and the end of it."""

    def __init__(self, contestant: Contestant, instance: Instance) -> None:
        self.link, other = _FORK.Pipe()
        # Not a daemon, which may not have processes of its own: GridSearchCV starts some.
        self.process = _FORK.Process(target=_serve, args=(other, self.link, contestant, instance))
        self.process.start()
        other.close()
        if self._answer(START_SECONDS) is None:
            raise SolverError(f"not ready after {START_SECONDS:.0f} s")

    def run(self, setting: Setting, limit: float) -> Run | None:
        self.link.send(setting)
        return self._answer(limit)

    def _answer(self, limit: float) -> Any:
        try:
            answer = self.link.recv() if self.link.poll(limit) else None
        except EOFError:
            self.process.join()
            raise SolverError(f"crashed with code {self.process.exitcode}") from None
        except BaseException:
            self.end()
            raise
        if answer is None:
            self.end()
        if isinstance(answer, str):
            self.end()
            raise SolverError(answer)
        return answer

    def end(self) -> None:
        """With the processes that it started itself."""
        self.link.close()
        if self.process.is_alive():
            try:
                os.killpg(self.process.pid or 0, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self.process.kill()
        self.process.join()


def _serve(link: Any, parents: Any, contestant: Contestant, instance: Instance) -> None:
    os.setpgid(0, 0)
    parents.close()
    warnings.simplefilter("ignore")
    os.environ["PYTHONWARNINGS"] = "ignore"  # of processes that a fit starts
    os.environ["DUALGAP_COMPILE"] = "always"  # a warm process has no first fit
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    try:
        _warm_up(contestant, instance)
        link.send(True)
        while True:
            setting = link.recv()
            model = contestant.make(instance, setting)
            began, worked = time.perf_counter(), time.process_time()
            model = model.fit(instance.X, instance.y, **instance.fit_params) or model
            times = time.perf_counter() - began, time.process_time() - worked
            link.send(Run(*times, *found(model, instance)))
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:
        link.send(f"{type(error).__name__}: {error}"[:300])


def _warm_up(contestant: Contestant, instance: Instance) -> None:
    """One fit: to all data if they are small, else to a part.

    Ours also takes two epochs on all of them, since what it compiles depends on their size.
    """
    if instance.size <= SMALL and instance.n <= 2 * WARM_ROWS:
        contestant.make(instance, {}).fit(instance.X, instance.y, **instance.fit_params)
        return
    part = instance.rows(WARM_ROWS)
    contestant.make(part, {}).fit(part.X, part.y, **part.fit_params)
    if contestant is OURS:
        model = contestant.make(instance, {})
        if hasattr(model, "max_iter"):
            model.max_iter = 2
        model.fit(instance.X, instance.y, **instance.fit_params)
