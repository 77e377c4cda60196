"""Losses of many classes at decision values, sample by sample in chunks that stay in the cache.

φ(z) has the gradient s − e_y with shares s in the simplex, and the Hessian diag(h) − hhᵀ/Σh.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg import parallel
from dualgap.linalg.validate import Floats
from dualgap.losses.offset import own_classes
from dualgap.losses.softmax import Softmax
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.steps.newton_cg.pairs import summed_pairs

_CHUNK_ENTRIES = 1 << 14
_SHARED_FROM = 1 << 16  # entries from which threads share the work


class ClassResponse(NamedTuple):
    """The losses at z: Σ c φ(z), and the slopes c ∇φ(z), shape (n, K)."""

    z: Floats
    value: float
    slopes: Floats


class ClassLosses:
    """The losses of all samples of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.y = own_classes(problem.y)
        self.places = np.arange(problem.n)
        self.c = problem.c[:, None]
        rows = max(1, _CHUNK_ENTRIES // problem.width)
        self.chunks = [slice(i, min(i + rows, problem.n)) for i in range(0, problem.n, rows)]

    def at(self, z: Floats) -> ClassResponse:
        """The losses at z, of shape (n, K)."""
        if not isinstance(self.problem.given_loss, Softmax):
            a = self.dual_at(z)
            return ClassResponse(z, self.problem.loss_value(z.ravel()), -self.c * a)
        slopes = np.empty_like(z)
        calls = [(z, chunk, slopes) for chunk in self.chunks]
        values = self._together(self._softmax, calls, z.size)
        return ClassResponse(z, math.fsum(values), slopes)

    def _softmax(self, z: Floats, chunk: slice, slopes: Floats) -> float:
        """A chunk of the slopes; returns Σ c φ."""
        y, own = self.y[chunk], slopes[chunk]
        places = self.places[: len(y)]
        z, offset = z[chunk], self.problem.offset
        z = z if offset is None else z + offset[chunk]
        # NumPy takes the largest of each of many short rows three to fifteen times as slowly.
        np.subtract(z, np.ascontiguousarray(z.T).max(axis=0)[:, None], out=own)
        margin = own[places, y]
        np.exp(own, out=own)
        total = _row_sums(own)
        c = self.c[chunk, 0]
        own *= (c / total)[:, None]
        own[places, y] -= c
        return float(np.sum(c * (np.log(total) - margin)))

    def dual_at(self, z: Floats) -> Floats:
        """−∇φ(z) as a feasible dual point."""
        a = np.empty(z.size)
        terms.slopes(self.problem.loss, self.problem.y, z.ravel(), a)
        return a.reshape(z.shape)

    def curvature(self, at: ClassResponse) -> Curvature:
        """The Hessians of c φ at a response."""
        weights = at.slopes.copy()
        weights[self.places, self.y] += self.c[:, 0]
        return Curvature(self.problem.loss.hessian_weights(weights, self.c))

    def _together(self, action: Any, calls: list[Any], entries: int) -> list[Any]:
        if entries < _SHARED_FROM:
            return [action(*call) for call in calls]
        return parallel.together(action, calls)


class Curvature:
    """Hessians diag(h) − hhᵀ/Σh of samples, with their weights in h."""

    def __init__(self, h: Floats) -> None:
        self.h = h
        sums = _row_sums(h)
        self.over_sums = 1.0 / np.where(sums > 0.0, sums, 1.0)

    def __call__(self, rows: slice, T: Floats) -> None:
        """Multiply rows of T by their Hessians, in place."""
        h = self.h[rows]
        T *= h
        T -= h * (_row_sums(T) * self.over_sums[rows])[:, None]

    def diagonals(self, places: Any = slice(None)) -> Floats:
        """The diagonal of each Hessian."""
        h = self.h[places]
        return np.asarray(h - h * h * self.over_sums[places, None])

    @cached_property
    def curved(self) -> Any:
        """The samples whose Hessian is not 0, where few have one; None if many have.

        That of a sample with a single share is 0.
        """
        if self.h.all():
            return None
        used = np.flatnonzero(np.count_nonzero(self.h, axis=1) > 1)
        return used if 2 * len(used) <= len(self.h) else None

    def hessian(self, X: Floats, rows: Any = slice(None)) -> Floats:
        """Σ_i x_i x_iᵀ ⊗ Hessian_i of rows X, in the order of coefficients: feature, then class."""
        return summed_pairs(X, self.h[rows], self.over_sums[rows])


def _row_sums(Z: Floats) -> Floats:
    """The sum of each row. NumPy's own is slow where rows are short, and BLAS has threads."""
    return np.asarray(np.einsum("ij->i", Z))
