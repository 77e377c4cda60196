"""A dense matrix, one coordinate per row; any strides, so that a transpose is free."""

from __future__ import annotations

from typing import Any, NamedTuple

from dualgap.compile.prefetch import prefetch


class Dense(NamedTuple):
    """Coordinate i is ``data[i]``."""

    data: Any

    @property
    def shape(self) -> tuple[int, int]:
        rows, width = self.data.shape
        return rows, width

    def span(self, i):
        return 0, self.data.shape[1]

    def place(self, i, t):
        return t

    def entry(self, i, t):
        return self.data[i, t]

    def within(self, i, low, high):
        return low, high

    def announce(self, i):
        pass

    def foresee(self, i, features):
        pass  # they are read in order

    def fetch(self, i):
        row = self.data[i]
        line = 64 // row.itemsize
        for t in range(0, min(len(row), 32 * line), line):
            prefetch(row, t)
