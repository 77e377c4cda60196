"""Newton steps on sums over all partitions: for few features, however many partitions there are.

The steps are those of one machine (``steps/newton/``), on gradients and Hessians that partitions
add up. A round is an exchange: 8·d²/2 bytes from each partition.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dualgap.distributed.data.block import Block
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.schemes.base import Scheme
from dualgap.linalg.validate import Floats
from dualgap.steps.newton.newton import Newton


@dataclass
class NewtonScheme(Scheme):
    """The scheme; ``driver/newton_rounds.py`` makes the rounds, whose state is kept here."""

    needs_strong_convexity = False

    known: dict[str, Any] = field(default_factory=dict)

    def refusal(self, skeleton: Block) -> str | None:
        return Newton().refusal(skeleton)

    def first_work(self, skeleton: Block) -> int:
        return 1

    def max_work(self, skeleton: Block) -> int:
        return 1

    def start(self, engine: Engine) -> None:
        """Partitions need no preparation."""

    def points(self, skeleton: Block, u: Floats) -> tuple[Floats, ...]:
        return ()  # the driver's own coefficients are the only ones

    def state(self) -> dict[str, Any]:
        return self.known

    def restore(self, state: dict[str, Any]) -> None:
        self.known = state
