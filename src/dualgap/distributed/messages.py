"""What travels between the driver and the partitions in a run: messages out, answers back.

Vectors as long as u travel as a ``CompactVector``: only their nonzeros, where that is less. Answers
are added up in pairs, as a tree whose shape depends on the number of partitions alone. So sums have
the same bits on any number of workers, wherever they are added.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
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

    def full(self) -> Floats:
        """The vector itself; read it only."""
        if self.places is None:
            return np.require(self.values, None, "A")
        out = np.zeros(self.size)
        out[self.places] = self.values
        return out

    def plus(self, other: CompactVector) -> CompactVector:
        """The sum of both."""
        if self.places is None or other.places is None:
            total = self.full().copy() if self.places is None else self.full()
            other.add_to(total)
            return CompactVector(self.size, total)
        places = np.union1d(self.places, other.places)
        values = np.zeros(len(places))
        for one in (self, other):
            values[np.searchsorted(places, one.places)] += one.values
        found = CompactVector(self.size, values, places)
        return found if found.nbytes < 8 * self.size else CompactVector(self.size, found.full())


def compact(vector: Floats) -> CompactVector:
    """The vector in the form that takes fewer bytes."""
    places = np.flatnonzero(vector)
    kind = np.int32 if len(vector) <= np.iinfo(np.int32).max else np.int64
    if len(places) * (8 + np.dtype(kind).itemsize) >= vector.nbytes:
        return CompactVector(len(vector), vector)
    return CompactVector(len(vector), vector[places], places.astype(kind))


def in_pairs(items: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
    """All items added up: neighbours first, then the sums of neighbours, and so forth."""
    while len(items) > 1:
        sums = [add(*pair) for pair in zip(items[0::2], items[1::2])]
        items = [*sums, *items[2 * len(sums) :]]
    return items[0]


def sum_of(vectors: Sequence[CompactVector]) -> Floats:
    """The sum of vectors of partitions."""
    found: CompactVector = in_pairs(vectors, CompactVector.plus)
    return found.full()


class WorkTime(NamedTuple):
    """How long a partition worked on an answer; processes that share a name share a core."""

    process: tuple[str, int]
    seconds: float


class PartitionSums(NamedTuple):
    """What samples add up to: vectors and numbers, which ``plus`` adds, and where that was done.

    ``sent``: the bytes that partitions have answered with.
    """

    vectors: tuple[CompactVector, ...]
    numbers: Floats
    times: tuple[WorkTime, ...]
    sent: int

    @classmethod
    def of_partition(cls, began: float, numbers: Any, *vectors: CompactVector) -> PartitionSums:
        """The answer of one partition, which began to work at this reading of ``perf_counter``."""
        own = np.asarray(numbers, dtype=np.float64)
        sent = own.nbytes + sum(each.nbytes for each in vectors)
        process = (os.uname().nodename, os.getpid())
        return cls(vectors, own, (WorkTime(process, time.perf_counter() - began),), sent)

    def plus(self, other: PartitionSums) -> PartitionSums:
        """The sums over the partitions of both."""
        vectors = tuple(one.plus(two) for one, two in zip(self.vectors, other.vectors))
        numbers = self.numbers + other.numbers
        return PartitionSums(vectors, numbers, self.times + other.times, self.sent + other.sent)


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
    """Sums over the samples of a partition; ``parts``: of each sample, empty unless wanted."""

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
    """Coefficients whose gap terms are wanted, at changed dual variables; ``parts``: also of each
    sample, which are as many numbers as there are samples."""

    points: tuple[Floats, ...]
    change: DualChange
    parts: bool = False
