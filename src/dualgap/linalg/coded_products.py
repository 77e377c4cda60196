"""Products with numbers and categories, from codes: no entry of 1 is read or multiplied."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.linalg import dense, products
from dualgap.linalg.dense import BLOCK
from dualgap.linalg.matrices import Codes, Dense
from dualgap.linalg.parallel import across, along, arrays, together
from dualgap.linalg.validate import Floats


def is_short(matrix: Codes) -> bool:
    """Whether rows are no longer than a block, so that bounds on rounding errors count each of
    their entries, and sums over cells are none the worse."""
    return bool(matrix.used + matrix.codes.shape[1] <= BLOCK)


def gather(matrix: Codes, vector: Any, out: Any) -> None:
    """out_i = A_i · vector."""
    q, of_cells = matrix.used, np.empty(matrix.levels.shape[0])
    products.gather(matrix.levels, vector[q:], of_cells)
    parts = [(matrix.numbers[s], matrix.cells[s], out[s]) for s in along(matrix)]
    together(_gather, [(*arrays, vector[:q], of_cells) for arrays in parts])


@kernel
def _gather(numbers: Any, cells: Any, out: Any, vector: Any, of_cells: Any) -> None:
    for i in range(len(out)):
        total = 0.0
        for t in range(len(vector)):
            total += numbers[i, t] * vector[t]
        for g in range(cells.shape[1]):
            total += of_cells[cells[i, g]]
        out[i] = total


def scatter(matrix: Codes, weights: Any, out: Any) -> None:
    """out = Σ_i weights_i A_i."""
    q = matrix.used
    if q:
        dense.scatter(Dense(matrix.numbers), weights, out[:q])
    _scatter_levels(matrix, weights, out[q:])


def _scatter_levels(matrix: Codes, weights: Any, out: Any) -> None:
    lines = across(matrix, matrix.levels.shape[0])
    sums = arrays(len(lines), matrix.levels.shape[0])
    together(_sum_up, [(matrix.cells[s], weights[s], own) for s, own in zip(lines, sums)])
    products.scatter(matrix.levels, sum(sums[1:], start=sums[0]), out)


@kernel
def _sum_up(cells: Any, weights: Any, out: Any) -> None:
    for g in range(cells.shape[1]):
        for i in range(len(weights)):
            out[cells[i, g]] += weights[i]


def scattered_squares(matrix: Codes, weights: Any, out: Any) -> None:
    """out_k = Σ_i weights_i A_ik²."""
    q = matrix.used
    if q:
        dense.scatter(Dense(np.square(matrix.numbers, dtype=np.float64)), weights, out[:q])
    _scatter_levels(matrix, weights, out[q:])


def measure(matrix: Codes) -> tuple[Floats, tuple[Floats, Floats]]:
    """The squared norms of coordinates; those of places, and how many entries these have."""
    n, q = matrix.shape[0], matrix.used
    of_rows, counts = np.zeros(n), np.empty(matrix.width)
    _scatter_levels(matrix, np.ones(n), counts[q:])
    of_places = counts.copy()
    counts[:q] = n
    if q:
        of_rows, of_places[:q] = dense.measure(Dense(matrix.numbers))
    of_rows += matrix.codes.shape[1]
    return of_rows, (of_places, counts)


# --- Gram matrices ----------------------------------------------------------------------------


def tables_of_cells(matrix: Codes, weights: Any) -> Floats:
    """For each cell the sums of weights, and of weighted numbers."""
    shape = matrix.levels.shape[0], 1 + matrix.used
    lines = across(matrix, shape[0] * shape[1], matrix.cells.size * shape[1])
    sums = arrays(len(lines), *shape)
    parts = [(matrix.numbers[s], matrix.cells[s], weights[s]) for s in lines]
    together(_tabulate, [(*part, own) for part, own in zip(parts, sums)])
    return np.asarray(sum(sums[1:], start=sums[0]))


@kernel
def _tabulate(numbers: Any, cells: Any, weights: Any, out: Any) -> None:
    for i in range(len(weights)):
        weight = weights[i]
        if weight != 0.0:
            for g in range(cells.shape[1]):
                line = out[cells[i, g]]
                line[0] += weight
                for t in range(out.shape[1] - 1):
                    line[1 + t] += weight * numbers[i, t]


def cross_tabulate(matrix: Codes, weights: Any, groups: Any) -> Floats:
    """Below the diagonal: Σ weights over samples where two levels meet, of columns in different
    ``groups``."""
    q = matrix.used
    size = matrix.width - q
    k = matrix.codes.shape[1]
    lines = across(matrix, size * size, len(weights) * 0.5 * k * k)
    sums = arrays(len(lines), size, size)
    parts = [(matrix.codes[s], q, groups, weights[s]) for s in lines]
    together(_cross_tabulate, [(*part, own) for part, own in zip(parts, sums)])
    return np.asarray(sum(sums[1:], start=sums[0]))


@kernel
def _cross_tabulate(codes: Any, first: int, groups: Any, weights: Any, out: Any) -> None:
    for i in range(len(weights)):
        weight = weights[i]
        if weight != 0.0:
            for t in range(1, codes.shape[1]):
                line = out[codes[i, t] - first]
                for s in range(t):
                    if groups[s] != groups[t]:
                        line[codes[i, s] - first] += weight
