"""A compressed sparse matrix: rows of a CSR matrix, or columns of a CSC matrix."""

from __future__ import annotations

from typing import Any, NamedTuple


class Sparse(NamedTuple):
    """Coordinate i has its entries at positions ``indptr[i]`` to ``indptr[i + 1]``."""

    indptr: Any
    indices: Any
    data: Any
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.width

    def span(self, i):
        return self.indptr[i], self.indptr[i + 1]

    def place(self, i, t):
        return self.indices[t]

    def entry(self, i, t):
        return self.data[t]
