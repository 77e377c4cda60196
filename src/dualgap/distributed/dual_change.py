"""From the dual variables of a run to feasible ones that a proof can rest on.

An intercept without a penalty asks for Σ c a = 0: dual variables are shifted, those of many classes
tilted (``balancing.py``). L1 asks for |u_j| ≤ 1: then they are made shorter, which keeps the loss
finite. What partitions do here, whatever the driver has found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.block import Block
from dualgap.linalg.validate import Floats
from dualgap.proof import terms
from dualgap.proof.balance_blocks import Tilts
from dualgap.proof.ballast import candidates


class Change(NamedTuple):
    """a − ``shift``, or for many classes each of the ``tilts``, of (part to mix in, t), in turn;
    then times ``factor``."""

    shift: float = 0.0
    tilts: tuple[tuple[float, Floats], ...] = ()
    factor: float = 1.0


def changed(block: Block, a: Floats, change: Change) -> Floats:
    """Dual variables, in the domain of the loss."""
    for part, t in change.tilts:
        family = _tilts(block, a)
        family.mix(part)
        a = family.at(t)
    if change.shift != 0.0:
        moved, a = a - change.shift, np.empty(len(a))
        terms.projections(block.loss, block.y, moved, a)
    return a if change.factor == 1.0 else a * change.factor


def _tilts(block: Block, a: Floats) -> Tilts:
    """Those of a constant whose norm over all partitions is 1."""
    return Tilts(block, np.full((block.n, 1), block.shape.n**-0.5), a)


def keep(block: Block, a: Floats, k: int, change: Change) -> tuple[None, Floats]:
    """Make the changed dual variables those of the partition."""
    return None, changed(block, a, change)


def ballasts(block: Block, a: Floats, k: int, change: Change) -> tuple[Any, Floats]:
    """Those of the changed dual variables that can make their balance exact, and how many samples
    the partition has."""
    return (candidates(block, changed(block, a, change)), block.n), a


def imbalances(block: Block, a: Floats, k: int, ts: Floats) -> tuple[Floats, Floats]:
    """Σ c (a − t) for each t."""
    return np.array([np.sum(block.c * changed(block, a, Change(t))) for t in ts]), a


class Weighed(NamedTuple):
    """What a partition adds to Σ c a x of each class, to its squares, and to its derivative."""

    imbalance: Floats
    squares: Floats
    gram: Floats


def weigh(block: Block, a: Floats, k: int, change: Change) -> tuple[Weighed, Floats]:
    """Of changed dual variables."""
    own = changed(block, a, change)
    family = _tilts(block, own)
    gram = family.gram(np.zeros(family.size), own)
    return Weighed(family.imbalance(own), family.length(own) ** 2, gram), a
