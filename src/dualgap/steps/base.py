"""What a step is: whether it fits a problem and a sampling, and how to start a run.

A run, which the loop in ``loop.py`` drives, has ``size`` (coordinates), ``entries`` (mean number of
entries of one), ``pair()``, ``scores(pair, certificate)``, ``advance(order, offsets)``,
``adapt(pair, certificate)`` and ``refresh()``; ``coordinate.CoordinateRun`` says what each does.
It may also have ``shed()``, called before a proof: to let go of memory that ``refresh()``, which
follows if the proof falls short, fills anew; ``close()``, called when the run is over;
``asks_for_parts``, False if it does not ask certificates what each sample adds to the gap;
``repeated``, seconds that went into work done before, which the history leaves out; ``rounds``, how
many rounds of the loop it has made where that is not one for each ``advance``;
``adaptive(rule)``, many steps that each look at all coordinates
(``adaptive_steps.AdaptiveSteps``); and, for checkpoints, ``state()``, all that the run has come to
between two rounds, as a dict of arrays, numbers, tuples and dicts, with ``restore(state)``, which
makes a run that was just started go on from there, bit for bit. A run without these starts anew
from the best pair.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.start import Start


class Setting(NamedTuple):
    """What a run is told besides the problem and its start.

    ``sampling``   as bound to the problem; a run whose steps depend on probabilities needs it
    ``target``     the gap at which the loop will stop
    ``n_threads``  how many threads may work on a set of coordinates
    ``max_epochs`` the rounds after which the loop will stop; None: no limit
    ``rng``        for a run that draws by itself
    """

    sampling: Any = None
    target: float = 0.0
    n_threads: int = 1
    max_epochs: int | None = None
    rng: np.random.Generator | None = None


def vector(state: dict[str, Any], name: str, length: int) -> Floats:
    """A vector of a stored state, refused where a kernel would read on past its end."""
    found = np.array(state[name], dtype=np.float64)
    if found.shape != (length,):
        raise ValueError(f"{name} has shape {found.shape} where {length} entries are needed")
    return found


@contextmanager
def ending(run: Any) -> Iterator[None]:
    """Close the run at the end, however that comes about."""
    try:
        yield
    finally:
        if hasattr(run, "close"):
            run.close()


class Step(ABC):
    """A rule for what an update does."""

    usual = "cd-gap-decay"  # the method whose sampling ``solve(problem, step)`` takes

    @abstractmethod
    def refusal(self, problem: Problem) -> str | None:
        """What the problem lacks for this step, in words; None when it lacks nothing."""

    def mismatch(self, sampling: Any) -> str | None:
        """What keeps this step from a sampling, in words; None when nothing does."""
        if sampling.sets:
            return f"it visits one coordinate at a time, and {type(sampling).__name__} draws sets"
        return None

    def view_of(self, problem: Problem) -> str:
        """Whether samples ("dual") or features ("primal") are the coordinates."""
        return "dual"

    @abstractmethod
    def describe(self, problem: Problem) -> str:
        """What an update does, in a few words."""

    @abstractmethod
    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> Any:
        """A run."""
