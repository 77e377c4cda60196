"""A matrix with a constant feature that is stored nowhere: by samples, and by features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap._rules import announce, entry, fetch, foresee, place, span, within


class Bordered(NamedTuple):
    """Each coordinate of ``base`` has one more entry: ``value``, at the place ``width``.

    Its position is the one after the last of the base's own, where the base must not be read.
    """

    base: Any
    value: float
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape[0], self.width + 1

    def span(self, i):
        start, stop = span(self.base, i)
        return start, stop + 1

    def place(self, i, t):
        # Signed throughout: Numba makes a float of what may be signed or not.
        return np.int64(place(self.base, i, t)) if t < span(self.base, i)[1] else self.width

    def entry(self, i, t):
        return entry(self.base, i, t) if t < span(self.base, i)[1] else self.value

    def within(self, i, low, high):
        start, stop = within(self.base, i, low, min(high, self.width))
        return start, stop + (1 if low <= self.width < high else 0)

    def announce(self, i):
        announce(self.base, i)

    def foresee(self, i, features):
        foresee(self.base, i, features)  # the constant one was met just before

    def fetch(self, i):
        fetch(self.base, i)


class Extended(NamedTuple):
    """``base`` has ``count`` coordinates of ``width`` places; one more holds ``value`` at each."""

    base: Any
    value: float
    count: int
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.count + 1, self.width

    def span(self, i):
        if i == self.count:
            return 0, self.width
        start, stop = span(self.base, i)
        return np.int64(start), np.int64(stop)

    def place(self, i, t):
        return np.int64(t) if i == self.count else np.int64(place(self.base, i, t))

    def entry(self, i, t):
        return self.value if i == self.count else entry(self.base, i, t)

    def within(self, i, low, high):
        if i == self.count:
            return low, high
        start, stop = within(self.base, i, low, high)
        return np.int64(start), np.int64(stop)

    def announce(self, i):
        if i < self.count:
            announce(self.base, i)

    def foresee(self, i, features):
        if i < self.count:
            foresee(self.base, i, features)

    def fetch(self, i):
        if i < self.count:
            fetch(self.base, i)
