"""A solver in a process of its own, so that one that crashes or hangs does not end the race."""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from typing import Any, NamedTuple

from benchmarks.peers.solvers import Fit, Solver
from benchmarks.peers.tasks import Instance

# Forked, so that the data need not be sent; the parent has started no threads.
_FORK = multiprocessing.get_context("fork")


class Timed(NamedTuple):
    """``processor`` are the seconds of all threads of the solver, which others do not add to."""

    seconds: float
    processor: float
    fit: Fit


class SolverError(Exception):
    """What went wrong, in words for the table."""


class Worker:
    """``run(setting, limit)`` gives the seconds and the fit; None after ``limit`` seconds."""

    def __init__(self, solver: Solver, instance: Instance, limit: float) -> None:
        self.link, other = _FORK.Pipe()
        self.process = _FORK.Process(target=_serve, args=(other, solver, instance), daemon=True)
        self.process.start()
        other.close()
        if self._answer(limit) is None:
            raise SolverError(f"not ready after {limit:.0f} s")

    def run(self, setting: float, limit: float) -> Timed | None:
        self.link.send(setting)
        return self._answer(limit)

    def _answer(self, limit: float) -> Any:
        try:
            answer = self.link.recv() if self.link.poll(limit) else None
        except EOFError:
            self.process.join()
            raise SolverError(f"crashed with code {self.process.exitcode}") from None
        if answer is None:
            self.end()
        if isinstance(answer, str):
            raise SolverError(answer)
        return answer

    def end(self) -> None:
        self.link.close()
        self.process.kill()
        self.process.join()


def _serve(link: Any, solver: Solver, instance: Instance) -> None:
    warnings.simplefilter("ignore")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    try:
        fit = solver.start(instance)
        fit(solver.settings[0])
        link.send(True)
        while True:
            setting = link.recv()
            began, worked = time.perf_counter(), time.process_time()
            result = fit(setting)
            elapsed = time.perf_counter() - began
            link.send(Timed(elapsed, time.process_time() - worked, result))
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:
        link.send(f"{type(error).__name__}: {error}"[:300])
