"""Preconditioners of the Newton system: the Hessian of each class by itself, or what is like it.

``ClassBlocks``         the blocks H_kk, and the constraint that a step adds up to 0 over classes
``SharedCorrelations``  the diagonals of all blocks, with correlations that all classes share
``Diagonal``            the diagonals alone
Blocks and correlations come from a random sample of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from dualgap.linalg.validate import Floats
from dualgap.steps.newton_cg.losses_at import Curvature
from dualgap.steps.newton_cg.pairs import MANY_FEATURES, feature_pairs, unfolded
from dualgap.steps.newton_cg.products import Products

Preconditioner = Callable[[Floats], Floats]
_RIDGE = 1e-14  # relative: a few times the rounding error of a diagonal


def class_blocks(
    products: Products, at: Curvature, quadratic: Floats, places: Any, share: float
) -> Preconditioner:
    """``quadratic`` is the diagonal of the penalty; the rows at ``places`` have this share of all
    weights."""
    X = products.few_rows(places)
    weights = at.diagonals(slice(None) if places is None else places) / share
    inverses = _inverses(_blocks(X, weights) + quadratic.T[:, :, None] * np.eye(len(quadratic)))
    # The Hessian of the losses is 0 along steps that are the same for all classes. Without that
    # constraint blocks would allow them, and a strong penalty on nothing else would hold them back.
    together = inverse(inverses.sum(axis=0))
    alike = bool((quadratic == quadratic[:, :1]).all())

    def solve(right: Floats) -> Floats:
        columns = np.ascontiguousarray(right.T)[:, :, None]
        found = np.matmul(inverses, columns)
        if alike:
            found -= np.matmul(inverses, together @ found.sum(axis=0))
        return np.asarray(found[:, :, 0].T)

    return solve


def shared_correlations(
    products: Products, at: Curvature, quadratic: Floats, places: Any, share: float
) -> Preconditioner:
    roots = 1.0 / np.sqrt(_diagonal(products, at, quadratic))
    X = products.few_rows(places)
    weights = at.diagonals(slice(None) if places is None else places).sum(axis=1) / share
    matrix = (X * np.sqrt(weights)[:, None]).T
    matrix = matrix @ matrix.T
    matrix[np.diag_indices(len(matrix))] += quadratic.sum(axis=1)
    inverted = inverse(matrix)
    size = np.sqrt(np.diag(matrix))[:, None]

    def solve(right: Floats) -> Floats:
        return np.asarray(roots * size * (inverted @ (size * roots * right)))

    return solve


def diagonal(products: Products, at: Curvature, quadratic: Floats) -> Preconditioner:
    inverted = 1.0 / _diagonal(products, at, quadratic)
    return lambda right: inverted * right


def _diagonal(products: Products, at: Curvature, quadratic: Floats) -> Floats:
    found = products.squares(at.diagonals()) + quadratic
    return np.where(found > 0.0, found, 1.0)


def _blocks(X: Floats, weights: Floats) -> Floats:
    """Σ_i weights_ik x_i x_iᵀ for each class k."""
    d = X.shape[1]
    if d >= MANY_FEATURES:
        return np.array([(X * own[:, None]).T @ X for own in weights.T])
    blocks = np.zeros((weights.shape[1], d * (d + 1) // 2))
    for features, rows in feature_pairs(X):
        blocks += weights[rows].T @ features.T
    return unfolded(blocks, d)


def _inverses(matrices: Floats) -> Floats:
    """The inverse of each matrix; those of many small ones at once, if they are regular."""
    size = np.sqrt(np.maximum(np.diagonal(matrices, axis1=1, axis2=2), 0.0))
    unit = 1.0 / np.where(size > 0.0, size, 1.0)
    units = unit[:, :, None] * unit[:, None, :]
    scaled = matrices * units
    own = np.arange(matrices.shape[1])
    scaled[:, own, own] = 1.0 + _RIDGE
    try:
        np.linalg.cholesky(scaled)
        found = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return np.array([inverse(matrix) for matrix in matrices])
    return np.asarray(0.5 * (found + found.swapaxes(1, 2)) * units)


def inverse(matrix: Floats) -> Floats:
    """The inverse, in units in which the diagonal is 1, with as little added to it as need be."""
    size = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    unit = 1.0 / np.where(size > 0.0, size, 1.0)
    scaled = matrix * unit * unit[:, None]
    ridge = _RIDGE
    while True:
        np.fill_diagonal(scaled, 1.0 + ridge)
        factor, failed = lapack.dpotrf(scaled, lower=1)
        if not failed:
            found, failed = lapack.dpotri(factor, lower=1)
        if not failed:
            found = np.tril(found)
            found += np.tril(found, -1).T
            return np.asarray(found * unit * unit[:, None])
        ridge *= 100.0
