"""What travels between the driver and the partitions in a run: messages out, answers back.

Vectors as long as u travel as a ``CompactVector``: only their nonzeros, where that is less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import Block, ProximalTerm
from dualgap.linalg.validate import Floats
from dualgap.proof import terms


class CompactVector(NamedTuple):
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


def compact(vector: Floats) -> CompactVector:
    """The vector in the form that takes fewer bytes."""
    places = np.flatnonzero(vector)
    kind = np.int32 if len(vector) <= np.iinfo(np.int32).max else np.int64
    if len(places) * (8 + np.dtype(kind).itemsize) >= vector.nbytes:
        return CompactVector(len(vector), vector)
    return CompactVector(len(vector), vector[places], places.astype(kind))


def sum_in_order(vectors: list[CompactVector]) -> Floats:
    """Their sum in the order of partitions: the same bits on any number of workers."""
    total = np.zeros(vectors[0].size)
    for vector in vectors:
        vector.add_to(total)
    return total


# --- before the first round -----------------------------------------------------------------------


class BlockFacts(NamedTuple):
    """What the samples of a partition add to the facts about all samples.

    ``squares``, ``counts``: Σ x² and the entries of each feature; ``at_origin``: sums at the
    coefficients that the penalty alone would choose; ``entries``, ``digest``: of the data;
    ``target``: the largest |y|.
    """

    squares: Floats
    counts: Floats
    at_origin: terms.Sums
    entries: float
    digest: str
    target: float


class Occurrences(NamedTuple):
    """How many samples, and how many partitions, have each feature."""

    samples: Floats
    partitions: Floats


# --- in a round -----------------------------------------------------------------------------------


class GapTerms(NamedTuple):
    """Sums over the samples of a partition; ``parts``: of each sample, empty unless for a proof."""

    sums: terms.Sums
    parts: Floats


# (block, dual variables, u, work, generator) -> (change of u, samples visited, samples moved);
# changes the dual variables in place.
LocalSteps = Callable[[Block, Floats, Floats, int, np.random.Generator], tuple[Floats, int, int]]


class RoundMessage(NamedTuple):
    """The message of a round: which steps to make, from which u, and how much work.

    ``points``: coefficients whose gap terms are wanted, at the dual variables before the steps;
    ``proximal``: the proximal term of the outer step, if there is one.
    """

    steps: LocalSteps
    u: Floats
    work: int
    number: int
    seed: int
    points: tuple[Floats, ...] = ()
    proximal: ProximalTerm | None = None


class RoundAnswer(NamedTuple):
    """What a partition answers. ``change``: of u; ``process``: those that share it share a core."""

    change: CompactVector
    gap_terms: list[GapTerms]
    visits: int
    moved: int
    seconds: float
    process: tuple[str, int]


# --- in a proof -----------------------------------------------------------------------------------


class DualChange(NamedTuple):
    """How dual variables become feasible: a − ``shift``, or for many classes each of ``tilts``, a
    pair (share to mix in, t), in turn; then times ``factor``."""

    shift: float = 0.0
    tilts: tuple[tuple[float, Floats], ...] = ()
    factor: float = 1.0


class Contribution(NamedTuple):
    """What a partition adds to u, and ‖c a‖/λ of each class, which bounds the rounding errors."""

    u: CompactVector
    sizes: Floats


class ProofMessage(NamedTuple):
    """Coefficients whose gap terms are wanted, at changed dual variables."""

    points: tuple[Floats, ...]
    change: DualChange
