"""Vectors on their way: only what is not zero, where that is less."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats


class Packed(NamedTuple):
    """``values`` at ``places`` of a vector of length ``size``; without places, all of them."""

    size: int
    values: Floats
    places: Any = None

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + (0 if self.places is None else self.places.nbytes))

    def add_to(self, total: Floats) -> None:
        """total += the vector."""
        if self.places is None:
            total += self.values
        else:
            total[self.places] += self.values


def packed(vector: Floats) -> Packed:
    """The vector in as few bytes as these two forms allow."""
    places = np.flatnonzero(vector)
    kind = np.int32 if len(vector) <= np.iinfo(np.int32).max else np.int64
    if len(places) * (8 + np.dtype(kind).itemsize) >= vector.nbytes:
        return Packed(len(vector), vector)
    return Packed(len(vector), vector[places], places.astype(kind))


def summed(parts: list[Packed]) -> Floats:
    """Their sum, added up in their order: the same bits whoever has sent them."""
    total = np.zeros(parts[0].size)
    for part in parts:
        part.add_to(total)
    return total
