"""A compressed sparse matrix: rows of a CSR matrix, or columns of a CSC matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import expect


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
