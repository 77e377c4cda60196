"""Mini-batches of partitioned data: some samples of each partition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, whole
from dualgap.problem import Problem
from dualgap.samplings.base import Sets, SetSampling, metric_squares
from dualgap.samplings.eso import distributed_factors, occurrences, part_size
from dualgap.samplings.floyd import draw_subsets
from dualgap.samplings.labels import as_labels, same_arrays
from dualgap.samplings.scores import Scores


@dataclass(frozen=True, eq=False)
class Distributed(SetSampling):
    """``tau`` samples from each of ``c`` partitions (Qu et al. 2014, section 3.4).

    ``partition``: a label for each sample, or a list of index arrays that hold each sample once;
    by default partitions are of consecutive samples.

    The paper requires partitions of equal size. If they are not, samples of zeros complete them:
    each has s samples, the size of the largest (⌈n/c⌉ by default), and p_i = τ/s. Samples of zeros
    change no sum, and draws leave them out.
    """

    c: int = 0  # as many as ``partition`` has
    tau: int = 1
    partition: Any = field(default=None, repr=False, metadata={"later": True})

    def __post_init__(self) -> None:
        whole(self.tau, "tau", 1)
        if self.partition is None:
            whole(self.c, "c", 1)
            return
        labels = as_labels(self.partition, "partition")
        c = int(labels.max()) + 1
        if self.c not in (0, c):
            raise ValueError(f"partition has {c} parts, and c is {self.c}: leave c out")
        object.__setattr__(self, "c", c)
        object.__setattr__(self, "partition", labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distributed):
            return NotImplemented
        own, others = (self.c, self.tau), (other.c, other.tau)
        return own == others and same_arrays(self.partition, other.partition)

    def __hash__(self) -> int:
        return hash((self.c, self.tau))

    def refusal(self, problem: Problem, view: str) -> str | None:
        refusal = super().refusal(problem, view)
        if refusal is not None:
            return refusal
        n = problem.n
        if self.partition is not None and len(self.partition) != n:
            return f"it has {n} samples, and partition is for {len(self.partition)}"
        if self.c > n:
            return f"it has {n} samples, fewer than c={self.c} partitions"
        size = self._size(n)
        if self.tau > size:
            return f"each of c={self.c} partitions has {size} samples, fewer than tau={self.tau}"
        return None

    def labels(self, n: int) -> Any:
        """The partition of each of n samples."""
        return np.arange(n) // self._size(n) if self.partition is None else self.partition

    def _size(self, n: int) -> int:
        if self.partition is None:
            return part_size(n, self.c)
        return int(np.bincount(self.partition).max())

    def weights(self, scores: Scores) -> Floats:
        n = len(scores.residue)
        return np.full(n, self.tau / self._size(n))

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
        n, size = len(weights), self._size(len(weights))
        sets = max(1, round(count * size / (n * self.tau)))
        coins = rng.random((sets, self.c, self.tau))
        if self.partition is None:
            return Sets(*draw_subsets(n, size, coins))
        places, offsets = draw_subsets(self.c * size, size, coins)
        order = self._table(size)[places]
        is_sample = order >= 0
        return Sets(order[is_sample], np.concatenate([[0], np.cumsum(is_sample)])[offsets])

    def _table(self, size: int) -> Any:
        """The sample at each place of the partitions of ``size``; −1 for a sample of zeros."""
        counts = np.bincount(self.partition)
        starts = np.repeat(size * np.arange(len(counts)) - np.cumsum(counts) + counts, counts)
        table = np.full(self.c * size, -1)
        table[starts + np.arange(len(self.partition))] = np.argsort(self.partition, kind="stable")
        return table

    def eso(self, problem: Problem, weights: Floats) -> Floats:
        """Lemma 8."""
        size = self._size(problem.n)
        omega, active = occurrences(problem, self.labels(problem.n))
        return metric_squares(problem, distributed_factors(omega, active, size, self.tau))
