"""AdaSDCA+: residues once an epoch, then a guess of how they fall. Epoch O(nnz + n log n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dualgap.linalg.validate import Floats, number
from dualgap.problem import Problem
from dualgap.samplings.base import Refresh, Sampling
from dualgap.samplings.clocks import draw_decaying
from dualgap.samplings.importance import Importance
from dualgap.samplings.residue import Residue
from dualgap.samplings.scores import Scores


@dataclass(frozen=True)
class ResidueDecay(Sampling):
    """Csiba et al. 2015, Algorithm 2: after each visit p_i ← p_i/m, reset at each epoch.

    ``option`` "I" starts an epoch from the weights of ``Residue``, "II" from importance sampling.
    """

    m: float = 10.0
    option: Literal["I", "II"] = "I"

    independent = False

    def __post_init__(self) -> None:
        number(self.m, "m", 1.0, 1e100, open_low=True)
        if self.option not in ("I", "II"):
            raise ValueError(f'option must be "I" or "II", not {self.option!r}')

    @property
    def refresh(self) -> Refresh:  # type: ignore[override]
        """The weights of option II do not change; each draw of an epoch starts from them."""
        return "epoch" if self.option == "I" else "never"

    def refusal(self, problem: Problem, view: str) -> str | None:
        return self._start.refusal(problem, view)

    @property
    def _start(self) -> Sampling:
        return Residue() if self.option == "I" else Importance("smooth")

    def weights(self, scores: Scores) -> Floats:
        return self._start.weights(scores)

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Any:
        return draw_decaying(weights, count, float(self.m), rng)
