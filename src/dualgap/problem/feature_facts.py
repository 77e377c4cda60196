"""What a penalty says about each coefficient on its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import is_uniform
from dualgap.proof import terms


class FeatureFacts(NamedTuple):
    """For each coefficient: the w_j that minimises g_j, the largest |w_j| that the penalty allows,
    the strong convexity μ_j of g_j, and the interval on which g_j* is finite."""

    origin: Floats
    reach: Floats
    strength: Floats
    low: Floats
    high: Floats

    @property
    def free(self) -> Any:
        """Which features have no penalty: their g_j* is finite at 0 alone."""
        return (self.low == 0.0) & (self.high == 0.0)


def feature_facts(penalty: Any, size: int) -> FeatureFacts:
    """The facts of each of ``size`` coefficients."""
    facts = FeatureFacts(*np.empty((5, 1 if is_uniform(penalty) else size)))
    terms.feature_facts(penalty, *facts)
    return _repeated(facts, size) if is_uniform(penalty) else facts


def distinct_facts(facts: FeatureFacts, penalty: Any) -> FeatureFacts:
    """The facts, of one coefficient only if the penalty treats all alike."""
    return FeatureFacts(*(fact[:1] for fact in facts)) if is_uniform(penalty) else facts


def _repeated(one: FeatureFacts, size: int) -> FeatureFacts:
    """The facts of one coefficient for all; those that kernels do not read take no memory."""
    every = FeatureFacts(*(np.broadcast_to(fact, size) for fact in one))
    every = every._replace(origin=every.origin.copy())
    if np.isfinite(one.low).any() or np.isfinite(one.high).any():
        every = every._replace(low=every.low.copy(), high=every.high.copy())
    return every
