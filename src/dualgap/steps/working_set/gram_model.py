"""A Newton model over few features, by their Gram matrix: coordinate steps and direct solves."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import shape_of
from dualgap.problem import Problem
from dualgap.steps.working_set import gram_kernels
from dualgap.steps.working_set.columns import ChosenColumns
from dualgap.steps.working_set.gram_matrix import GramMatrix


class GramModel(GramMatrix):
    """Minimises models on a set with its Gram matrix."""

    def __init__(self, problem: Problem, columns: ChosenColumns) -> None:
        super().__init__(problem, columns)
        self.shape = shape_of(problem.penalty, problem.coef_size)
        self.q = np.empty(0)
        self.set_shape: list[Floats] = []  # the penalty's shape, restricted to ``shape_set``
        self.shape_set: Any = None

    def violation(self, set_: Any, g: Floats, x: Floats) -> float:
        """The largest violation at x, by the curvatures of the last model."""
        penalty, lam = self.problem.penalty, self.problem.lam
        g = self.centring.gradient(g)
        return float(gram_kernels.largest_violation(penalty, lam, set_, self.q, g, x))

    def minimise(
        self,
        set_: Any,
        h: Floats,
        g: Floats,
        least: Floats,
        x: Floats,
        tolerance: float,
        fraction: float,
    ) -> float:
        """Change x, the coefficients of the set, to the minimum of the model with gradient g.

        ``least`` bounds the curvatures of steps from below. It ends when no violation exceeds
        ``tolerance`` or the ``fraction`` of the first one, which is returned.
        """
        problem = self.problem
        direct = self.shape is not None
        if self.shape_set is not set_:
            self.set_shape = [of_all[set_] for of_all in self.shape or ()] or [np.empty(0)] * 4
            self.shape_set = set_
        self.extend(set_, h)
        self.q = np.maximum(np.diagonal(self.gram)[: len(set_)], least)
        model, before = (self.gram, problem.penalty, problem.lam), x.copy()
        state = *self.set_shape, set_, self.q, self.centring.gradient(g), x, tolerance, fraction
        try:
            first = float(gram_kernels.minimise(*model, direct, *state))
        except np.linalg.LinAlgError:  # some features can nearly replace others
            first = float(gram_kernels.minimise(*model, False, *state))
        self.centring.move_intercept(before, x)
        return first
