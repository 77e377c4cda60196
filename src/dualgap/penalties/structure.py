"""Questions about the structure of a penalty.

A penalty may answer them with methods or attributes of its own class; all are optional:

``uniform = True``              g_j is the same function for every feature
``half_square = True``          g(w) = ½‖w‖² exactly
``elastic_form``                the penalty as numbers, see ``ElasticForm``
``barrier = True``              g grows without limit at a bound, and falls for ever beyond it
``bounds``                      the pair (low, high) outside of which g_j is infinite
``on_features(features)``       the penalty on some of the features
``with_constant(d, weight)``    the penalty on d features and a constant one, see ``with_constant``
``per_class(width)``            the penalty on a coefficient for each feature and class
``without_strength(d)``         its constraints alone

``@declares(uniform=True)`` above the class says the same as ``uniform = True`` inside it, which
type checkers take for a field of the NamedTuple.

The functions below ask, and have defaults for penalties that do not answer. An inherited answer
does not count, because a subclass may override rules; ``half_square`` alone is inherited.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import conj_slope, domain, strength, value
from dualgap.linalg.validate import Floats, with_rules
from dualgap.penalties import blocks
from dualgap.penalties.arrays import refuse_arrays, repeated_facts
from dualgap.penalties.partition import check_groups

Kind = TypeVar("Kind", bound=type)

RULES = ("value", "conj", "conj_slope", "prox", "domain", "strength")
_WRITTEN_OUT = 1000  # coefficients; the facts of more, if all are alike, are stored once


def declares(**answers: Any) -> Callable[[Kind], Kind]:
    """A decorator that gives these attributes to the class of a penalty."""

    def declared(kind: Kind) -> Kind:
        for name, answer in answers.items():
            setattr(kind, name, answer)
        return kind

    return declared


def check_penalty(penalty: Any, d: int) -> Any:
    """The penalty, or the one that a name stands for, with its parameters checked."""
    from dualgap.penalties import REGISTRY  # late: the registry imports files that import this one

    rules = blocks.RULES if is_on_groups(penalty) else RULES
    penalty = with_rules(penalty, "penalty", REGISTRY, rules, "dualgap.penalties.L2()")
    if hasattr(penalty, "checked"):
        return penalty.checked(d)
    if is_on_groups(penalty):
        return penalty._replace(groups=check_groups(penalty.groups, d))
    return penalty


def check_base(penalty: Any, d: int) -> Any:
    """The same for the base of a penalty that asks it about single coefficients."""
    if is_on_groups(penalty):
        raise ValueError(
            f"penalty: {type(penalty).__name__} is on groups of features and cannot be the base of "
            "another penalty: give it its own weights, and positive=True for coefficients >= 0"
        )
    return check_penalty(penalty, d)


def are_same(one: Any, other: Any) -> bool:
    """Whether two penalties are equal for sure: of one class, with the same numbers."""
    plain = isinstance(one, tuple) and all(type(part) is float for part in one)
    return plain and type(one) is type(other) and bool(one == other)


def is_on_groups(penalty: Any) -> bool:
    """Whether its rules take blocks of coefficients."""
    return hasattr(type(penalty), "prox_into")


def is_uniform(penalty: Any) -> bool:
    """Whether the penalty declares that it treats all features alike; also for a class."""
    kind = penalty if isinstance(penalty, type) else type(penalty)
    return vars(kind).get("uniform") is True


def is_half_square(penalty: Any) -> bool:
    """Whether g(w) = ½‖w‖², so that prox and conjugate are linear."""
    return getattr(type(penalty), "half_square", False) is True


def has_barrier(penalty: Any) -> bool:
    """Whether a one-sided domain of g* comes from a barrier, not from the lack of a penalty."""
    return vars(type(penalty)).get("barrier") is True


def bounds(penalty: Any) -> tuple[Any, Any]:
    """The lower and the upper bounds of coefficients: numbers, or arrays with one per feature."""
    low, high = penalty.bounds if "bounds" in vars(type(penalty)) else (-inf, inf)
    return low, high


# --- the penalty on other coefficients ------------------------------------------------------------


def on_features(penalty: Any, features: Any) -> Any:
    """The penalty on some of the features of X; None if it does not say what that is."""
    if is_uniform(penalty):
        return penalty
    answer = _method(penalty, "on_features")
    return None if answer is None else answer(features)


def on_coefficients(penalty: Any, d: int, constant: float | None, width: int) -> Any:
    """A checked penalty on d features as one on all coefficients: with a constant feature of weight
    ``constant``, unless that is None, and ``width`` coefficients for each feature."""
    if is_on_groups(penalty):
        return blocks.blocks_of(penalty, constant, width)
    if constant is not None:
        penalty = with_constant(penalty, d, constant)
    return per_class(penalty, width)


def with_constant(penalty: Any, d: int, weight: float) -> Any:
    """A checked penalty on d features, with one more of weight 0 or 1 and without bounds."""
    answer = _method(penalty, "with_constant")
    if answer is not None:
        return answer(d, weight)
    if weight:
        refuse_arrays(penalty)
        return penalty
    from dualgap.penalties.weighted import Weighted  # late: it asks its base questions of this file

    weights = np.ones(d + 1)
    weights[d] = 0.0
    weights.flags.writeable = False
    return Weighted(penalty, weights)


def per_class(penalty: Any, width: int) -> Any:
    """The penalty on ``width`` coefficients for each feature; coefficient jK + k is feature j's."""
    if is_uniform(penalty) or width == 1:
        return penalty
    answer = _method(penalty, "per_class")
    if answer is not None:
        return answer(width)
    from dualgap.penalties.per_class import PerClass  # slower: it divides at each coefficient

    return PerClass(penalty, width)


def without_strength(penalty: Any, d: int) -> Any:
    """What is left of a penalty of strength 0: its bounds, and the features it switches off."""
    answer = _method(penalty, "without_strength")
    if answer is not None:
        return answer(d)
    from dualgap.penalties.l2 import L2
    from dualgap.penalties.weighted import Weighted

    return Weighted(L2(), np.zeros(d))


def _method(penalty: Any, name: str) -> Any:
    """The method of the penalty's own class; a field of that name is no method."""
    found = vars(type(penalty)).get(name)
    return getattr(penalty, name) if callable(found) else None


# --- the penalty as numbers, for solvers that cannot call a ``prox`` ------------------------------


class ElasticForm(NamedTuple):
    """g_j(w) = ω_j (l1 |w| + ½ l2 w²) for low_j ≤ w ≤ high_j, infinite elsewhere.

    ``weights`` holds the ω_j, or is None if all are 1; ω_j = ∞ demands w_j = 0. Bounds are numbers
    or arrays, or None if there are none.
    """

    l1: float
    l2: float
    weights: Any = None
    low: Any = None
    high: Any = None


def elastic_form(penalty: Any) -> ElasticForm | None:
    """The penalty as numbers; None if it has no such form, or does not say."""
    return penalty.elastic_form if "elastic_form" in vars(type(penalty)) else None


class _Numbers(NamedTuple):
    l1: Floats
    l2: Floats
    low: Floats
    high: Floats


class Shape(_Numbers):
    """g_j(w) = l1_j |w| + ½ l2_j w² for low_j ≤ w ≤ high_j, infinite elsewhere."""

    bounded: bool
    kinked: bool  # whether it has kinks or bounds at all

    def __new__(cls, *numbers: Floats) -> Shape:
        shape = super().__new__(cls, *numbers)
        shape.bounded = bool(np.isfinite(shape.low).any() or np.isfinite(shape.high).any())
        shape.kinked = shape.bounded or bool((shape.l1 > 0.0).any())
        return shape

    def slope(self, w: Floats, towards: Floats) -> float:
        """The directional derivative of Σ g_j at w."""
        if not self.kinked:
            return float(np.sum(self.l2 * w * towards))
        ahead = np.where(w != 0.0, np.sign(w), np.sign(towards))
        return float(np.sum((self.l1 * ahead + self.l2 * w) * towards))

    def slopes(self, w: Floats, move: Floats) -> Callable[[float], float]:
        """The slope along a move as a function of its length; at jumps, the slope before them."""
        if self.kinked:
            return lambda length: -self.slope(w + length * move, -move)
        first, bend = self.slope(w, move), float(np.sum(self.l2 * move * move))
        return lambda length: first + length * bend


def shape_of(penalty: Any, d: int) -> Shape | None:
    """The numbers of each of d features; None for a penalty without an ``elastic_form``."""
    form = elastic_form(penalty)
    if form is None:
        return None
    l1, l2 = np.full(d, form.l1), np.full(d, form.l2)
    low, high = np.full(d, -inf), np.full(d, inf)
    if form.weights is not None:
        weights, off = form.weights, np.isinf(form.weights)
        if off.any():
            weights = np.where(off, 0.0, weights)
            low[off] = high[off] = 0.0
        l1, l2 = weights * l1, weights * l2
    if form.low is not None:
        low, high = np.maximum(low, form.low), np.minimum(high, form.high)
    return Shape(l1, l2, low, high)


# --- what it says about each coefficient ----------------------------------------------------------


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
        from dualgap.proof import group_terms  # late: of groups alone

        return FeatureFacts(*group_terms.facts_of_coefficients(penalty))
    repeats = size > _WRITTEN_OUT and is_uniform(penalty)
    facts = FeatureFacts(*np.empty((6, 1 if repeats else size)))
    _fill_feature_facts(penalty, *facts)
    return repeated_facts(facts, size) if repeats else facts


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
