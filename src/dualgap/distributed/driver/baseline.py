"""The best model without features (``problem/baseline.py``), from sums over partitions.

``tol`` refers to its objective if there is an unpenalised intercept, which starts there.
"""

from __future__ import annotations

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.driver.balance import falling_root
from dualgap.distributed.driver.facts import DriverFacts
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.losses.softmax import Softmax
from dualgap.problem.baseline import above_null, above_rounding, best_logits, class_shares, slope_at


def falling_slopes(block: Block, a: Floats, k: int, bs: Floats) -> tuple[Floats, Floats]:
    """−Σ c φ'(b) for each b (a task): where it is 0, b is the best intercept."""
    return np.array([-slope_at(block, b) for b in bs]), a


def shares(block: Block, a: Floats, k: int, message: None) -> tuple[Floats, Floats]:
    """The weight of each class (a task)."""
    return class_shares(block), a


def losses_at(block: Block, a: Floats, k: int, b: Floats) -> tuple[float, Floats]:
    """Σ c φ(b) (a task)."""
    return block.loss_value(np.tile(b, block.n)), a


def with_baseline(engine: Engine, facts: DriverFacts) -> DriverFacts:
    """The facts with the scale and the intercept of the best model without features."""
    skeleton = facts.skeleton
    if skeleton.width == 1:
        b = np.array([_best_intercept(engine, facts)])
    elif type(skeleton.loss) is Softmax:
        b = best_logits(np.asarray(sum(engine.ask(shares, None))))
    else:
        return facts
    losses = sum(engine.ask(losses_at, b))
    scale = above_null(losses + skeleton.origin_value - facts.floor, facts.scale)
    scale = above_rounding(scale, facts.floor)
    return facts._replace(scale=scale, intercept=b / skeleton.constant)


def _best_intercept(engine: Engine, facts: DriverFacts) -> float:
    def slopes(bs: Floats) -> Floats:
        return np.asarray(sum(engine.ask(falling_slopes, bs)))

    stride = facts.target if facts.skeleton.targets.on_scale_of_y and facts.target else 1.0
    return falling_root(slopes, stride * TUNING.intercept_stride, TUNING.intercept_slope)
