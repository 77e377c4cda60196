"""What kernels read of X: three rules (``span``, ``place``, ``entry``) make all storages one thing.

``Dense``                a dense matrix, one coordinate per row; any strides, so a transpose is free
``Chosen``               some coordinates of a dense matrix
``Sparse``, ``Ones``     rows of a CSR matrix or columns of a CSC matrix; all entries 1
``Codes``                rows of numbers and of categories, each of which is a feature that is 1
``Bordered``, ``Extended``  with a constant feature that is stored nowhere: one more entry in each
                         coordinate (by samples), or one more coordinate (by features)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import announce, entry, expect, fetch, foresee, place, span, within


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


class Chosen(NamedTuple):
    """Some coordinates of a dense matrix: number i is ``data[where[i]]``."""

    data: Any
    where: Any

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.where), self.data.shape[1]

    def span(self, i):
        return 0, self.data.shape[1]

    def place(self, i, t):
        return t

    def entry(self, i, t):
        return self.data[self.where[i], t]

    def within(self, i, low, high):
        return low, high


class Sparse(NamedTuple):
    """Coordinate i has its entries at positions ``indptr[i]`` to ``indptr[i + 1]``."""

    indptr: Any
    indices: Any
    data: Any
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.width

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """Data, indices and their bounds as SciPy takes them."""
        return self.data, self.indices.view(self.indptr.dtype), self.indptr

    def span(self, i):
        # As wide as addresses are, or each entry costs a conversion.
        return np.int64(self.indptr[i]), np.int64(self.indptr[i + 1])

    def place(self, i, t):
        return self.indices[np.uint64(t)]  # without a sign, for the reason given in storage.py

    def entry(self, i, t):
        return self.data[np.uint64(t)]

    def within(self, i, low, high):
        start, stop = self.indptr[i], self.indptr[i + 1]
        if low > 0:
            start += np.searchsorted(self.indices[start:stop], low)
        if high < self.width:
            stop = start + np.searchsorted(self.indices[start:stop], high)
        return start, stop

    def announce(self, i):
        prefetch(self.indptr, i)

    def foresee(self, i, features):
        for t in range(self.indptr[i], self.indptr[i + 1]):
            expect(features, self.indices[t])

    def fetch(self, i):
        start, stop = self.indptr[i], self.indptr[i + 1]
        for t in range(start, min(stop, start + 64), 8):
            prefetch(self.data, t)
            prefetch(self.indices, t)


class Ones(Sparse):
    """One whose entries are all 1: what is stored of them need not be read."""

    def entry(self, i, t):
        return 1.0

    def fetch(self, i):
        start, stop = self.indptr[i], self.indptr[i + 1]
        for t in range(start, min(stop, start + 64), 16):
            prefetch(self.indices, t)


class Codes(NamedTuple):
    """Coordinate i is ``numbers[i]``, and 1 at the places ``codes[i]``, which rise.

    Passes read ``cells`` instead of codes, of which there are fewer: each stands for a combination
    of levels, which ``levels`` has as a row, counted from the first level. ``used`` numbers of
    each row count; there is at least one, so that the rules need no branch.
    """

    numbers: Any
    codes: Any
    cells: Any
    levels: Any
    used: int
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.codes), self.width

    def span(self, i):
        return 0, self.used + self.codes.shape[1]

    # One of both is read for nothing: with a branch around it each entry takes ten times as long.

    def place(self, i, t):
        code = self.codes[i, max(t - self.used, 0)]
        return np.uint32(t) if t < self.used else code

    def entry(self, i, t):
        number = self.numbers[i, min(t, self.numbers.shape[1] - 1)]
        return number if t < self.used else 1.0

    def within(self, i, low, high):
        start, stop = min(low, self.used), min(high, self.used)
        for code in self.codes[i]:
            start += 1 if code < low else 0
            stop += 1 if code < high else 0
        return start, stop

    def announce(self, i):
        pass

    def foresee(self, i, features):
        for code in self.codes[i]:
            expect(features, code)

    def fetch(self, i):
        prefetch(self.numbers[i], 0)
        prefetch(self.codes[i], 0)


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
