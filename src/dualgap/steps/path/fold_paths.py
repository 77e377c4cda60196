"""Paths of logistic regression with a squared penalty, for all folds in one run.

``NewtonPaths`` minimises, for each fold and at increasing C, the sum of weighted losses plus
‖w‖²/2C. All folds read the same rows of X, with weights of 0 for those that they leave out, so that
each product with X is one for all of them. A point starts where the last one ended.

The gap of a point is ½C‖∇‖², plus what the imbalance of the intercepts may be worth: an estimate,
as nothing is published but scores and coefficients.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.proof.goal import LEAST_SHARE
from dualgap.steps.path.class_losses import SeveralClasses, TwoClasses
from dualgap.steps.path.fold_rows import DenseRows, SparseRows
from dualgap.steps.path.fold_steps import (
    TUNING,
    inexact_step,
    newton_step,
    sparse_steps_worth_hessians,
    steps_worth_hessians,
)


class FoldPaths(NamedTuple):
    """What the folds have found; axes are (…, values of C, folds, …)."""

    coefs: Floats  # (p + 1, Cs, folds, rows), the intercept last
    values: Floats  # decision values (n, Cs, folds, rows)
    steps: Any
    solved: Any


class NewtonPaths:
    """The folds of one data set.

    ``rows``   the data in the coordinates of the steps, with a column of ones for an intercept
    ``turn``   how coefficients of these become coefficients of X: None if they are the same
    ``direct`` whether steps come from Hessians
    ``w``, ``values``  where each fold is, and the decision values there
    """

    def __init__(
        self, X: Any, codes: Any, classes: int, weights: Floats, intercept: bool, tol: float
    ) -> None:
        self.X, self.weights, self.intercept, self.tol = X, weights, intercept, tol
        self.n, self.p = X.shape
        self.loss: Any = TwoClasses(codes) if classes == 2 else SeveralClasses(codes, classes)
        self.least = LEAST_SHARE * self.loss.null_losses(weights, intercept)
        self.turn: Floats | None = None
        self.rows = self._sparse() if storage.is_sparse(X) else self._dense()
        self.penalised = np.ones(self.rows.size)
        if intercept:
            self.penalised[-1] = 0.0
        self.w = np.zeros((self.rows.size, weights.shape[1], self.loss.width))
        self.values = np.zeros((self.n, *self.w.shape[1:]))

    def _dense(self) -> DenseRows:
        X, intercept = self.X, self.intercept
        self.mean = X.mean(axis=0, dtype=np.float64) if intercept else np.zeros(self.p)
        rows = np.subtract(X, self.mean, dtype=np.float64)
        directions = min(self.n, self.p) + intercept
        size = self.n, directions, self.loss.width, self.weights.shape[1]
        self._prefer(steps_worth_hessians(*size))
        if self.n < self.p or not self.direct:
            rows, self.turn = _rotated(rows)
        return DenseRows(np.column_stack([rows, np.ones(self.n)]) if intercept else rows)

    def _sparse(self) -> SparseRows:
        """Sparse data are neither centred nor turned."""
        self.mean = np.zeros(self.p)
        self._prefer(sparse_steps_worth_hessians(self.X, self.loss.width, self.weights.shape[1]))
        return SparseRows(self.X, self.intercept)

    def _prefer(self, most_inner_steps: float) -> None:
        self.most_inner_steps = most_inner_steps
        self.direct = most_inner_steps <= TUNING.few_inner_steps

    @staticmethod
    def pays(X: Any, width: int) -> bool:
        """Whether X is small enough: dense for a copy, sparse for what is kept of each model."""
        if storage.is_coded(X) or storage.is_on_disk(X):
            return False
        if storage.is_sparse(X):
            few = X.shape[0] * width <= TUNING.most_values and X.nnz <= TUNING.most_entries
            most = TUNING.most_of_two_classes if width == 1 else TUNING.most_of_classes
            return bool(few and X.shape[1] * width <= most)
        if X.size > TUNING.most_numbers:
            return False
        return bool(min(X.shape) * width <= TUNING.most_unknowns)

    def with_weights(self, weights: Floats, start: Floats) -> NewtonPaths:
        """One more fold, which starts from ``start``."""
        other = copy.copy(self)
        other.weights = weights[:, None]
        other.least = LEAST_SHARE * self.loss.null_losses(other.weights, self.intercept)
        other.w = start[:, None].copy()
        other.values = other.rows.times(other.w)
        return other

    def follow(self, Cs: Floats, most_steps: int) -> tuple[FoldPaths, Floats]:
        """The minima at increasing C, and the mean of the folds' own coordinates at each."""
        most = min(most_steps, TUNING.most_steps)
        shape = len(Cs), self.w.shape[1]
        steps, solved = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
        w = np.empty((len(self.w), *shape, self.loss.width))
        values = np.empty((self.n, *w.shape[1:]))
        for k, C in enumerate(Cs):
            self._minimise(C, most, steps[k], solved[k])
            w[:, k], values[:, k] = self.w, self.values
        coefs, b = self._unturned(w)
        if self.turn is not None:
            values, solved = self._judged(coefs, b, w, Cs)
        both = self.loss.of_classes(np.concatenate([coefs, b[None]]))
        return FoldPaths(both, self.loss.of_classes(values), steps, solved), w.mean(axis=2)

    # --- in the features of X ------------------------------------------------------------------

    def _unturned(self, w: Floats) -> tuple[Floats, Floats]:
        """Coefficients and intercepts for X."""
        own = w[:-1] if self.intercept else w
        last = w[-1] if self.intercept else np.zeros(w.shape[1:])
        flat = own.reshape(len(own), -1)
        flat = flat if self.turn is None else self.turn @ flat
        return flat.reshape(self.p, *last.shape), last - (self.mean @ flat).reshape(last.shape)

    def _judged(self, coefs: Floats, b: Floats, w: Floats, Cs: Floats) -> Any:
        """Decision values of X itself, and whether the gaps there are small enough."""
        models = len(Cs) * self.weights.shape[1]
        flat = coefs.reshape(self.p, models, -1)
        values = (self.X @ flat.reshape(self.p, -1)).reshape(self.n, models, -1)
        values = values + b.reshape(models, -1)
        point, weights = self.loss.at(values), np.tile(self.weights, len(Cs))
        slopes = weights[:, :, None] * point.slopes()
        pull = np.asarray(self.X.T @ slopes.reshape(self.n, -1), np.float64)
        offset = slopes.sum(axis=0)
        # Columns far from 0 move together with the intercept: the pull is that of centred ones.
        pull -= np.outer(self.mean, offset)
        C = np.repeat(Cs, self.weights.shape[1])
        gradient = pull.reshape(flat.shape) + flat / C[:, None]
        last = w[-1].reshape(models, -1)
        gaps = _gaps(gradient, offset, last, C) if self.intercept else _gaps(gradient, 0, 0, C)
        objective = _sum(weights, point) + np.einsum("jfk,jfk->f", flat, flat) / (2.0 * C)
        least = np.tile(self.least, len(Cs))
        solved = gaps <= self.tol * np.maximum(objective - gaps, least)
        shape = len(Cs), self.weights.shape[1]
        return values.reshape(self.n, *shape, -1), solved.reshape(shape)

    # --- Newton's method -----------------------------------------------------------------------

    def _minimise(self, C: float, most_steps: int, steps: Any, solved: Any) -> None:
        """Move all folds to their minima at C; count their steps, and note who has arrived."""
        some, ridge = np.arange(self.w.shape[1]), self.penalised / C
        w, weights, values = self.w, self.weights, self.values
        point = self.loss.at(values)
        objective = self._objective(point, weights, w, C)
        stuck = np.zeros(len(some), np.bool_)
        own = len(w) - self.intercept
        for step in range(most_steps + 1):
            slopes = weights[:, :, None] * point.slopes()
            gradient = self.rows.pulled(slopes) + ridge[:, None, None] * w
            offset, last = (gradient[-1], w[-1]) if self.intercept else (0, 0)
            gaps = _gaps(gradient[:own], offset, last, C)
            # Half of the target: rounding errors of a rotation may take some of the rest.
            targets = 0.5 * self.tol * np.maximum(objective - gaps, self.least[some])
            self.w[:, some], self.values[:, some] = w, values
            solved[some] = gaps <= targets
            is_open = ~(solved[some] | stuck)
            if step == most_steps or not is_open.any():
                return
            if not is_open.all():
                some, w, weights = some[is_open], w[:, is_open], weights[:, is_open]
                values, gradient = values[:, is_open], gradient[:, is_open]
                objective, gaps, targets = objective[is_open], gaps[is_open], targets[is_open]
                point = self.loss.at(values)
            rest = np.clip(0.5 * np.sqrt(targets / gaps), 1e-8, TUNING.most_residual)
            move = self._step(point, weights, ridge, gradient, rest)
            slope = np.einsum("jfk,jfk->f", gradient, move)
            w, values, point, objective, stuck = self._along(
                w, values, objective, slope, move, weights, C
            )
            steps[some] += 1

    def _step(self, point: Any, weights: Any, ridge: Any, gradient: Any, rest: Any) -> Floats:
        """A Newton step of each fold, of which ``rest`` may be left."""
        if self.direct:
            weighted = weights[:, :, None] * point.curvatures()
            return newton_step(self.rows, weighted, ridge, gradient)
        move, steps = inexact_step(self.rows, point, weights, ridge, gradient, rest)
        self.direct = steps > self.most_inner_steps  # at larger C there are even more
        return move

    def _along(
        self, w: Any, values: Any, objective: Any, slope: Any, move: Any, weights: Any, C: float
    ) -> Any:
        """The point after a step, halved where it does not decrease the objective enough; who
        could not move at all."""
        length = np.ones(len(objective))
        changes = self.rows.times(move)
        enough = 8.0 * EPS * np.abs(objective)  # below are rounding errors
        for _ in range(TUNING.halvings):
            new_w = w + length[:, None] * move
            new_values = values + length[:, None] * changes
            point = self.loss.at(new_values)
            new = self._objective(point, weights, new_w, C)
            short = ~(new <= objective + TUNING.decrease * length * slope + enough)
            if not short.any():
                break
            length = np.where(short, 0.5 * length, length)
        if short.any():
            new_w[:, short], new_values[:, short] = w[:, short], values[:, short]
            point, new = self.loss.at(new_values), np.where(short, objective, new)
        return new_w, new_values, point, new, short

    def _objective(self, point: Any, weights: Any, w: Any, C: float) -> Any:
        return _sum(weights, point) + np.einsum("j,jfk,jfk->f", self.penalised, w, w) / (2.0 * C)


def _sum(weights: Any, point: Any) -> Floats:
    return np.asarray(np.einsum("nf,nf->f", weights, point.losses))


def _gaps(gradient: Any, offset: Any, last: Any, C: Any) -> Floats:
    """½C‖∇‖², and what an imbalance of the intercepts may be worth."""
    imbalance = np.sum(np.abs(offset) * (1.0 + np.abs(last)), axis=-1)
    return np.asarray(0.5 * C * np.einsum("jfk,jfk->f", gradient, gradient) + imbalance)


def _rotated(rows: Floats) -> tuple[Floats, Floats]:
    """Data of as many columns as there are directions, and what turns their coefficients back.

    Columns are orthogonal, so that Hessians are nearly diagonal where curvatures are even.
    """
    n, p = rows.shape
    squares, basis = np.linalg.eigh(rows @ rows.T if n < p else rows.T @ rows)
    if n >= p:
        return rows @ basis, basis
    used = squares > n * EPS * max(squares.max(initial=0.0), 0.0)
    sizes = np.sqrt(squares[used])
    turn = rows.T @ (basis[:, used] / sizes)
    return basis[:, used] * sizes, turn
