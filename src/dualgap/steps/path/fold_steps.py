"""Newton steps of several models on the same rows: from their Hessians, or by conjugate gradients.

Coefficients have axes (features, models, decision values). H is Σ s x xᵀ ⊗ φ'' plus ``ridge``,
which has one entry for each feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats


@dataclass(frozen=True)
class Tuning:
    """When paths of all folds run, and how; measured on the toy data of scikit-learn and on
    300 x 1000 normal numbers."""

    # Numbers in X, which is copied and centred: 32 MB.
    most_numbers: int = 1 << 22
    # Unknowns of a model: bounds what a decomposition of the data costs.
    most_unknowns: int = 2000
    # Multiplications that take as long as what one step of conjugate gradients costs besides.
    overhead: float = 1.5e6
    # Hessians that take less time than this many such steps are used from the start. Where they
    # take longer they are used once a solve has needed more steps than they are worth.
    few_inner_steps: float = 4.0
    # Products with a matrix of k columns take 1 + ``thin``/k times as long as those of square ones.
    thin: float = 15.0
    # Numbers of a block of weighted rows: 2 MB, which caches hold.
    block_numbers: int = 1 << 18
    # The share of a residual that conjugate gradients may leave at most.
    most_residual: float = 0.25
    # Steps of conjugate gradients in one Newton step, Newton steps at one point, and halvings of
    # a step: beyond these the general method solves the point.
    most_inner_steps: int = 200
    most_steps: int = 60
    halvings: int = 30
    # A step must keep this share of the decrease that its slope promises.
    decrease: float = 1e-4


TUNING = Tuning()


def steps_worth_hessians(n: int, features: int, width: int, models: int) -> float:
    """How many steps of conjugate gradients take as long as Newton steps from Hessians."""
    unknowns = features * width
    hessians = models * (n * unknowns * (unknowns + features) + unknowns**3 / 3.0)
    thin = 1.0 + TUNING.thin / (models * width)
    return float(hessians / (thin * 4.0 * n * unknowns * models + TUNING.overhead))


def newton_step(rows: Floats, weighted: Floats, ridge: Floats, gradient: Floats) -> Floats:
    """−H⁻¹∇, where ``weighted`` are upper triangles of weighted curvatures, for each model."""
    size, models, width = gradient.shape
    pairs = models * weighted.shape[2]
    block = max(TUNING.block_numbers // (pairs * size), 16)
    sums = np.zeros((size, pairs * size))
    for first in range(0, len(rows), block):
        some = rows[first : first + block]
        scaled = weighted[first : first + block].reshape(-1, pairs, 1) * some[:, None, :]
        sums += some.T @ scaled.reshape(len(some), -1)
    upper = sums.reshape(size, models, -1, size)
    blocks = np.empty((models, width, size, width, size))
    for pair, (one, other) in enumerate(zip(*np.triu_indices(width))):
        own = upper[:, :, pair].transpose(1, 0, 2)
        blocks[:, one, :, other] = blocks[:, other, :, one] = own
    hessian = blocks.reshape(models, width * size, width * size)
    diagonal = np.einsum("fii->fi", hessian)
    diagonal += np.tile(ridge, width)
    scale = 1.0 / np.sqrt(np.maximum(diagonal, np.finfo(np.float64).tiny))
    hessian *= scale[:, :, None] * scale[:, None, :]
    diagonal += 4.0 * EPS * width * size  # what saturated samples leave may be singular
    right = scale * gradient.transpose(1, 2, 0).reshape(models, -1)
    move = scale * np.linalg.solve(hessian, right[:, :, None])[:, :, 0]
    return np.asarray(-move.reshape(models, width, size).transpose(2, 0, 1))


def inexact_step(
    rows: Floats,
    squares: Floats,
    point: Any,
    weights: Floats,
    ridge: Floats,
    gradient: Floats,
    rest: Floats,
) -> tuple[Floats, int]:
    """The same by conjugate gradients, until ``rest`` of each residual is left, and the number of
    steps. ``squares`` are those of the rows: the diagonal of H is the preconditioner."""
    n, own, column = len(rows), weights[:, :, None], ridge[:, None, None]
    curvatures = (own * point.diagonals()).reshape(n, -1)
    diagonal = (squares.T @ curvatures).reshape(gradient.shape) + column
    inverse = 1.0 / np.maximum(diagonal, np.finfo(np.float64).tiny)
    move, residual = np.zeros_like(gradient), -gradient
    ahead = inverse * residual
    direction, size = ahead, _inner(residual, ahead)
    goal = rest**2 * size
    steps = 0
    while steps < TUNING.most_inner_steps:
        steps += 1
        changes = (rows @ direction.reshape(len(direction), -1)).reshape(n, *gradient.shape[1:])
        bent = own * point.curved(changes)
        product = (rows.T @ bent.reshape(n, -1)).reshape(gradient.shape) + column * direction
        step = _ratio(size, _inner(direction, product))
        move += step * direction
        residual -= step * product
        ahead = inverse * residual
        new = _inner(residual, ahead)
        if (new <= goal).all():
            break
        direction = ahead + _ratio(new, size) * direction
        size = new
    return move, steps


def _inner(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("jfk,jfk->f", one, other))


def _ratio(one: Floats, other: Floats) -> Floats:
    """A factor for each model; 0 where a model has arrived."""
    found = np.divide(one, other, out=np.zeros_like(one), where=other > 0.0)
    return np.asarray(found[:, None])
