"""Newton steps on sets of features, for penalties with kinks over many features.

A step minimises the quadratic model of the losses, plus the penalty, on the features in use and
those that could gain most by a step. So of the Hessian only the rows and columns of the set travel;
u, which says which features could gain, comes with every evaluation of the losses anyway.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.distributed.messages import compact
from dualgap.distributed.schemes.exchanges import Exchanges
from dualgap.distributed.schemes.newton_tasks import SetQuestion, set_hessian, symmetric
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import Shape
from dualgap.steps.newton.model import minimum


class FeatureSets:
    """The models of one problem, in the place of ``steps/newton/systems.Systems``."""

    def __init__(self, problem: Any, shape: Shape, exchanges: Exchanges) -> None:
        self.problem, self.shape, self.exchanges = problem, shape, exchanges
        bound = problem.mean_squares() / (problem.loss.gamma or 1.0) + problem.lam * shape.l2
        self.bound = np.where(bound > 0.0, bound, np.inf)

    def solve(
        self, w: Floats, gradient: Floats, damping: Floats, enough: float, overshoots: Any
    ) -> tuple[Floats, Floats, int]:
        """A step twice, as coefficients stand for their products with X, and how many products."""
        lam, shape = self.problem.lam, self.shape
        slopes = gradient - lam * shape.l2 * w  # of the losses
        own = self._chosen(w, slopes)
        question = SetQuestion(compact(w), own)
        size = question.at.nbytes + own.nbytes
        found = self.exchanges.ask(set_hessian, question, size)
        model = symmetric(found.vectors[0], len(own))
        model[np.diag_indices_from(model)] += damping[own]
        part = Shape(*(each[own] for each in (shape.l1, shape.l2, shape.low, shape.high)))
        move = np.zeros_like(w)
        move[own] = minimum(model, slopes[own], w[own], lam, part) - w[own]
        return move, move, 1

    def _chosen(self, w: Floats, slopes: Floats) -> Any:
        """The features of the set, in ascending order."""
        shape = self.shape
        used = ((w != 0.0) | (shape.l1 == 0.0)) & (shape.low < shape.high)
        count = int(np.count_nonzero(used))
        room = max(TUNING.first_set, int(TUNING.set_growth * count))
        gains = self._gains(w, slopes)
        gains[used] += np.inf if count < TUNING.largest_set else 0.0
        order = np.argsort(-gains, kind="stable")[: min(room, TUNING.largest_set)]
        # A set with a feature that gains nothing is right too; one without any would be empty.
        found = order[: max(int(np.count_nonzero(gains[order] > 0.0)), 1)]
        return np.sort(found)

    def _gains(self, w: Floats, slopes: Floats) -> Floats:
        """About what a step on each feature alone gains, times 2."""
        shape, lam = self.shape, self.problem.lam
        p = w - (slopes + lam * shape.l2 * w) / self.bound
        p = np.sign(p) * np.maximum(np.abs(p) - lam * shape.l1 / self.bound, 0.0)
        move = np.clip(p, shape.low, shape.high) - w
        return np.asarray(np.where(move != 0.0, self.bound, 0.0) * move * move)

    def state(self) -> None:
        """Nothing is kept: a set follows from the coefficients."""
