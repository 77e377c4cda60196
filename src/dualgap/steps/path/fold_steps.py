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
    # Multiplications that one with an entry of sparse data takes as long as, and that a number of
    # a matrix takes which they are scattered to. 32,561 x 123 and 10,000 x 2,000.
    sparse: float = 3.5
    scattered: float = 60.0
    # Entries of sparse data, and samples times decision values: bounds memory. Larger ones were
    # not measured.
    most_entries: int = 1 << 24
    most_values: int = 1 << 18
    # Unknowns of a model of sparse data, for two classes and for more: conjugate gradients take
    # many steps on words, which are many. Two classes, ours / lbfgs of scikit-learn without and
    # with one run for all folds: a9a 0.78 and 0.43, 20,000 x 300 1.6 and 0.6, w8a 2.0 and 1.65, but
    # 5,000 x 1,500 words 0.9 and 1.9. Classes: 3 of 3,000 x 200 1.1 and 0.6, 5 of 3,000 x 1,500
    # words 4.3 and 1.3.
    most_of_two_classes: int = 500
    most_of_classes: int = 6000
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


def sparse_steps_worth_hessians(X: Any, width: int, models: int) -> float:
    """The same for sparse data."""
    (n, p), entries = X.shape, X.nnz
    if p * width > TUNING.most_unknowns:
        return np.inf
    pairs = 0.5 * width * (width + 1)
    products = TUNING.sparse * 0.5 * entries * (entries / n) + TUNING.scattered * p * p
    hessians = models * (pairs * products + (p * width) ** 3 / 3.0)
    steps = TUNING.sparse * 2.0 * entries * width * models + 8.0 * n * width * models
    return float(hessians / (steps + TUNING.overhead))


def newton_step(rows: Any, weighted: Floats, ridge: Floats, gradient: Floats) -> Floats:
    """−H⁻¹∇, where ``weighted`` are upper triangles of weighted curvatures, for each model."""
    size, models, width = gradient.shape
    upper = rows.grams(weighted)
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
    rows: Any,
    point: Any,
    weights: Floats,
    ridge: Floats,
    gradient: Floats,
    rest: Floats,
) -> tuple[Floats, int]:
    """The same by conjugate gradients, until ``rest`` of each residual is left, and the number of
    steps. The diagonal of H is the preconditioner."""
    own, column = weights[:, :, None], ridge[:, None, None]
    diagonal = rows.squared(own * point.diagonals()) + column
    inverse = 1.0 / np.maximum(diagonal, np.finfo(np.float64).tiny)
    bent = point.bending(own)
    move, residual = np.zeros_like(gradient), -gradient
    ahead = inverse * residual
    direction, size = ahead.copy(), _inner(residual, ahead)
    goal = rest**2 * size
    steps = 0
    while steps < TUNING.most_inner_steps:
        steps += 1
        product = rows.pulled(bent(rows.times(direction)))
        product += np.multiply(column, direction, out=ahead)
        step = _ratio(size, _inner(direction, product))
        move += np.multiply(step, direction, out=ahead)
        product *= step
        residual -= product
        np.multiply(inverse, residual, out=ahead)
        new = _inner(residual, ahead)
        if (new <= goal).all():
            break
        direction *= _ratio(new, size)
        direction += ahead
        size = new
    return move, steps


def _inner(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("jfk,jfk->f", one, other))


def _ratio(one: Floats, other: Floats) -> Floats:
    """A factor for each model; 0 where a model has arrived."""
    found = np.divide(one, other, out=np.zeros_like(one), where=other > 0.0)
    return np.asarray(found[:, None])
