"""What SPDC adds to a loss that is not smooth, and to a penalty that is not strongly convex.

Zhang, Xiao 2015, section 3.1: δ/2·a² to φ* and δ/2·‖w‖² to λg. Corollary 2: with δ = ε/C₁,
C₁ = ‖w*‖² + G², G the Lipschitz constant of φ, the perturbation costs at most ε/2. ‖w*‖ is not
known; that of the perturbed problem is at most as large, and comes close as δ falls. So δ follows
the coefficients from stage to stage. ε bounds P(w) − P(w*), and a certificate asks for more: where
a stage no longer halves the gap, although it is too large, ε is quartered.
"""

from __future__ import annotations

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms


class Perturbation:
    """``delta_a`` for the dual and ``delta_w`` for the primal variables; 0 where none is needed."""

    def __init__(self, problem: Problem, target: float, fixed: float | None, largest: float):
        self.fixed = fixed
        self.level = max(target, 1e-12 * problem.scale)  # ε
        slopes = np.empty(problem.n)
        terms.slopes(problem.loss, problem.y, problem.decision(problem.features.origin), slopes)
        # The sizes that dual and primal variables typically have: what they are at the start, and
        # what it takes to change the decision values that much.
        self.slope = float(np.sqrt(np.sum(problem.c * slopes**2))) or 1.0
        self.length = problem.scale / self.slope / (largest or 1.0)
        self.bound = float(problem.loss.lipschitz)  # G
        self.on_loss = problem.loss.gamma == 0.0
        self.on_penalty = bool(problem.features.strength.min() == 0.0)
        self.choose()

    @property
    def needed(self) -> bool:
        return self.on_loss or self.on_penalty

    def choose(self) -> None:
        """δ = ε/C₁, from the length that is known."""
        bound = self.bound if self.bound < np.inf else self.slope
        size = self.on_penalty * self.length**2 + self.on_loss * bound**2
        self._set(self.fixed or self.level / size if self.needed else 0.0)

    def _set(self, loss: float, penalty: float | None = None) -> None:
        self.delta_a = loss if self.on_loss else 0.0
        self.delta_w = (loss if penalty is None else penalty) if self.on_penalty else 0.0

    def follow(self, w: Floats, gap: float, last_gap: float) -> None:
        """What the end of a stage tells."""
        if gap > 0.5 * last_gap:
            self.level *= 0.25
        self.length = max(self.length, float(np.sqrt(np.sum(w**2))))
        self.choose()


class RecentredPerturbation(Perturbation):
    """Around a centre that moves: it costs less and less, so that a larger δ will do.

    ε is ten times the geometric mean of the target and P(0).
    """

    def __init__(self, problem: Problem, target: float, fixed: float | None, largest: float):
        level = max(target, 1e-12 * problem.scale)
        super().__init__(problem, 10.0 * np.sqrt(level * problem.scale), fixed, largest)

    def choose(self) -> None:
        """Moving by the typical sizes costs ``level``."""
        fixed, level = self.fixed, self.level
        self._set(fixed or level / self.slope**2, fixed or level / self.length**2)

    def follow(self, w: Floats, gap: float, last_gap: float) -> None:
        length = float(np.sum(w**2))
        if self.fixed is None and self.delta_w * length > self.level:
            self.delta_w = self.level / length  # w turned out to be longer than was guessed
