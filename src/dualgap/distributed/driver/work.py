"""How much work a round has: as much as hides the time of the exchange, if it gains anything.

What "auto" decides depends on the clock, and so does the result. Each decision is in the history,
column ``work``; a run with ``work=history.work`` repeats it bit for bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import whole


class WorkSchedule:
    """The work of each round, in the unit of the scheme: local epochs or τ.

    ``first``, ``most``: of "auto"; ``per_exchange``: seconds of work that "auto" aims at for each
    second of an exchange. ``judged``: "auto" keeps more work only while rounds gain by it.
    """

    def __init__(
        self, work: Any, first: int, most: int, per_exchange: float, *, judged: bool = False
    ) -> None:
        self.most, self.per_exchange, self.judged = most, per_exchange, judged
        self._gap, self._gains = np.nan, defaultdict[int, list[float]](list)
        self.auto = isinstance(work, str) and work == "auto"
        self.plan: list[int] = []
        if self.auto:
            self.now = min(first, most)
            self._warm = False
            return
        many = isinstance(work, Sequence) or np.ndim(work) == 1
        self.plan = [_checked(value, most) for value in (work if many else [work])]
        if not self.plan:
            raise ValueError('work must not be empty: give "auto", a number, or one for each round')
        self.now = self.plan[0]

    def of_round(self, number: int) -> int:
        """The work of round ``number``, counted from 0."""
        if not self.auto:
            self.now = self.plan[min(number, len(self.plan) - 1)]
        return self.now

    def learn(self, seconds: float, busy: float, gap: float = np.nan) -> None:
        """Adapt to how long a round took, how long its busiest process worked, and what the gap was
        before it."""
        if not self.auto:
            return
        if not self._warm:  # the first round loads kernels
            self._warm = True
            return
        if self.judged and not self._is_worth_it(gap):
            return
        wanted = self.per_exchange * max(seconds - busy, 0.0)
        if busy < wanted:
            self.now = min(2 * self.now, self.most)
        elif busy > TUNING.excess_before_halving * wanted and self.now > 1:
            self.now = self.now // 2

    def _is_worth_it(self, gap: float) -> bool:
        """Whether work may change: some rounds have shown what they gain. If it is hardly more than
        with half of the work, that is the most from now on."""
        if gap > 0.0 and self._gap > 0.0:
            self._gains[self.now].append(float(np.log(self._gap / gap)))
        self._gap = gap
        own, half = self._gains[self.now], self._gains[self.now // 2]
        if len(own) < TUNING.rounds_to_judge:
            return False
        if half and np.mean(own) < TUNING.worthy_gain * np.mean(half):
            self.now = self.most = self.now // 2
            return False
        return True


def busiest(answers: Sequence[Any]) -> float:
    """The seconds of the process that worked longest."""
    spent: dict[Any, float] = defaultdict(float)
    for answer in answers:
        spent[answer.process] += answer.seconds
    return max(spent.values(), default=0.0)  # a step may need no answer


def _checked(value: Any, most: int) -> int:
    number = float(value) if isinstance(value, (np.floating, float)) else value
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    found = whole(number, "work", 1)
    if found > most:
        raise ValueError(f"work must be at most {most} here, not {found}")
    return found
