"""The best model without features (``null_model.py``): what ``tol`` refers to with an intercept
that has no penalty, and where that intercept starts."""

from __future__ import annotations

import numpy as np

from dualgap.distributed.balancing import falling_root
from dualgap.distributed.block import Block
from dualgap.distributed.driver_facts import Whole
from dualgap.distributed.engine import Crew
from dualgap.linalg.validate import Floats
from dualgap.losses.softmax import Softmax
from dualgap.problem.baseline import above_null, above_rounding
from dualgap.proof import terms

_RAREST = -1e3  # the decision value of a class without weight


def pulls(block: Block, a: Floats, k: int, bs: Floats) -> tuple[Floats, Floats]:
    """−Σ c φ'(b) for each b: where it is 0, b is the best intercept of a model without features."""
    out = np.empty(block.n)
    found = []
    for b in bs:
        terms.slopes(block.loss, block.y, np.full(block.n, b), out)
        found.append(np.sum(block.c * out))
    return np.array(found), a


def shares(block: Block, a: Floats, k: int, told: None) -> tuple[Floats, Floats]:
    """The weight of each class."""
    return np.bincount(block.y.astype(int), block.c, block.width).astype(np.float64), a


def constants(block: Block, a: Floats, k: int, b: Floats) -> tuple[float, Floats]:
    """Σ c φ(b)."""
    return block.loss_value(np.tile(b, block.n)), a


def with_null_model(crew: Crew, facts: Whole) -> Whole:
    """With the objective of the best constant model, above what it cannot be, and its intercept."""
    frame = facts.frame
    if frame.width == 1:
        b = np.array([_root(crew, facts)])
    elif type(frame.loss) is Softmax:
        with np.errstate(divide="ignore"):
            b = np.maximum(np.log(sum(crew.ask(shares, None))), _RAREST)
    else:
        return facts
    losses = sum(crew.ask(constants, b))
    scale = above_null(losses + frame.origin_value - facts.floor, facts.scale)
    scale = above_rounding(scale, facts.floor)
    return facts._replace(scale=scale, intercept=b / frame.constant)


def _root(crew: Crew, facts: Whole) -> float:
    def pull(bs: Floats) -> Floats:
        return np.asarray(sum(crew.ask(pulls, bs)))

    stride = facts.target if facts.frame.loss.targets == "real" and facts.target else 1.0
    return falling_root(pull, stride * 1e-3, 1e-9)
