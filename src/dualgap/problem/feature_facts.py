"""What a penalty says about each coefficient."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import conj_slope, domain, strength, value
from dualgap.linalg.validate import Floats
from dualgap.penalties.blocks import is_on_groups
from dualgap.penalties.structure import is_uniform
from dualgap.proof import group_terms

_WRITTEN_OUT = 1000  # coefficients; the facts of more, if all are alike, are stored once


class FeatureFacts(NamedTuple):
    """For each coefficient: the w_j that minimises g_j, the largest |w_j| that the penalty allows,
    the strong convexity μ_j of g_j, the interval on which g_j* is finite, and the least g_j."""

    origin: Floats
    reach: Floats
    strength: Floats
    low: Floats
    high: Floats
    least: Floats

    @property
    def free(self) -> Any:
        """Which features have no penalty: their g_j* is finite at 0 alone."""
        return (self.low == 0.0) & (self.high == 0.0)


def facts_of(penalty: Any, size: int) -> FeatureFacts:
    """The facts of each of ``size`` coefficients. Of groups they do not say where g* is finite,
    unless it is everywhere or at 0 alone: that is no interval."""
    if is_on_groups(penalty):
        return FeatureFacts(*group_terms.facts_of_coefficients(penalty))
    repeats = size > _WRITTEN_OUT and is_uniform(penalty)
    facts = FeatureFacts(*np.empty((6, 1 if repeats else size)))
    _fill_feature_facts(penalty, *facts)
    return _repeated(facts, size) if repeats else facts


@kernel
def _fill_feature_facts(
    penalty: Any, origin: Any, reach: Any, strengths: Any, low: Any, high: Any, least: Any
) -> None:
    for j in range(len(origin)):
        origin[j] = conj_slope(penalty, 0.0, 0.0, j)
        reach[j] = max(conj_slope(penalty, np.inf, 0.0, j), -conj_slope(penalty, -np.inf, 0.0, j))
        strengths[j] = strength(penalty, j)
        low[j], high[j] = domain(penalty, j)
        least[j] = value(penalty, origin[j], j)


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
