"""What a partition does when the driver asks: the tasks that every scheme shares.

A task (``engines/protocol.py``) takes the block, its dual variables, the number of the partition
and a message. It returns an answer and the dual variables from then on. It changes none of its
arguments, so an engine may repeat it, anywhere.
"""

from __future__ import annotations

import copy
import os
import time
from typing import Any

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.messages import (
    BlockFacts,
    Contribution,
    DualChange,
    GapTerms,
    Occurrences,
    ProofMessage,
    RoundAnswer,
    RoundMessage,
    compact,
)
from dualgap.linalg.validate import Floats
from dualgap.proof import free_features, terms
from dualgap.proof.balance_blocks import Tilts
from dualgap.proof.rounding import dual_sizes, error_of_z
from dualgap.samplings.eso import occurrences
from dualgap.steps.base import dual_start

# --- before the first round -----------------------------------------------------------------------


def measure(block: Block, a: Floats, k: int, digest: bool) -> tuple[BlockFacts, Floats]:
    """Measure the block, with a digest of its data on request, and make ``a`` feasible."""
    if a.shape != (block.dual_size,):
        raise ValueError(f"{block.dual_size} dual variables are needed, not {a.shape[0]}")
    sums = block.loss_sums(block.decision(block.features.origin))
    facts = BlockFacts(
        block.column_squares,
        block.column_counts,
        sums,
        block.entries,
        block.digest() if digest else "",
        float(np.abs(block.y).max()),
    )
    return facts, dual_start(block, a)


def count_occurrences(block: Block, a: Floats, k: int, message: None) -> tuple[Occurrences, Floats]:
    """How many samples of the block have each feature, and whether any has."""
    return Occurrences(*occurrences(block, np.zeros(block.n, np.int64))), a


def with_occurrences(block: Block, k: int, total: Occurrences) -> Block:
    """The block, which now knows how features are spread over all partitions."""
    block = copy.copy(block)
    block.occurrences = total
    return block


# --- in a round -----------------------------------------------------------------------------------


def advance(block: Block, a: Floats, k: int, message: RoundMessage) -> tuple[RoundAnswer, Floats]:
    """Evaluate the gap terms of the points, then make the steps."""
    began = time.perf_counter()
    found = [_gap_terms(block, a, w, proof=False, parts=False) for w in message.points]
    rng = np.random.default_rng((message.seed, message.number, k))
    a = np.array(a, dtype=np.float64)  # a copy: the round may have to be repeated
    inner = block.with_proximal(message.proximal)
    u = np.require(message.u, None, "A")
    change, visits, moved = message.steps(inner, a, u, message.work, rng)
    process = (os.uname().nodename, os.getpid())
    seconds = time.perf_counter() - began
    return RoundAnswer(compact(change), found, visits, moved, seconds, process), a


def _gap_terms(block: Block, a: Floats, w: Floats, *, proof: bool, parts: bool) -> GapTerms:
    of_each = np.empty(block.n if parts else 0)
    error = error_of_z(block, w, sharp=False) if proof else terms.no_error
    with np.errstate(over="ignore", invalid="ignore"):
        z = block.decision(w)
        sums = terms.sample_terms(
            block.loss, block.y, block.c, z, a, error, of_each, block.width, block.weight_error
        )
    return GapTerms(sums, of_each)


# --- in a proof -----------------------------------------------------------------------------------


def contribution(
    block: Block, a: Floats, k: int, change: DualChange
) -> tuple[Contribution, Floats]:
    """What changed dual variables add to u: computed from the data, not from updates."""
    feasible = changed_dual(block, a, change)
    return Contribution(compact(block.average(feasible)), dual_sizes(block, feasible)), a


def proof_terms(
    block: Block, a: Floats, k: int, message: ProofMessage
) -> tuple[list[GapTerms], Floats]:
    """The gap terms of each point, with bounds on their rounding errors."""
    feasible = changed_dual(block, a, message.change)
    wanted = message.parts
    return [_gap_terms(block, feasible, w, proof=True, parts=wanted) for w in message.points], a


def ballast_candidates(
    block: Block, a: Floats, k: int, change: DualChange
) -> tuple[tuple[Any, int], Floats]:
    """Changed dual variables that can make their balance exact, and the size of the partition."""
    return (free_features.ballast_candidates(block, changed_dual(block, a, change)), block.n), a


def adopt(block: Block, a: Floats, k: int, change: DualChange) -> tuple[None, Floats]:
    """Replace the dual variables of the partition by the changed ones."""
    return None, changed_dual(block, a, change)


def changed_dual(block: Block, a: Floats, change: DualChange) -> Floats:
    """The changed dual variables, which stay in the domain of the loss."""
    for share, t in change.tilts:
        tilts = tilts_of(block, a)
        tilts.mix(share)
        a = tilts.at(t)
    if change.shift != 0.0:
        moved, a = a - change.shift, np.empty(len(a))
        terms.projections(block.loss, block.y, moved, a)
    return a if change.factor == 1.0 else a * change.factor


def tilts_of(block: Block, a: Floats) -> Tilts:
    """Tilts along a constant whose norm over all partitions is 1."""
    return Tilts(block, np.full((block.n, 1), block.totals.n**-0.5), a)
