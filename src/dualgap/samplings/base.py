"""What a sampling is: weights over the coordinates, and how often they are made anew.

The loop asks for ``weights(scores)`` once ("never"), at each epoch or at each step, and then for
``draw``: the indices of a block of updates. A weight of 0 means never; weights need not sum to 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np

from dualgap._validate import Floats
from dualgap.samplings.alias import draw_alias
from dualgap.steps.views import Scores

Refresh = Literal["never", "epoch", "step"]


class Sampling(ABC):
    """A rule for which coordinates to update."""

    refresh: Refresh = "never"

    @abstractmethod
    def weights(self, scores: Scores) -> Floats:
        """Unnormalised probabilities; coherent: positive wherever the residue is not zero."""

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Any:
        """``count`` indices with these probabilities, with replacement."""
        if count == 1:
            total = np.cumsum(weights)
            return np.searchsorted(total, total[-1] * rng.random(1), side="right")
        return draw_alias(weights, rng.random(count), rng.random(count))


def checked_weights(sampling: Sampling, scores: Scores) -> Floats:
    """The weights of a sampling, refused in words when they are not probabilities."""
    weights = np.ascontiguousarray(sampling.weights(scores), dtype=np.float64)
    name = type(sampling).__name__
    if weights.shape != scores.residue.shape:
        raise ValueError(
            f"sampling {name} gave weights of shape {weights.shape} for "
            f"{len(scores.residue)} coordinates"
        )
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ValueError(f"sampling {name} gave negative or non-finite weights")
    return weights
