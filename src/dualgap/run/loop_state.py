"""What a checkpoint keeps of a run, and how a run resumes from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.files.identity import native
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof.certificate import evaluate
from dualgap.steps.base import Start

# Attributes of a loop, under the names that files have had since 0.1.
_NUMBERS = {
    "updates": "updates",
    "iterations": "iterations",
    "operations": "operations",
    "rounds": "rounds",
    "looks": "scorings",
    "idle": "idle_updates",
    "idle_rounds": "idle_rounds",
    "doubts": "failed_proofs",
    "doubtful": "best_failed_gap",
    "primal": "primal",
    "dual": "dual",
}


def facts(identity: dict[str, str], tol: float) -> dict[str, Any]:
    """What a file holds besides the state; ``tol`` is the one for which a method was chosen."""
    return {"identity": identity, "tol": tol, "dualgap": _version()}


def state_of(loop: Any) -> dict[str, Any]:
    """The state of a loop and of its run, between two rounds."""
    return {
        **record_of(loop, _NUMBERS),
        "best": loop.best,
        "visited": loop.visited,
        "weights": loop.weights,
        "rng": json.dumps(native(loop.rng.bit_generator.state)),
        "run": loop.run.state(),
    }


def _version() -> str:
    import dualgap  # late: it imports this file

    return dualgap.__version__


# --- also for the driver of a distributed run -----------------------------------------------------


def record_of(loop: Any, numbers: dict[str, str]) -> dict[str, Any]:
    """Numbers, time and history of a loop; ``numbers``: names in the file, and attributes."""
    rows = [[native(number) for number in row] for row in loop.history.rows]
    return {
        "loop": {name: getattr(loop, own) for name, own in numbers.items()},
        "seconds": loop.seconds,
        "history": json.dumps(rows),
    }


def restore_record(loop: Any, numbers: dict[str, str], state: dict[str, Any]) -> None:
    """The inverse of ``record_of``."""
    for name, own in numbers.items():
        setattr(loop, own, state["loop"][name])
    for row in json.loads(state["history"]):
        loop.history.append(*row)
    loop.earlier_seconds = state["seconds"]


@contextmanager
def must_fit() -> Iterator[None]:
    """Turn errors of a state that does not fit into one that says so."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the checkpoint does not fit the run ({error}): delete it") from error


# --- one machine ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SavedRun:
    """The state of a run, as read from a checkpoint."""

    state: dict[str, Any]

    @staticmethod
    def of(state: dict[str, Any] | None) -> SavedRun | None:
        return None if state is None else SavedRun(state)

    @property
    def tol(self) -> float:
        return float(self.state["tol"])

    @property
    def is_exact(self) -> bool:
        """Whether the run itself was kept, by this version of the code."""
        return self.state["run"] is not None and self.state["dualgap"] == _version()

    def start(self, problem: Problem) -> Start:
        """Where the run starts: at the best pair, if it cannot be restored exactly."""
        return Start() if self.is_exact else Start(*self._best(problem))

    def _best(self, problem: Problem) -> tuple[Floats, Floats]:
        coef, dual = (np.array(part, dtype=np.float64) for part in self.state["best"])
        if coef.shape != (problem.coef_size,) or dual.shape != (problem.dual_size,):
            raise ValueError("the checkpoint does not fit the problem")
        return coef, dual

    def restore(self, loop: Any) -> None:
        """Make a loop that has not begun, with a run that was just started, resume from here."""
        with must_fit():
            self._restore(loop)

    def _restore(self, loop: Any) -> None:
        state = self.state
        restore_record(loop, _NUMBERS, state)
        loop.stored_rows = len(loop.history)
        loop.goal.note(loop.primal)
        loop.best = self._best(loop.problem)
        loop.rng.bit_generator.state = json.loads(state["rng"])
        if not self.is_exact:
            loop.idle_updates = loop.idle_rounds = 0
            loop.begin()
            return
        loop.visited[:] = state["visited"]
        if state["weights"] is not None:
            loop.weights = np.array(np.broadcast_to(state["weights"], loop.run.size))
        loop.run.restore(state["run"])
        if not loop.run.full_pass:  # a full pass needs no pair before a round
            loop.pair = loop.run.pair()
            loop.certificate = evaluate(loop.problem, loop.pair)
