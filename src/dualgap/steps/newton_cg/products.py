"""Products of X with a matrix of one column for each class.

Dense data are multiplied by BLAS, a chunk of rows at a time, so that a Hessian product reads X once
from memory. How rows are cut depends on the data alone, and BLAS uses one thread for each piece, so
results do not depend on the number of threads.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, span
from dualgap.linalg import parallel, storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem

_CHUNK_ENTRIES = 1 << 16  # of X: a chunk and its products stay in the cache
_LEAST_ROWS = 64  # of a chunk, so that BLAS has something to do
_SHARED_FROM = 400_000  # multiplications below which starting threads costs more than it saves
_PIECES = 8  # that threads can share


class Products:
    """X W and Xᵀ A with the constant feature; matrices have shape (d, K) and (n, K)."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.width = problem, problem.width
        self.dense = not storage.is_sparse(problem.X)
        n, p = problem.n, problem.p
        rows = min(max(_CHUNK_ENTRIES // max(p, self.width), _LEAST_ROWS), n)
        chunks = [slice(i, min(i + rows, n)) for i in range(0, n, rows)]
        pieces = min(_PIECES, len(chunks)) if n * p * self.width >= _SHARED_FROM else 1
        cuts = [len(chunks) * turn // pieces for turn in range(pieces + 1)]
        self.pieces = [chunks[first:last] for first, last in pairwise(cuts)]

    def rows(self, chunk: slice) -> Floats:
        """Some rows of dense X, in float64."""
        return np.asarray(self.problem.X[chunk], dtype=np.float64)

    def times(self, W: Floats) -> Floats:
        """X W."""
        if not self.dense:
            return self.problem.times(W.ravel(), self.width).reshape(-1, self.width)
        problem, out = self.problem, np.empty((self.problem.n, self.width))

        def fill(chunks: list[slice]) -> None:
            for chunk in chunks:
                np.matmul(self.rows(chunk), W[: problem.p], out=out[chunk])
                if problem.has_intercept:
                    out[chunk] += problem.constant * W[-1]

        parallel.together(fill, [(chunks,) for chunks in self.pieces])
        return out

    def summed(self, A: Floats) -> Floats:
        """Xᵀ A."""
        if not self.dense:
            return self.problem.summed(A.ravel(), self.width).reshape(-1, self.width)
        return self._added(lambda chunk, X: A[chunk])

    def hessian_times(self, V: Floats, curvature: Any) -> Floats:
        """Xᵀ ``curvature(rows, X V)``; the curvature overwrites what it is given."""
        if not self.dense:
            T = self.times(V)
            calls = [(some, T[some]) for chunks in self.pieces for some in chunks]
            parallel.together(curvature, calls)
            return self.summed(T)
        problem = self.problem
        own, last = V[: problem.p], problem.constant * V[-1]

        def curved(chunk: slice, X: Floats) -> Floats:
            T = X @ own
            if problem.has_intercept:
                T += last
            curvature(chunk, T)
            return T

        return self._added(curved)

    def _added(self, factor: Any) -> Floats:
        """Σ XᵀT over chunks of rows X, with T = ``factor(chunk, X)``."""
        problem = self.problem

        def add(chunks: list[slice]) -> Floats:
            out = np.zeros((problem.d, self.width))
            for chunk in chunks:
                X = self.rows(chunk)
                T = factor(chunk, X)
                out[: problem.p] += X.T @ T
                if problem.has_intercept:
                    out[-1] += problem.constant * T.sum(axis=0)
            return out

        return _sum(parallel.together(add, [(chunks,) for chunks in self.pieces]))

    def squares(self, weights: Floats) -> Floats:
        """Σ_i x_ij² weights_ik for each feature and class."""
        problem, out = self.problem, np.zeros((self.problem.d, self.width))
        if self.dense:
            for chunks in self.pieces:
                for chunk in chunks:
                    X = self.rows(chunk)
                    out[: problem.p] += (X * X).T @ weights[chunk]
        else:
            _add_squares(problem.stored_rows, np.ascontiguousarray(weights), out)
        if problem.has_intercept:
            out[-1] = problem.constant**2 * weights.sum(axis=0)
        return out

    def few_rows(self, places: Any) -> Floats:
        """Some rows of X, dense and with the constant feature; all of them for None."""
        problem = self.problem
        X = problem.X
        if places is not None:
            X = storage.selected(X, problem.stored_rows, places)
        X = X.toarray() if storage.is_sparse(X) else X
        out = np.empty((X.shape[0], problem.d))
        out[:, : problem.p] = X
        out[:, problem.p :] = problem.constant
        return out


def _sum(parts: list[Floats]) -> Floats:
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


@kernel
def _add_squares(rows: Any, weights: Any, out: Any) -> None:
    for i in range(len(weights)):
        start, stop = span(rows, i)
        for t in range(start, stop):
            x = np.float64(entry(rows, i, t))
            j = np.int64(place(rows, i, t))
            for k in range(weights.shape[1]):
                out[j, k] += x * x * weights[i, k]
