"""What a fit with each kind of Newton system should cost: rounds × (exchange + bytes + local work).

The constants are measurements (``tuning.py``) and not those of this cluster, so that the choice,
and with it every bit of the result, depends on the problem alone.
"""

from __future__ import annotations

from math import log2
from typing import NamedTuple

from dualgap.distributed.data.block import Block
from dualgap.distributed.tuning import TUNING


class Cost(NamedTuple):
    """Rounds, and what each of them takes: bytes from a partition, seconds of local work."""

    rounds: float
    nbytes: float
    local: float
    depth: float  # how many times these bytes travel one after the other, in a tree of sums

    @property
    def seconds(self) -> float:
        exchange = TUNING.exchange_seconds + self.depth * self.nbytes / TUNING.bytes_per_second
        return self.rounds * (exchange + self.local)


def cost_of(systems: str, skeleton: Block, entries: float) -> Cost:
    """The cost of a fit whose Newton systems are solved in this way; ``entries``: of all data."""
    totals, width, size = skeleton.totals, skeleton.width, float(skeleton.coef_size)
    share = 1.0 / TUNING.assumed_workers
    depth = 1.0 + log2(TUNING.assumed_workers)
    passes = share * entries * width * TUNING.entry_seconds
    if systems == "hessians":
        dense = 0.5 * totals.n * size**2 * TUNING.dense_product_seconds
        pairs = 0.5 * (entries * width) ** 2 / totals.n
        # Rows of few entries are multiplied one by one.
        local = passes + share * min(dense, pairs * TUNING.sparse_product_seconds)
        return Cost(TUNING.hessian_rounds, 4.0 * size**2, local, depth)
    rounds = {
        "products": TUNING.product_rounds,
        "classes": TUNING.class_rounds,
        "sets": TUNING.set_rounds,
    }
    return Cost(rounds[systems], 8.0 * size, passes, depth)
