"""How much work a round has: as much as hides the time that the exchange takes.

What "auto" decides depends on the clock, and so does its result. Each decision is in the history,
column ``work``: given back as ``work=history.work``, it repeats the run, bit for bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from dualgap.distributed.local import Answer
from dualgap.linalg.validate import whole

_ROOM = 4.0  # how much more than that may be before a round gets less


class Pace:
    """The work of each round; its unit is that of the scheme.

    ``hidden``: how many seconds of it there should be for each second of an exchange.
    """

    def __init__(self, work: Any, first: int, most: int, hidden: float) -> None:
        self.most, self.hidden = most, hidden
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

    def learn(self, seconds: float, busy: float) -> None:
        """How long a round took, and the busiest worker."""
        if not self.auto:
            return
        if not self._warm:  # the first round loads kernels
            self._warm = True
            return
        wanted = self.hidden * max(seconds - busy, 0.0)
        if busy < wanted:
            self.now = min(2 * self.now, self.most)
        elif busy > 2.0 * _ROOM * wanted and self.now > 1:
            self.now = self.now // 2


def busiest(answers: list[Answer]) -> float:
    """The seconds of the process that had most to do."""
    spent: dict[Any, float] = defaultdict(float)
    for answer in answers:
        spent[answer.process] += answer.seconds
    return max(spent.values())


def _checked(value: Any, most: int) -> int:
    number = float(value) if isinstance(value, (np.floating, float)) else value
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    found = whole(number, "work", 1)
    if found > most:
        raise ValueError(f"work must be at most {most} here, not {found}")
    return found
