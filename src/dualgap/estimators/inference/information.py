"""Sums over samples that a covariance is made of: curvatures, and products of slopes.

With K decision values for each sample, coefficient jK + k is that of feature j and class k; the
last feature is the intercept. Columns are centred as they are read, so that large offsets of
columns do not cancel; ``covariance.py`` takes that back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from dualgap.linalg.validate import Floats
from dualgap.losses.offset import own_classes
from dualgap.losses.targets import mean
from dualgap.problem import Problem
from dualgap.proof.terms import curvatures, slopes

_NUMBERS_AT_ONCE = 1 << 20  # of X, written out as a dense block


class InformationSums:
    """What samples add up to at the coefficients ``w`` (flat) and the intercept ``b``."""

    def __init__(self, problem: Problem, X: Any, w: Any, b: Any, *, free_intercept: bool) -> None:
        self.problem, self.X = problem, X
        self.width = width = problem.width
        self.weights = np.ones(problem.n) if problem.s is None else problem.s
        self.total = float(np.sum(self.weights))
        self.intercept = problem.has_intercept
        z = np.asarray(X @ w.reshape(problem.p, width)) + b
        self.slopes, self.bends = _slopes_and_bends(problem, z)
        self.centre = np.zeros(problem.p)
        if free_intercept:
            self.centre = np.ravel(np.asarray(self.weights @ X)) / self.total

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Some samples at a time: where they stand, and their centred features, dense."""
        for some, block in dense_blocks(self.X, self.centre):
            yield some, np.column_stack([block, np.ones(len(block))]) if self.intercept else block

    def centred(self, w: Floats) -> Floats:
        """The same model for centred features, given and returned flat."""
        W = w.reshape(self.problem.d, self.width).copy()
        if self.intercept:
            W[-1] += self.centre @ W[:-1]
        return W.ravel()

    def uncentred(self) -> Any:
        """From coefficients of centred features to those of the user: the intercept moves."""
        size, width = self.problem.d * self.width, self.width
        back = np.eye(size)
        if self.intercept:
            for k in range(width):
                last = size - width + k
                back[last, k : size - width : width] = -self.centre
        return back

    def gradient_and_hessian(self) -> tuple[Any, Any]:
        """Σ s x φ' and Σ s x xᵀ φ''."""
        d, K = self.problem.d, self.width
        gradient, hessian = np.zeros((d, K)), np.zeros((d, K, d, K))
        for some, block in self.blocks():
            s = self.weights[some]
            gradient += block.T @ (s[:, None] * self.slopes[some])
            for k in range(K):
                for m in range(k + 1):
                    part = (block * (s * self.bends(some, k, m))[:, None]).T @ block
                    hessian[:, k, :, m] += part
                    if m != k:
                        hessian[:, m, :, k] += part
        return gradient.ravel(), hessian.reshape(d * K, d * K)

    def chi_square(self) -> float:
        """Pearson's Σ s (y − μ)²/V(μ), which is Σ s φ'²/φ'' at the expected curvature."""
        bends = self.bends(slice(None), 0, 0)
        return float(np.sum(self.weights * self.slopes[:, 0] ** 2 / bends))

    def leverages(self, inverse: Any) -> Any:
        """h_i = φ'' x_i·(inverse)x_i, for losses with one decision value."""
        found = np.empty(self.problem.n)
        for some, block in self.blocks():
            bends = self.bends(some, 0, 0)
            found[some] = bends * np.einsum("ij,ij->i", block @ inverse, block)
        return found

    def products_of_slopes(self, factors: Any) -> Any:
        """Σ s f² (x φ')(x φ')ᵀ, with a factor f for each sample."""
        size = self.problem.d * self.width
        found = np.zeros((size, size))
        for some, block in self.blocks():
            scores = self._scores(some, block) * factors[some, None]
            found += (scores * self.weights[some, None]).T @ scores
        return found

    def products_of_clusters(self, clusters: Any, count: int) -> Any:
        """Σ_c g gᵀ, where g is the sum of s x φ' over the samples of cluster c."""
        sums = np.zeros((count, self.problem.d * self.width))
        for some, block in self.blocks():
            np.add.at(sums, clusters[some], self._scores(some, block) * self.weights[some, None])
        return sums.T @ sums

    def _scores(self, some: slice, block: Any) -> Any:
        scores = block[:, :, None] * self.slopes[some][:, None, :]
        return scores.reshape(len(block), -1)


def dense_blocks(X: Any, centre: Floats) -> Iterator[tuple[slice, Any]]:
    """Some rows of X at a time: where they stand, and what they are less the centre, dense."""
    n, p = X.shape
    size = max(1, _NUMBERS_AT_ONCE // max(p, 1))
    for first in range(0, n, size):
        some = slice(first, min(first + size, n))
        block = X[some]
        block = block.toarray() if sparse.issparse(block) else np.asarray(block)
        yield some, block.astype(np.float64) - centre


def _slopes_and_bends(problem: Problem, z: Any) -> tuple[Any, Any]:
    """φ' of each sample and class, and a function for the entries of φ''.

    Curvatures are those at the expected target, as in Fisher scoring: the losses here are affine
    in y, so that φ''(z; E y) is the expectation of φ''(z; y).
    """
    loss, y = problem.loss, problem.y
    flat, dual = np.ascontiguousarray(z).ravel(), np.empty(z.shape)
    slopes(loss, y, flat, dual.reshape(-1))
    if problem.targets.block:
        own = own_classes(y)
        return -dual, lambda some, k, m: loss.hessian_entries(dual[some], own[some], k, m)
    # A target carries the offset of its sample as its imaginary part.
    offset = np.imag(y) if np.iscomplexobj(y) else 0.0
    expected = y if problem.targets.labels else np.asarray(mean(loss, flat + offset)) + 0.0
    if np.iscomplexobj(y) and not problem.targets.labels:
        expected = expected + 1j * offset
    bends = np.empty(len(y))
    curvatures(loss, expected, flat, bends)
    return -dual, lambda some, k, m: bends[some]
