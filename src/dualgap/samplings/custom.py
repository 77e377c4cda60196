"""A user's own probabilities, or a user's own rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.samplings.base import Refresh, Sampling
from dualgap.samplings.scores import Scores


@dataclass(frozen=True, eq=False)
class Custom(Sampling):
    """``rule``: a vector of weights, or a function of ``Scores`` that returns one.

    ``refresh`` says when a function is called again: "never", "epoch" or "step".
    """

    rule: Callable[[Scores], Any] | Any = field(repr=False)
    refresh: Refresh = "epoch"

    def __post_init__(self) -> None:
        if self.refresh not in ("never", "epoch", "step"):
            raise ValueError(f'refresh must be "never", "epoch" or "step", not {self.refresh!r}')
        if not callable(self.rule):
            object.__setattr__(self, "refresh", "never")  # a vector does not change

    def weights(self, scores: Scores) -> Floats:
        return np.asarray(self.rule(scores) if callable(self.rule) else self.rule, dtype=float)
