"""CoCoA+ and DisDCA: partitions make dual coordinate steps, one after the other, and add them up.

cocoa+   Local epochs of dual coordinate steps. All partitions may add what they find if each takes
         its own moves for K times as large as they are (Ma et al. 2015: γ = 1, σ' = K), and those
         of a rare feature for as many times as partitions have it (``steps/sets/shared.py``).
         D(a) never falls.
disdca   The same steps on τ samples of each partition (Yang 2013, the practical variant).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.schemes.base import BatchScheme, Scheme, draw_batch
from dualgap.distributed.tuning import TUNING
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.samplings.base import metric_squares
from dualgap.steps.coordinate.block_epoch import block_epoch
from dualgap.steps.coordinate.epoch import NOT_RECORDED, epoch
from dualgap.steps.coordinate.views import LossConjugate, PenaltyConjugate, refuse_overflow
from dualgap.steps.sets.shared import SharedConjugate


def local_epochs(
    block: Block, a: Floats, u: Floats, epochs: int, rng: np.random.Generator
) -> tuple[Floats, int, int]:
    """Passes over all samples, each in a new order."""
    return _dual_steps(block, a, u, [rng.permutation(block.n) for _ in range(epochs)])


def local_batch(
    block: Block, a: Floats, u: Floats, tau: int, rng: np.random.Generator
) -> tuple[Floats, int, int]:
    """Steps on τ samples."""
    return _dual_steps(block, a, u, [draw_batch(block, tau, rng)])


def _dual_steps(block: Block, a: Floats, u: Floats, orders: list[Any]) -> tuple[Floats, int, int]:
    found = block.occurrences.partitions
    # A feature that occurs nowhere may have any share.
    shares = np.where(found > 0.0, found, found.max(initial=1.0))
    even = bool((shares == shares[0]).all())
    if "moves" not in block.tables:
        scale = storage.divided(block.c, block.lam / shares[0] if even else block.lam)
        squares = metric_squares(block, np.ones(len(shares)) if even else shares)
        with np.errstate(over="ignore"):
            refuse_overflow(scale * squares)
        block.tables["moves"] = (scale, squares)
    smooth: Any
    if even:  # then u plus the share times the moves is one vector, which is faster to read
        smooth, v = PenaltyConjugate(block.penalty), u.copy()
    else:
        each = np.repeat(shares, block.width)
        smooth, v = SharedConjugate(block.penalty, storage.read_only(u), each), np.zeros(len(u))
    scale, squares = block.tables["moves"]
    fixed = block.rows, smooth, LossConjugate(block.loss, block.y), scale, squares
    moved = 0
    for order in orders:
        state = order, a, v
        if block.width == 1:
            moved += epoch(*fixed, *state, NOT_RECORDED)[0]
        else:
            moved += block_epoch(*fixed, *state)[0]
    return (v - u) / shares[0] if even else v, sum(map(len, orders)), moved


class CocoaPlus(Scheme):
    """Local epochs; ``work`` is their number."""

    steps = staticmethod(local_epochs)
    judges_work = True

    def first_work(self, skeleton: Block) -> int:
        return 1

    def max_work(self, skeleton: Block) -> int:
        return TUNING.max_local_epochs


class DisDCAScheme(BatchScheme):
    """The same steps on τ samples."""

    steps = staticmethod(local_batch)
