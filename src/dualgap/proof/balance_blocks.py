"""A balanced dual point close to a given one, for losses of many classes.

A block is a = e_y − s with shares s in the simplex. Tilted shares s_k exp(x_U·t_k)/Z stay there,
and the balanced ones are the nearest in the Kullback-Leibler divergence. Newton steps on t find
them, with the Hessian Σ c x xᵀ ⊗ (diag(s) − ssᵀ), whatever the loss. For s = softmax(z) a tilt is a
change of the free coefficients. Shares of 0 stay 0. If too few others are left, a little of the
uniform distribution is mixed in.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.losses.offset import own_classes
from dualgap.proof.balance import (
    Family,
    columns_times,
    gram_of,
    is_nearly_balanced,
    most_balanced,
    newton_direction,
    polish,
)
from dualgap.proof.tuning import TUNING

_LARGEST_EXPONENT = 600.0  # larger ones could overflow


class MixingFamily(Family, Protocol):
    """A family into which the uniform distribution can be mixed."""

    def mix(self, share: float) -> None:
        """Mix in this share of the uniform distribution."""

    def corrected(self, a: Any, missing: Floats) -> Any:
        """A Newton step from ``a`` itself, without the rounding errors of a long tilt."""


class Tilts:
    """Tilted shares of the other classes; t has an entry for each free feature and class."""

    def __init__(self, problem: Any, X: Floats, a: Floats) -> None:
        self.problem, self.c, self.X = problem, problem.c, X
        self.y = own_classes(problem.y)
        self.rows, self.width = np.arange(problem.n), problem.width
        self.size = X.shape[1] * self.width
        # If no sample of a class has a weight, a balance leaves it no share of other samples.
        self.idle = problem.classes_without_weight
        self.taken = self._others(-a.reshape(problem.n, self.width))

    def _others(self, shares: Floats) -> Floats:
        """The shares with that of the own class set to 0."""
        taken = np.maximum(shares, 0.0)
        taken[self.rows, self.y] = 0.0
        taken[:, self.idle] = 0.0
        return taken

    def mix(self, share: float) -> None:
        self.taken = self._others((1.0 - share) * self.taken + share / self.width)

    def _own(self, taken: Floats) -> Floats:
        return np.asarray(np.maximum(1.0 - taken.sum(axis=1), 0.0))

    def at(self, t: Floats) -> Floats:
        tilt: Floats = np.einsum("ij,jk->ik", self.X, t.reshape(-1, self.width))
        tilt -= tilt[self.rows, self.y][:, None]
        tilted = self.taken * np.exp(np.clip(tilt, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
        total = self._own(self.taken) + tilted.sum(axis=1)
        tilted /= np.where(total > 0.0, total, 1.0)[:, None]
        a = -tilted
        a[self.rows, self.y] = np.minimum(tilted.sum(axis=1), 1.0)
        return a.ravel()

    def imbalance(self, a: Floats) -> Floats:
        return np.concatenate([columns_times(self._weighted(a), column) for column in self.X.T])

    def length(self, a: Floats) -> Floats:
        return np.tile(np.sqrt(np.sum(self._weighted(a) ** 2, axis=0)), self.X.shape[1])

    def _weighted(self, a: Floats) -> Floats:
        """c a, class by class in memory, so that sums over samples round little."""
        return np.asarray((a.reshape(-1, self.width).T * self.c).T)

    def gram(self, t: Floats, a: Floats) -> Floats:
        shares = self._others(-a.reshape(-1, self.width))
        shares[self.rows, self.y] = self._own(shares)
        m, width = self.X.shape[1], self.width
        out = np.empty((m, width, m, width))
        for j in range(m):
            for k in range(j + 1):
                weights = self.c * self.X[:, j] * self.X[:, k]
                block = np.diag(columns_times(shares, weights)) - gram_of(shares, weights)
                out[j, :, k, :] = out[k, :, j, :] = block
        return out.reshape(self.size, self.size)

    def corrected(self, a: Floats, missing: Floats) -> Floats:
        family = Tilts(self.problem, self.X, a)
        return family.at(newton_direction(family.gram(np.zeros(family.size), a), missing))


def balance_blocks(problem: Any, X: Floats, a: Floats) -> Floats:
    """A balanced point close to ``a``."""
    family = Tilts(problem, X, a)
    if not is_nearly_balanced(family, a, problem.n):
        settled = _settled_classes(family)
        if settled.any():
            family.taken[:, settled] = 0.0
            family.taken[settled[family.y]] = 0.0
            a = family.at(np.zeros(family.size))
    return np.asarray(balance_by_tilts(family, a, problem.n))


def _settled_classes(family: Tilts) -> Any:
    """Classes that share next to nothing with others, as a mask.

    Features without a penalty separate them, so no tilt balances what is left, while zeros are
    balanced exactly.
    """
    largest = np.max(family.taken, axis=0, initial=0.0)
    np.maximum.at(largest, family.y, family.taken.max(axis=1))
    return (largest > 0.0) & (largest <= TUNING.settled_share)


def balance_by_tilts(family: MixingFamily, found: Any, n: int) -> Any:
    """The same along any such family, from its point ``found``; sums have n terms."""
    for share in TUNING.mixed_shares:
        if is_nearly_balanced(family, found, n):
            break
        family.mix(share)
        found, _ = most_balanced(family)
        found = polish(family, found, family.corrected)
    return found
