"""Logistic and softmax losses of many models at once, with their slopes and curvatures.

Arrays have axes (samples, models, decision values). Decision values of K > 2 classes are those in a
basis of the K − 1 directions in which the loss changes: with a penalty on squares, coefficients of
all classes sum to 0 at the optimum, so that nothing is lost and Hessians are regular.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats


class TwoClasses:
    """The logistic loss; ``targets`` are −1 and 1."""

    width = 1

    class Point(NamedTuple):
        """The losses at some decision values, and what their slopes and curvatures follow from."""

        losses: Floats
        targets: Floats
        away: Floats  # the probability of the other class

        def slopes(self) -> Floats:
            return np.asarray(-self.targets * self.away)

        def curvatures(self) -> Floats:
            """The entries of the upper triangle of each Hessian."""
            return self.away * (1.0 - self.away)

        def diagonals(self) -> Floats:
            """The diagonal of each Hessian."""
            return self.curvatures()

        def bending(self, weights: Floats) -> Callable[[Floats], Floats]:
            """What multiplies changes of the decision values by weighted Hessians; the changes may
            be lost."""
            curvatures = weights * self.curvatures()
            return lambda moves: np.multiply(curvatures, moves, out=moves)

    def __init__(self, codes: Any) -> None:
        self.targets = (2.0 * codes - 1.0)[:, None, None]

    def at(self, values: Floats) -> Point:
        margins = self.targets * values
        small = np.exp(-np.abs(margins))
        losses = np.log1p(small)
        losses -= np.minimum(margins, 0.0)
        away = np.where(margins > 0.0, small, 1.0) / (1.0 + small)
        return self.Point(losses[:, :, 0], self.targets, away)

    def of_classes(self, values: Floats) -> Floats:
        """What has an entry for each decision value as users see it, with one for each class."""
        return values

    def null_losses(self, weights: Floats, intercept: bool) -> Floats:
        """The least sum of losses without features, for each column of weights."""
        classes = np.stack([weights[self.targets[:, 0, 0] == side].sum(axis=0) for side in (-1, 1)])
        return _entropies(classes, intercept)


class SeveralClasses:
    """The softmax loss of K classes."""

    class Point(NamedTuple):
        losses: Floats
        owner: SeveralClasses
        shares: Floats  # the probabilities of the classes

        def slopes(self) -> Floats:
            return _times(self.shares - self.owner.hot, self.owner.basis)

        def curvatures(self) -> Floats:
            owner = self.owner
            means = _times(self.shares, owner.basis)
            squares = means[..., owner.first] * means[..., owner.second]
            return _times(self.shares, owner.pairs) - squares

        def diagonals(self) -> Floats:
            """The diagonal of each Hessian."""
            basis = self.owner.basis
            return _times(self.shares, basis**2) - _times(self.shares, basis) ** 2

        def bending(self, weights: Floats) -> Callable[[Floats], Floats]:
            weighted = weights * self.shares

            def bent(moves: Floats) -> Floats:
                own = _times(moves, self.owner.basis.T)
                means = np.einsum("nfk,nfk->nf", own, self.shares)
                own -= means[:, :, None]
                own *= weighted
                return _times(own, self.owner.basis)

            return bent

    def __init__(self, codes: Any, classes: int) -> None:
        self.width = classes - 1
        self.hot = (codes[:, None, None] == np.arange(classes)).astype(np.float64)
        # Orthonormal, and orthogonal to (1, ..., 1): Helmert's basis.
        self.basis = np.zeros((classes, classes - 1))
        for k in range(1, classes):
            self.basis[:k, k - 1], self.basis[k, k - 1] = 1.0, -k
        self.basis /= np.sqrt((self.basis**2).sum(axis=0))
        self.first, self.second = np.triu_indices(self.width)
        self.pairs = self.basis[:, self.first] * self.basis[:, self.second]

    def at(self, values: Floats) -> Point:
        all_values = _times(values, self.basis.T)
        all_values -= all_values.max(axis=2, keepdims=True)
        own = np.sum(all_values * self.hot, axis=2)
        np.exp(all_values, out=all_values)
        sums = all_values.sum(axis=2, keepdims=True)
        all_values /= sums
        return self.Point(np.log(sums[:, :, 0]) - own, self, all_values)

    def of_classes(self, values: Floats) -> Floats:
        return _times(values, self.basis.T)

    def null_losses(self, weights: Floats, intercept: bool) -> Floats:
        return _entropies(self.hot[:, 0, :].T @ weights, intercept)


def _times(values: Floats, matrix: Floats) -> Floats:
    """Products with a matrix of the last axis, as one product of matrices."""
    flat = values.reshape(-1, values.shape[-1]) @ matrix
    return flat.reshape(*values.shape[:-1], -1)


def _entropies(classes: Floats, intercept: bool) -> Floats:
    """From the weight of each class: what the best intercepts leave, or none."""
    totals = classes.sum(axis=0)
    if not intercept:
        return np.asarray(totals * np.log(len(classes)))
    return np.asarray(np.sum(classes * np.log(totals / classes), axis=0))
