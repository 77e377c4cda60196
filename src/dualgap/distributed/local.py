"""What each partition does, whichever engine asks it to: block and dual variables in, answer out.

A task is a function of the block, its dual variables, the number of the partition and what all
partitions are told. It returns an answer and the dual variables from then on, and changes nothing
that it was given, so that an engine may repeat it, anywhere.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.block import Block
from dualgap.distributed.dual_change import Change, changed
from dualgap.distributed.packed import Packed, packed
from dualgap.distributed.proximal import Held, under
from dualgap.linalg import parallel
from dualgap.linalg.validate import Floats
from dualgap.proof import terms
from dualgap.proof.rounding import dual_sizes, error_of_z
from dualgap.samplings.eso import occurrences
from dualgap.steps.base import dual_start

Task = Callable[[Any, Any, int, Any], tuple[Any, Any]]


class Measures(NamedTuple):
    """Of a block: what its samples add to the facts about the whole.

    ``squares``, ``counts``: Σ x² and the entries of each feature; ``at_origin``: sums at the
    coefficients that the penalty alone would choose; ``entries``, ``digest``: of its data;
    ``target``: the largest |y|.
    """

    squares: Floats
    counts: Floats
    at_origin: terms.Sums
    entries: float
    digest: str
    target: float


def begin(block: Block, a: Floats, k: int, digest: bool) -> tuple[Measures, Floats]:
    """Measure the block, with a digest of its data if one is asked for; make sure that dual
    variables are feasible."""
    if a.shape != (block.dual_size,):
        raise ValueError(f"{block.dual_size} dual variables are needed, not {a.shape[0]}")
    sums = block.loss_sums(block.decision(block.features.origin))
    measures = Measures(
        block.column_squares,
        block.column_counts,
        sums,
        block.entries,
        block.digest() if digest else "",
        float(np.abs(block.y).max()),
    )
    return measures, dual_start(block, a)


class Occurrences(NamedTuple):
    """How many samples have each feature, in this partition or in all; ``parts``: in how many."""

    samples: Floats
    parts: Floats


def count(block: Block, a: Floats, k: int, told: None) -> tuple[Occurrences, Floats]:
    """ω of the block, and whether it has the feature at all."""
    return Occurrences(*occurrences(block, np.zeros(block.n, np.int64))), a


def informed(block: Block, told: Occurrences) -> Block:
    """The block, which knows how features are spread over all partitions."""
    block = copy.copy(block)
    block.spread = told
    return block


class Average(NamedTuple):
    """What a partition adds to u, and ‖c a‖/λ of each class."""

    u: Packed
    sizes: Floats


def average(block: Block, a: Floats, k: int, change: Change) -> tuple[Average, Floats]:
    """From the data, not from updates; of changed dual variables."""
    own = changed(block, a, change)
    return Average(packed(block.average(own)), dual_sizes(block, own)), a


class Judging(NamedTuple):
    """Coefficients to be judged; ``proof``: with bounds on rounding errors, and part by part;
    ``change``: of dual variables."""

    points: tuple[Floats, ...]
    proof: bool = False
    change: Change = Change()


class Judgement(NamedTuple):
    """Sums over the samples of a partition, and their parts of the gap if these are wanted."""

    sums: terms.Sums
    parts: Floats


def judge(block: Block, a: Floats, k: int, told: Judging) -> tuple[list[Judgement], Floats]:
    """The sums of the gap for each of some coefficients."""
    own = changed(block, a, told.change)
    return [_judged(block, own, w, told.proof) for w in told.points], a


def _judged(block: Block, a: Floats, w: Floats, proof: bool) -> Judgement:
    parts = np.empty(block.n if proof else 0)
    error = error_of_z(block, w, sharp=False) if proof else terms.no_error
    with np.errstate(over="ignore", invalid="ignore"):
        z = block.decision(w)
        sums = terms.sample_terms(
            block.loss, block.y, block.c, z, a, error, parts, block.width, block.weight_error
        )
    return Judgement(sums, parts)


class Round(NamedTuple):
    """What all partitions are told in a round: the steps to make, from which u, how many, and
    coefficients that are judged beforehand."""

    steps: Callable[[Block, Floats, Floats, int, np.random.Generator], Any]
    u: Floats
    work: int
    number: int
    seed: int
    points: tuple[Floats, ...] = ()
    held: Held | None = None


class Answer(NamedTuple):
    """What a partition says after a round; ``process`` tells which of them shared a core."""

    change: Packed
    judgements: list[Judgement]
    visits: int
    moved: int
    seconds: float
    process: tuple[str, int]


def advance(block: Block, a: Floats, k: int, told: Round) -> tuple[Answer, Floats]:
    """A round: judge, then move. ``a`` stays as it is, should the round have to be repeated."""
    began = time.perf_counter()
    judgements, _ = judge(block, a, k, Judging(told.points))
    rng = np.random.default_rng((told.seed, told.number, k))
    a = np.array(a, dtype=np.float64)
    acting = under(block, told.held)
    u = np.require(told.u, None, "A")
    change, visits, moved = told.steps(acting, a, u, told.work, rng)
    process = (os.uname().nodename, os.getpid())
    seconds = time.perf_counter() - began
    return Answer(packed(change), judgements, visits, moved, seconds, process), a


def alone(task: Task, block: Any, a: Any, k: int, told: Any) -> tuple[Any, Any]:
    """Run a task by one thread: engines run as many of them at once as there are cores.

    Dual variables that nobody knows are those to start from.
    """
    with parallel.at_most(1):
        if a is None and isinstance(block, Block):
            a = dual_start(block, None)
        return task(block, a, k, told)
