"""A matrix with a constant feature that is stored nowhere: by samples, and by features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.rules import announce, entry, fetch, foresee, place, span, within
from dualgap.linalg.dense import Dense
from dualgap.linalg.sparse import Sparse


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


class DenseBordered(Bordered):
    """The same for a dense base, with a single branch, which leaves loops vectorised."""

    def span(self, i):
        return 0, self.width + 1

    def place(self, i, t):
        return t

    def entry(self, i, t):
        return entry(self.base, i, t) if t < self.width else self.value


class Extended(NamedTuple):
    """``base`` has ``lines`` coordinates of ``width`` places; one more holds ``value`` at each."""

    base: Any
    value: float
    lines: int
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.lines + 1, self.width

    def span(self, i):
        if i == self.lines:
            return 0, self.width
        start, stop = span(self.base, i)
        return np.int64(start), np.int64(stop)

    def place(self, i, t):
        return np.int64(t) if i == self.lines else np.int64(place(self.base, i, t))

    def entry(self, i, t):
        return self.value if i == self.lines else entry(self.base, i, t)

    def within(self, i, low, high):
        if i == self.lines:
            return low, high
        start, stop = within(self.base, i, low, high)
        return np.int64(start), np.int64(stop)

    def announce(self, i):
        if i < self.lines:
            announce(self.base, i)

    def foresee(self, i, features):
        if i < self.lines:
            foresee(self.base, i, features)

    def fetch(self, i):
        if i < self.lines:
            fetch(self.base, i)


class DenseExtended(Extended):
    """The same for a dense base: what is read may be of no use, but loops have no branch."""

    def span(self, i):
        return 0, self.width

    def place(self, i, t):
        return t

    def entry(self, i, t):
        stored = entry(self.base, min(i, self.lines - 1), t)
        return stored if i < self.lines else self.value


def with_entry(base: Dense | Sparse, value: float) -> Bordered:
    """Each coordinate with a constant entry at the end."""
    kind = DenseBordered if isinstance(base, Dense) else Bordered
    return kind(base, value, base.shape[1])


def with_coordinate(base: Dense | Sparse, value: float) -> Extended:
    """All coordinates, and a constant one at the end."""
    kind = DenseExtended if isinstance(base, Dense) else Extended
    return kind(base, value, *base.shape)
