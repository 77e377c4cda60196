"""What the driver asks of a scheme, with defaults for methods that move dual variables.

To add one, see ``engines/protocol.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualgap.distributed.data.block import Block, ProximalTerm
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.messages import Occurrences, RoundAnswer, RoundMessage
from dualgap.distributed.tasks import advance, count_occurrences, with_occurrences
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.proof import terms
from dualgap.samplings.floyd import draw_subsets
from dualgap.steps.base import dual_refusal


class TailMean:
    """The mean of the coefficients of the later rounds.

    At kinks of the loss the last coefficients jump from side to side, and the objective of their
    mean is a few times closer to the optimum.
    """

    def __init__(self, size: int) -> None:
        self.sums, self.counts = np.zeros((2, size)), [0, 0]

    def add(self, w: Floats) -> None:
        if self.counts[1] >= max(1, 2 * self.counts[0]):
            self.sums[0], self.counts[0] = self.sums[1], self.counts[1]
            self.sums[1], self.counts[1] = 0.0, 0
        self.sums[1] += w
        self.counts[1] += 1

    @property
    def value(self) -> Floats:
        return np.asarray(self.sums.sum(axis=0) / sum(self.counts))


@dataclass
class Scheme(ABC):
    """A scheme, with its state in one run.

    ``skeleton`` is always the problem without its samples (``Block``), with the proximal term of
    the present outer step if there is one.
    """

    name: str
    mean: TailMean | None = None  # for losses with kinks
    how: str = ""  # what it does in a round, in words
    chosen: bool = False  # by "auto"

    # Seconds of local work for each second of exchange that work="auto" aims at.
    work_per_exchange: ClassVar[float] = TUNING.epoch_seconds_per_exchange
    # Whether work="auto" has to see that rounds gain by more work.
    judges_work: ClassVar[bool] = False
    # What a partition does in a round (``LocalSteps``): a function at the top level of its module.
    steps: ClassVar[Any]
    # Whether the penalty has to be strongly convex, so that others take outer proximal steps.
    needs_strong_convexity: ClassVar[bool] = True

    def refusal(self, skeleton: Block) -> str | None:
        """Why this scheme cannot solve the problem, in words."""
        return dual_refusal(skeleton)

    @abstractmethod
    def first_work(self, skeleton: Block) -> int:
        """The work of the first round with work="auto"."""

    @abstractmethod
    def max_work(self, skeleton: Block) -> int:
        """The largest work of a round."""

    def start(self, engine: Engine) -> None:
        """Prepare the partitions, before the first round."""
        total = (sum(counts) for counts in zip(*engine.ask(count_occurrences, None)))
        engine.transform(with_occurrences, Occurrences(*total))

    def before_round(
        self, engine: Engine, skeleton: Block, u: Floats, work: int, proximal: ProximalTerm | None
    ) -> None:
        """Update the coefficients that belong to u."""
        if skeleton.loss.gamma == 0.0:
            self.mean = self.mean or TailMean(skeleton.coef_size)
            self.mean.add(coefficients(skeleton, u))

    def run_round(self, engine: Engine, message: RoundMessage) -> list[RoundAnswer]:
        """One round: partitions change their dual variables and answer with the change of u."""
        return engine.run(advance, message)

    def points(self, skeleton: Block, u: Floats) -> tuple[Floats, ...]:
        """Coefficients worth a gap check, ∇g*(u) the last of them."""
        last = coefficients(skeleton, u)
        return (last,) if self.mean is None else (self.mean.value, last)

    def method(self, partitions: int) -> str:
        """What ``Solution.method`` says."""
        words = f"{self.name}, {self.how}" if self.how else self.name
        return f"{f'auto ({words})' if self.chosen else words} on {partitions} partitions"

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps besides u."""
        if self.mean is None:
            return {}
        return {"sums": self.mean.sums, "counts": tuple(self.mean.counts)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what a checkpoint has kept."""
        if state:
            self.mean = TailMean(state["sums"].shape[1])
            self.mean.sums, self.mean.counts = state["sums"], list(state["counts"])


class BatchScheme(Scheme):
    """Schemes that visit τ samples of each partition in a round; ``work`` is τ."""

    work_per_exchange = TUNING.batch_seconds_per_exchange

    def first_work(self, skeleton: Block) -> int:
        return max(1, skeleton.totals.largest // TUNING.first_batch_divisor)

    def max_work(self, skeleton: Block) -> int:
        return skeleton.totals.largest


def draw_batch(block: Block, tau: int, rng: np.random.Generator) -> Any:
    """τ samples of the partition, all sets equally likely.

    A smaller partition draws as if it had as many samples as the largest one, and leaves out those
    that it does not have.
    """
    return draw_subsets(block.n, block.totals.largest, rng.random((1, 1, tau)))[0]


def coefficients(skeleton: Block, u: Floats) -> Floats:
    """∇g*(u)."""
    w = np.empty(len(u))
    terms.conj_slopes(skeleton.penalty, u, w)
    return w
