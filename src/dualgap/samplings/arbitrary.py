"""A user's own sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, finite_vector
from dualgap.problem import Problem
from dualgap.samplings.base import Sets, SetSampling
from dualgap.samplings.estimate import estimated
from dualgap.samplings.scores import Scores

# Draws, in units of the expected wait, after which empty sets cannot be chance.
_MAX_WAIT = 100


@dataclass(frozen=True, eq=False, init=False)
class Arbitrary(SetSampling):
    """Any random sets of samples (Qu et al. 2014, Theorem 9).

    ``draw``  a function of a NumPy generator that returns the indices of one set
    ``p``     the probability that a set has sample i, for each i
    ``eso``   v with E‖Σ_{i∈S} h_i x_i‖² ≤ Σ p_i v_i h_i², or "estimate" (``samplings.eso.estimate``
              says how sure that is)

    ``dualgap.testing.check_eso`` looks for contradictions between the three.
    """

    rule: Callable[[np.random.Generator], Any]
    p: Floats = field(repr=False)
    v: Floats | None = field(repr=False)

    def __init__(
        self, draw: Callable[[np.random.Generator], Any], p: Any, eso: Any = "estimate"
    ) -> None:
        if not callable(draw):
            raise ValueError("draw must be a function of a random generator that returns indices")
        p = finite_vector(p, "p", np.size(p)).copy()
        if not ((p > 0.0) & (p <= 1.0)).all():
            raise ValueError("p must hold probabilities > 0 and <= 1: each sample needs a chance")
        if isinstance(eso, str) and eso != "estimate":
            raise ValueError(f'eso must be a vector or "estimate", not {eso!r}')
        v = None if isinstance(eso, str) else finite_vector(eso, "eso", len(p)).copy()
        for name, value in (("rule", draw), ("p", p), ("v", v)):
            object.__setattr__(self, name, value)

    def refusal(self, problem: Problem, view: str) -> str | None:
        refusal = super().refusal(problem, view)
        if refusal is not None:
            return refusal
        if len(self.p) != problem.n:
            return f"it has {problem.n} samples, and p has {len(self.p)} entries"
        if self.v is not None:
            short = self.v < (1.0 - 1e-9) * problem.row_squares
            if short.any():
                i = int(np.argmax(short))
                return (
                    f"eso[{i}] is {self.v[i]:.6g}, less than the squared norm of that sample, "
                    f"{problem.row_squares[i]:.6g}, which is too small for any sampling"
                )
        return None

    def weights(self, scores: Scores) -> Floats:
        return self.p

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
        size = self.p.sum()  # of a set, on average
        enough = max(1, round(count / size))
        patience = enough + _MAX_WAIT * len(self.p) / size
        sets: list[Any] = []
        filled = 0
        while len(sets) < enough or filled == 0:
            if len(sets) > patience:
                raise ValueError(f"draw gives empty sets, but p says {size:.3g} samples on average")
            sets.append(self._checked(self.rule(rng)))
            filled += len(sets[-1])
        offsets = np.cumsum([0, *map(len, sets)])
        return Sets(np.concatenate(sets), offsets)

    def _checked(self, drawn: Any) -> Any:
        indices = np.asarray(drawn)
        n = len(self.p)
        if indices.size == 0:
            return np.empty(0, np.int64)
        if indices.ndim != 1 or indices.dtype.kind not in "iu":
            raise ValueError(f"draw must return a vector of indices, not {drawn!r}")
        if indices.min() < 0 or indices.max() >= n:
            raise ValueError(f"draw must return indices from 0 to {n - 1}, not {drawn!r}")
        if len(np.unique(indices)) < len(indices):
            raise ValueError(f"draw must return distinct indices, not {drawn!r}")
        return indices.astype(np.int64)

    def eso(self, problem: Problem, weights: Floats) -> Floats:
        """The user's v is for X; ‖·‖² in the metric of the penalty is at most ‖·‖²/min μ."""
        if self.v is None:
            return estimated(problem, self)
        return np.asarray(self.v / problem.features.strength.min())
