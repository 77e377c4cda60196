"""Least squares from the moments of the data: all folds and strengths after one pass.

A fold is summed up as its weight, its means and the products of its columns, y among them. Some
points have the same sums, two for each column: means ± a column of a root of the covariances. To
least squares these points are the fold, so the estimators of one machine choose by them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.agreement import aligned
from dualgap.distributed.data.block import Block, RawData
from dualgap.distributed.data.folds import Fold, Folds
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats


class MomentQuestion(NamedTuple):
    """``columns``: to align data with; ``shift``: subtracted from X and y, so that products of
    columns far from 0 keep their digits."""

    folds: Folds
    columns: tuple[int, int] | None
    shift: Floats | None = None


class FoldSums(NamedTuple):
    """Of each fold: the weight, the sums of all columns, and the sums of their products."""

    weight: Floats
    sums: Floats
    products: Floats


def column_sums(data: Any, a: Any, k: int, question: MomentQuestion) -> tuple[Floats, Any]:
    """Σ s, and Σ s x of each column of X and y (a task)."""
    raw = _raw(data, k, question)
    weights = np.ones(len(raw.y)) if raw.weights is None else np.asarray(raw.weights)
    y = np.asarray(raw.y, dtype=np.float64)
    return np.concatenate([[weights.sum()], weights @ raw.X, [weights @ y]]), a


def fold_moments(data: Any, a: Any, k: int, question: MomentQuestion) -> tuple[FoldSums, Any]:
    """The moments of each fold (a task)."""
    raw, folds = _raw(data, k, question), question.folds
    n, size = len(raw.y), raw.X.shape[1] + 1
    weight, sums = np.zeros(folds.total), np.zeros((folds.total, size))
    products = np.zeros((folds.total, size, size))
    for j in range(folds.total):
        own = Fold(folds, j).test_weights(k, n, raw.weights)
        rows = np.flatnonzero(own)
        s, y = own[rows], np.asarray(raw.y, dtype=np.float64)[rows]
        X = raw.X[rows]
        if question.shift is not None:
            y = y - question.shift[-1]
            X = X if storage.is_sparse(X) else X - question.shift[:-1]
        weighted = X.multiply(s[:, None]).tocsr() if storage.is_sparse(X) else X * s[:, None]
        inner = X.T @ weighted
        weight[j] = s.sum()
        sums[j] = np.append(s @ X, s @ y)
        products[j, :-1, :-1] = inner.toarray() if storage.is_sparse(inner) else inner
        products[j, :-1, -1] = products[j, -1, :-1] = (s * y) @ X
        products[j, -1, -1] = (s * y) @ y
    return FoldSums(weight, sums, products), a


def _raw(data: Any, k: int, question: MomentQuestion) -> RawData:
    if isinstance(data, Block):
        return data.raw
    return data if question.columns is None else aligned(data, k, question.columns)


def moments_in(session: Any, folds: Folds) -> tuple[FoldSums, Floats]:
    """The moments of all partitions, and the shift that they refer to."""
    question = MomentQuestion(folds, session.columns)
    totals = np.sum(session.ask(column_sums, question), axis=0)
    shift = totals[1:] / totals[0]
    sparse = any(session.ask(has_sparse_rows, None))
    if sparse:
        shift[:-1] = 0.0
    answers = session.ask(fold_moments, question._replace(shift=shift))
    return FoldSums(*(np.sum(each, axis=0) for each in zip(*answers))), shift


def has_sparse_rows(data: Any, a: Any, k: int, message: None) -> tuple[bool, Any]:
    """Whether X is sparse (a task)."""
    return bool(storage.is_sparse(data.X)), a


def points_of(moments: FoldSums, shift: Floats) -> tuple[Floats, Floats, list[tuple[Any, Any]]]:
    """Points with these moments, their weights, and the training and test points of each fold."""
    points, weights = [], []
    for weight, sums, products in zip(*moments):
        mean = sums / weight
        values, vectors = np.linalg.eigh(products / weight - np.outer(mean, mean))
        root = vectors * np.sqrt(np.maximum(values, 0.0) * len(mean))
        points += [mean + shift + root.T, mean + shift - root.T]
        weights.append(np.full(2 * len(mean), weight / (2.0 * len(mean))))
    fold = np.repeat(np.arange(len(weights)), len(weights[0]))
    pairs = [(np.flatnonzero(fold != j), np.flatnonzero(fold == j)) for j in range(len(weights))]
    return np.vstack(points), np.concatenate(weights), pairs
