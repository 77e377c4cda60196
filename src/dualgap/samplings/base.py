"""What a sampling is: weights over the coordinates, and how often they are made anew.

The loop asks for ``weights(scores)`` once ("never"), at each epoch or at each step, and then for
``draw``: the indices of a block of updates. A weight of 0 means never; weights need not sum to 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np

from dualgap._validate import Floats
from dualgap.problem import Problem
from dualgap.samplings.alias import draw_alias
from dualgap.steps.views import Scores

Refresh = Literal["never", "epoch", "step"]


class Sampling(ABC):
    """A rule for which coordinates to update."""

    refresh: Refresh = "never"

    def refusal(self, problem: Problem, view: str) -> str | None:
        """What the problem lacks in this view ("dual" or "primal"), in words; None if nothing."""
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


def checked_draw(sampling: Sampling, weights: Floats, count: int, rng: np.random.Generator) -> Any:
    """The indices that a sampling draws; a kernel would follow a wrong one out of bounds."""
    order = np.ascontiguousarray(sampling.draw(weights, count, rng), dtype=np.int64)
    if order.ndim != 1 or len(order) == 0 or order.min() < 0 or order.max() >= len(weights):
        raise ValueError(
            f"sampling {type(sampling).__name__} must draw a vector of indices below {len(weights)}"
        )
    return order


def checked_weights(sampling: Sampling, scores: Scores) -> Floats:
    """The weights of a sampling, at most 1, refused in words when they are not probabilities."""
    try:
        weights = np.array(sampling.weights(scores), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sampling {sampling!r} gave no weights: {error}") from error
    name = type(sampling).__name__
    if weights.shape != scores.residue.shape:
        raise ValueError(
            f"sampling {name} gave weights of shape {weights.shape} for "
            f"{len(scores.residue)} coordinates"
        )
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ValueError(f"sampling {name} gave negative or non-finite weights")
    largest = weights.max()
    return weights / largest if largest > 0.0 else weights
