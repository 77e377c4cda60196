"""A Newton model over a set of groups, minimised by its Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.groups import gram_blocks, gram_minimum
from dualgap.steps.groups.tuning import TUNING
from dualgap.steps.working_set.columns import ChosenColumns
from dualgap.steps.working_set.gram_matrix import GramMatrix


class BlockModel(GramMatrix):
    """Minimises models on a set of groups; ``ids`` are its groups, and ``places`` where the
    features of each begin."""

    def __init__(self, problem: Problem, columns: ChosenColumns) -> None:
        super().__init__(problem, columns)
        self.blocks = problem.penalty
        self.ids = np.empty(0, np.int64)
        self.places = np.zeros(1, np.int64)
        self.q = np.empty(0)

    def pays(self, set_: Any, entries: float) -> bool:
        """Whether a Gram matrix of these features should cost less than steps on their columns."""
        few = len(set_) <= max(self.problem.n, TUNING.small_gram)
        return (few or not self.dense) and super().pays(set_, entries)

    def violation(self, set_: Any, g: Floats, x: Floats) -> float:
        """The largest violation at x, by the curvatures of the last model."""
        state = self.ids, self.places, self.q, self._centred(g), x
        return float(gram_blocks.largest_violation(self.blocks, self.problem.lam, *state))

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

        The arguments are those of ``GramModel.minimise``.
        """
        self.extend(set_, h)
        self.q = np.empty(len(self.ids))
        gram_blocks.curvatures(self.gram, self.places, least, self.q)
        before, lam = x.copy(), self.problem.lam
        state = self.ids, self.places, self.q, x, self._centred(g), tolerance, fraction
        try:
            first = float(gram_minimum.minimise(self.gram, self.blocks, lam, True, *state))
        except np.linalg.LinAlgError:  # some features can nearly replace others
            first = float(gram_minimum.minimise(self.gram, self.blocks, lam, False, *state))
        self._move_intercept(before, x)
        return first

    # --- the free intercept, one for each target --------------------------------------------------

    def _centred(self, g: Floats) -> Floats:
        """The gradient in the variables in which the intercept stands alone; a copy."""
        own, place = g.reshape(-1, self.blocks.width).copy(), self.centring.place
        if place >= 0:
            own -= np.outer(self.centring.means, own[place])
        return own.ravel()

    def _move_intercept(self, before: Floats, x: Floats) -> None:
        own, place = x.reshape(-1, self.blocks.width), self.centring.place
        if place >= 0:
            own[place] -= self.centring.means @ (own - before.reshape(own.shape))
