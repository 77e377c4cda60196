"""A sampling: weights over the coordinates, and how often they are recomputed.

The loop calls ``weights(scores)`` once ("never"), at each epoch or at each step, and then ``draw``,
which returns the indices of a block of updates. Coordinates with weight 0 are never drawn; weights
need not sum to 1. A ``SetSampling`` draws sets, for steps that update a whole set at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from dualgap.linalg import products
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.samplings.alias import draw_alias
from dualgap.samplings.scores import Scores

Refresh = Literal["never", "epoch", "step"]


class StepRule(NamedTuple):
    """Weights (1 − even)·factor_i·s_i/Σ factor·s + even·[s_i ≠ 0]/m, m the number of s_i ≠ 0.

    The score s_i is the gap contribution if ``by_gap``, else the residue.
    """

    by_gap: bool
    factor: Floats
    even: float


class Sampling(ABC):
    """A rule for which coordinates to update."""

    refresh: Refresh = "never"
    independent = True  # draws do not depend on each other, as theory for fixed probabilities asks
    sets = False  # whether a draw is a set of coordinates

    def bind(self, problem: Problem) -> Sampling:
        """The sampling with what it needs from a problem's data."""
        return self

    def refusal(self, problem: Problem, view: str) -> str | None:
        """Why this cannot draw the coordinates of a problem, in words; None if it can.

        ``view``: whether samples ("dual") or features ("primal") are the coordinates.
        """
        return None

    @abstractmethod
    def weights(self, scores: Scores) -> Floats:
        """Unnormalised probabilities; coherent: positive wherever the residue is not zero."""

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Any:
        """``count`` indices with these probabilities, with replacement."""
        if count == 1:
            total = np.cumsum(weights)
            found = np.searchsorted(total, total[-1] * rng.random(1), side="right")
            return np.minimum(found, np.flatnonzero(weights)[-1])  # rounding may pass the end
        return draw_alias(weights, rng.random(count), rng.random(count))

    def step_rule(self, scores: Scores) -> StepRule | None:
        """What ``weights`` does, if it has this form, from scores whose curvature and strength are
        those of the run: with ``refresh`` "step" the loop then makes many steps in one call."""
        return None

    def marginals(self, weights: Floats) -> Floats:
        """p_i, the probability that a draw visits coordinate i."""
        return np.asarray(weights / weights.sum())

    def eso(self, problem: Problem, weights: Floats) -> Floats:
        """v with E‖Σ_{i∈S} h_i x_i‖² ≤ Σ p_i v_i h_i², x_i in the metric of the penalty: each
        feature divided by the root of its strong convexity. Serial: Qu et al. 2014, Lemma 5."""
        return metric_squares(problem, np.ones(problem.d))


def metric_squares(problem: Problem, factors: Floats) -> Floats:
    """Σ_j factors_j x_ij²/μ_j for each sample, μ_j the strong convexity of the penalty."""
    out = np.empty(problem.n)
    products.weighted_squares(problem.rows, factors * problem.smoothness, out)
    return out


class SetSampling(Sampling):
    """A sampling whose draws are sets of samples; its weights are the marginals p_i.

    Sets depend on no score: of ``scores``, ``weights`` reads the length only.
    """

    sets = True

    def bind(self, problem: Problem) -> SetSampling:
        return self

    def refusal(self, problem: Problem, view: str) -> str | None:
        if view != "dual":
            return f"samples are the coordinates of {type(self).__name__}, and here features are"
        return None

    def marginals(self, weights: Floats) -> Floats:
        return weights

    @abstractmethod
    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
        """Independent sets with about ``count`` coordinates in all."""


class Sets(NamedTuple):
    """Set k is ``order[offsets[k] : offsets[k + 1]]``; without offsets, each index is a set."""

    order: Any
    offsets: Any = None

    def parts(self, most: int) -> Iterator[Sets]:
        """Consecutive pieces of about ``most`` indices; no set is cut."""
        if self.offsets is None:
            for start in range(0, len(self.order), most):
                yield Sets(self.order[start : start + most])
            return
        first = 0
        while first < len(self.offsets) - 1:
            begin = self.offsets[first]
            beyond = int(np.searchsorted(self.offsets, begin + most, side="right")) - 1
            last = max(beyond, first + 1)
            order = self.order[begin : self.offsets[last]]
            yield Sets(order, self.offsets[first : last + 1] - begin)
            first = last


def step_rule(sampling: Sampling, scores: Scores) -> StepRule | None:
    """The rule of a sampling that neither weighs nor draws in a way of its own."""
    kind = type(sampling)
    owner: Any = next(cls for cls in kind.__mro__ if "step_rule" in vars(cls))
    if kind.weights is not owner.weights or kind.draw is not Sampling.draw:
        return None
    return sampling.step_rule(scores)


def checked_draw(sampling: Sampling, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
    """What a sampling draws; a kernel would follow a wrong index out of bounds."""
    drawn = sampling.draw(weights, count, rng)
    sets = drawn if isinstance(drawn, Sets) else Sets(drawn)
    order = np.ascontiguousarray(sets.order, dtype=np.int64)
    if order.ndim != 1 or len(order) == 0 or order.min() < 0 or order.max() >= len(weights):
        raise ValueError(
            f"sampling {type(sampling).__name__} must draw a vector of indices below {len(weights)}"
        )
    if sets.offsets is None:
        return Sets(order)
    offsets = np.ascontiguousarray(sets.offsets, dtype=np.int64)
    if offsets[0] != 0 or offsets[-1] != len(order) or (np.diff(offsets) < 0).any():
        raise ValueError(f"sampling {type(sampling).__name__} drew sets with broken offsets")
    return Sets(order, offsets)


def checked_weights(sampling: Sampling, scores: Scores) -> Floats:
    """The weights of a sampling, at most 1, refused in words when they are not probabilities."""
    try:
        weights = np.array(sampling.weights(scores), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sampling {sampling!r} gave no weights: {error}") from error
    name = type(sampling).__name__
    if weights.shape != scores.gap.shape:
        raise ValueError(
            f"sampling {name} gave weights of shape {weights.shape} for "
            f"{len(scores.gap)} coordinates"
        )
    if not (weights.min(initial=0.0) >= 0.0 and weights.max(initial=0.0) < np.inf):
        raise ValueError(f"sampling {name} gave negative or non-finite weights")
    if sampling.sets:
        return weights  # marginals have a size
    largest = weights.max()
    if largest > 0.0:
        weights /= largest
    return weights
