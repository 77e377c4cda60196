"""A sample of all partitions, from whose minimum Newton steps start.

The driver solves it while the workers wait, so it has few samples for each feature: chance then
moves the minimum by so little that most of the first rounds are saved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dualgap.distributed.data.block import Block
from dualgap.distributed.driver.facts import DriverFacts
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.tuning import TUNING
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem


class _Draw(NamedTuple):
    """Which samples are drawn, of all partitions; ``first``: the number of each one's first."""

    size: int
    seed: int
    first: tuple[int, ...]


def count_samples(block: Block, a: Floats, k: int, message: None) -> tuple[int, Floats]:
    """How many samples a partition has (a task)."""
    return block.n, a


def drawn_samples(block: Block, a: Floats, k: int, draw: _Draw) -> tuple[Any, Floats]:
    """Features, targets and weights of those samples that a partition has (a task)."""
    rng = np.random.default_rng(draw.seed)
    places = np.sort(rng.choice(block.totals.n, draw.size, replace=False)) - draw.first[k]
    places = places[(places >= 0) & (places < block.n)]
    X = block.X[places] if storage.is_sparse(block.X) else np.asarray(block.X)[places]
    assert block.s is not None  # a block always has weights
    return (X, block.given_y[places], block.s[places]), a


def sample_start(engine: Engine, facts: DriverFacts, seed: int) -> Problem | None:
    """The problem on a sample of all partitions; None if that does not pay."""
    skeleton, n = facts.skeleton, facts.skeleton.totals.n
    if getattr(skeleton.loss, "quadratic", False):
        return None
    each = 12.0 * facts.entries / n  # bytes of a sample
    size = min(max(TUNING.sample_share * n, least_size(skeleton)), TUNING.sample_bytes / each)
    if not least_size(skeleton) <= size <= TUNING.largest_sample_share * n:
        return None
    ends = np.cumsum(engine.ask(count_samples, None))
    draw = _Draw(int(size), seed, (0, *ends[:-1].tolist()))
    rows, targets, weights = zip(*engine.ask(drawn_samples, draw))
    X: Any = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.vstack(rows)
    y, s = np.concatenate(targets), np.concatenate(weights)
    if not _is_usable(skeleton, y, s):
        return None
    spec, scaling = skeleton.spec, skeleton.constant or 1.0
    return Problem(X, y, spec.loss, spec.penalty, spec.lam, s, spec.intercept, scaling)


def least_size(skeleton: Block) -> float:
    """Samples so many times as numerous as features determine them."""
    return float(max(TUNING.samples_per_feature * skeleton.d, TUNING.least_samples))


def _is_usable(skeleton: Block, y: Any, s: Floats) -> bool:
    """Whether the sample has weight, and both classes if there are classes."""
    if not s.any():
        return False
    labels = skeleton.totals.labels
    return labels is None or len(np.unique(y[s > 0.0])) == len(labels)
