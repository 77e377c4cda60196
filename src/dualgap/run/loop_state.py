"""What a checkpoint keeps of a run, and how a run goes on from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.files.identity import native
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof.certificate import evaluate
from dualgap.steps.base import Start

_NUMBERS = (
    "updates", "iterations", "operations", "rounds", "looks", "idle", "idle_rounds", "doubts",
    "doubtful", "primal", "dual",
)  # fmt: skip


def facts(identity: dict[str, str], tol: float) -> dict[str, Any]:
    """What a file says besides the state; ``tol``: at which a method was chosen."""
    return {"identity": identity, "tol": tol, "dualgap": _version()}


def taken(loop: Any) -> dict[str, Any]:
    """The state of a loop and of its run, between two rounds."""
    return {
        "loop": {name: getattr(loop, name) for name in _NUMBERS},
        "seconds": loop.seconds,
        "history": json.dumps(plain_rows(loop.history.rows)),
        "best": loop.best,
        "visited": loop.visited,
        "weights": loop.weights,
        "rng": json.dumps(native(loop.rng.bit_generator.state)),
        "run": loop.run.state(),
    }


def _version() -> str:
    import dualgap  # late: it imports this file

    return dualgap.__version__


def plain_rows(rows: list[tuple[float, ...]]) -> list[list[float]]:
    """Rows of Python's own numbers, which JSON keeps as they are."""
    return [[native(number) for number in row] for row in rows]


@dataclass(frozen=True)
class Found:
    """A state that was read."""

    state: dict[str, Any]

    @staticmethod
    def of(state: dict[str, Any] | None) -> Found | None:
        return None if state is None else Found(state)

    @property
    def tol(self) -> float:
        return float(self.state["tol"])

    @property
    def is_exact(self) -> bool:
        """Whether the run itself was kept, by code that does the same as this."""
        return self.state["run"] is not None and self.state["dualgap"] == _version()

    def start(self, problem: Problem) -> Start:
        """Where a run starts that cannot be restored: at the best pair."""
        return Start() if self.is_exact else Start(*self._best(problem))

    def _best(self, problem: Problem) -> tuple[Floats, Floats]:
        coef, dual = (np.array(part, dtype=np.float64) for part in self.state["best"])
        if coef.shape != (problem.coef_size,) or dual.shape != (problem.dual_size,):
            raise ValueError("the checkpoint does not fit the problem")
        return coef, dual

    def put_back(self, loop: Any) -> None:
        """Make a loop that has not begun, with a run that was just started, go on from here."""
        try:
            self._put_back(loop)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the checkpoint does not fit the run ({error}): delete it") from error

    def _put_back(self, loop: Any) -> None:
        state = self.state
        for name in _NUMBERS:
            setattr(loop, name, state["loop"][name])
        for row in json.loads(state["history"]):
            loop.history.append(*row)
        loop.earlier, loop.stored = state["seconds"], len(loop.history)
        loop.best = self._best(loop.problem)
        loop.rng.bit_generator.state = json.loads(state["rng"])
        if not self.is_exact:
            loop.idle = loop.idle_rounds = 0
            loop.begin()
            return
        loop.visited[:] = state["visited"]
        if state["weights"] is not None:
            loop.weights = np.array(np.broadcast_to(state["weights"], loop.run.size))
        loop.run.restore(state["run"])
        if not loop.run.full_pass:  # these look at nothing before a round
            loop.pair = loop.run.pair()
            loop.certificate = evaluate(loop.problem, loop.pair)
