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
from dualgap.distributed.schemes.costs import cost_of
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.steps.newton.newton import Newton
from dualgap.steps.newton_cg.class_run import class_refusal

# How Newton systems can be solved, and what ``solution.method`` says of it.
HOW = {
    "hessians": "with Hessians of {size:,} coefficients",
    "products": "by products with the Hessian of {size:,} coefficients",
    "classes": "by products with the Hessian of {size:,} coefficients of {width} classes",
    "sets": "with Hessians on sets of {size:,} coefficients",
}


def possible_systems(skeleton: Block) -> list[str]:
    """The ways that fit the problem."""
    shape, loss = skeleton.penalty_shape, skeleton.loss
    if shape is None or Newton().refusal(skeleton) is not None:
        return []
    found = ["hessians"] if skeleton.coef_size <= TUNING.newton_features else []
    if skeleton.width > 1:
        return [*found, "classes"] if class_refusal(skeleton) is None else found
    if loss.differentiable and not shape.kinked:
        found.append("products")
    elif loss.differentiable and not found:
        found.append("sets")
    return found


def cheapest_systems(skeleton: Block, entries: float) -> str:
    """The way that should take the fewest seconds; ``entries``: of all data."""
    ways = possible_systems(skeleton)
    return min(ways, key=lambda way: cost_of(way, skeleton, entries).seconds)


def description(way: str, skeleton: Block, entries: float) -> str:
    """What is done in which rounds, in words."""
    words = HOW[way].format(size=skeleton.coef_size, width=skeleton.width)
    if way == "sets":
        return words
    return f"{words}, {in_bytes(cost_of(way, skeleton, entries).nbytes)} a round and partition"


def in_bytes(number: float) -> str:
    """As people write it."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000.0:
            return f"{number:.3g} {unit}"
        number /= 1000.0
    return f"{number:.3g} GB"


@dataclass
class NewtonScheme(Scheme):
    """The scheme; ``driver/newton_rounds.py`` makes the rounds, whose state is kept here."""

    needs_strong_convexity = False

    known: dict[str, Any] = field(default_factory=dict)

    def refusal(self, skeleton: Block) -> str | None:
        refusal = Newton().refusal(skeleton)
        if refusal is None and not possible_systems(skeleton):
            refusal = (
                f"Hessians of {skeleton.coef_size} coefficients would be sent, more than "
                f"{TUNING.newton_features}; products in their place need a smooth loss, and an L2 "
                "penalty if there are many classes"
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
