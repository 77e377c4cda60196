"""Copies of dual variables in the memory of Dask workers, which never pass through the driver.

A copy is made where the dual variables are, and another one on the next worker. From then on the
state of a partition is what ``recall`` returns there: a task without arguments, so the scheduler
may forget the rounds before. If that worker is lost, the other one still has the copy; if both are,
the partition starts again.
"""

from __future__ import annotations

import uuid
from typing import Any

from distributed import fire_and_forget, get_worker

# Of this process: dual variables by run and partition, then by the number of the copy.
_KEPT: dict[tuple[str, int], dict[int, Any]] = {}


class CopyLostError(RuntimeError):
    """The worker does not have the copy, since it is not the one that has made it."""


def keep(state: Any, k: int, *, run: str, number: int) -> str:
    """Keep a copy here, and of the older ones the last; returns the address of this worker."""
    own = _KEPT.setdefault((run, k), {})
    own[number] = state[1]
    for old in [each for each in own if each < number - 1]:
        del own[old]
    return str(get_worker().address)


def recall(run: str, k: int, number: int) -> tuple[None, Any]:
    """The copy as the state of a partition."""
    try:
        return None, _KEPT[run, k][number]
    except KeyError:
        raise CopyLostError(f"no copy {number} of partition {k} is here") from None


def drop(run: str) -> None:
    """Forget all copies of a run."""
    for key in [key for key in _KEPT if key[0] == run]:
        del _KEPT[key]


class Copies:
    """The copies of one run: their number, and the workers that have each of them."""

    def __init__(self, futures: Any) -> None:
        self.futures, self.run, self.number = futures, uuid.uuid4().hex[:8], 0
        self.places: dict[int, list[str]] = {}
        self.turn = 0

    def forget(self) -> None:
        """Dual variables were replaced: what workers have belongs to others."""
        self.places = {}

    def make(self, states: list[Any]) -> list[Any] | None:
        """Copy all states; returns those that are the copies, or None if some were lost."""
        numbers, number = range(len(states)), self.number + 1
        which = {"run": self.run, "number": number}
        here = [self._task(keep, k, None, states[k], k, **which) for k in numbers]
        homes = self._results(here)
        if homes is None:
            return None
        beside = [self._next(home) for home in homes]
        there = [self._task(keep, k, beside[k], states[k], k, **which) for k in numbers]
        others = self._results(there)
        if others is None:
            return None
        self.number, self.places = number, {k: [homes[k], others[k]] for k in numbers}
        found = [self._recall(k, homes[k]) for k in numbers]
        lost = self.futures.settle(found)
        for k in lost:
            found[k] = self.recalled(k)
        return None if any(state is None for state in found) else found

    def recalled(self, k: int) -> Any:
        """The state of a partition as it was copied last; None if no worker has the copy."""
        for place in self.places.get(k, []):
            if place in (self.futures.workers() or ()):
                state = self._recall(k, place)
                if not self.futures.settle([state]):
                    return state
        return None

    def close(self) -> None:
        """Let workers forget them, as soon as they can."""
        for place in {each for places in self.places.values() for each in places}:
            fire_and_forget(self._task(drop, 0, place, self.run))  # type: ignore[no-untyped-call]
        self.places = {}

    def _results(self, futures: list[Any]) -> Any:
        return None if self.futures.settle(futures) else self.futures.gather(futures)

    def _recall(self, k: int, place: str) -> Any:
        return self._task(recall, k, place, self.run, k, self.number)

    def _task(self, function: Any, k: int, place: str | None, *args: Any, **named: Any) -> Any:
        """Submit a task, to a certain worker if ``place`` is given and that worker still there."""
        self.turn += 1
        key = f"dualgap:{function.__name__}-{self.run}-{k}-{self.turn}"
        where = {} if place is None else {"workers": [place], "allow_other_workers": True}
        return self.futures.client.submit(function, *args, key=key, **where, **named)

    def _next(self, home: str) -> str:
        """The worker after this one."""
        workers = sorted(self.futures.workers() or [home])
        later = [worker for worker in workers if worker > home]
        return str((later or workers)[0])
