"""Newton steps on sums over all partitions: for few features, however many partitions there are.

The steps are those of one machine (``steps/newton/``), on gradients and Hessians that partitions
add up. A round is an exchange: 8·d²/2 bytes from each partition, or 8·d where systems are solved by
products with the Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dualgap.distributed.data.block import Block
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.schemes.base import Scheme
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.steps.newton.newton import Newton


def has_many_features(skeleton: Block) -> bool:
    """Whether Hessians would take too many bytes."""
    return skeleton.coef_size > TUNING.newton_features


def solved_by_products(skeleton: Block) -> bool:
    """Whether Newton systems are solved by products with the Hessian, an exchange for each."""
    shape = skeleton.penalty_shape
    smooth = skeleton.width == 1 and skeleton.loss.differentiable
    return has_many_features(skeleton) and smooth and shape is not None and not shape.kinked


@dataclass
class NewtonScheme(Scheme):
    """The scheme; ``driver/newton_rounds.py`` makes the rounds, whose state is kept here."""

    needs_strong_convexity = False

    known: dict[str, Any] = field(default_factory=dict)

    def refusal(self, skeleton: Block) -> str | None:
        refusal = Newton().refusal(skeleton)
        if refusal is None and has_many_features(skeleton) and not solved_by_products(skeleton):
            refusal = (
                f"Hessians of {skeleton.coef_size} coefficients would be sent, more than "
                f"{TUNING.newton_features}; products in their place need one decision value, a "
                "smooth loss and an L2 penalty"
            )
        return refusal

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
