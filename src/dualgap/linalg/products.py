"""The passes over a matrix that are not coordinate steps. Each reads every entry once.

``gather`` and ``scatter`` take vectors with K entries for each place, one after the other, as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap._compile import kernel
from dualgap._rules import entry, place, span

# Long sums are added up in blocks, so that their rounding errors grow with this and not with n.
BLOCK = 1024


def gather(matrix: Any, vector: Any, out: Any) -> None:
    """out_i = A_i · vector, for each of K."""
    rows, places = matrix.shape
    if len(vector) == places:
        _gather(matrix, vector, out)
    else:
        _gather_blocks(matrix, rows, vector, out)


def scatter(matrix: Any, weights: Any, out: Any) -> None:
    """out = Σ_i weights_i A_i, for each of K."""
    rows, places = matrix.shape
    if len(out) == places:
        _scatter(matrix, weights, out)
    else:
        _scatter_blocks(matrix, rows, weights, out)


@kernel
def _gather(matrix: Any, vector: Any, out: Any) -> None:
    for i in range(len(out)):
        total = 0.0
        start, stop = span(matrix, i)
        for first in range(start, stop, BLOCK):
            block = 0.0
            for t in range(first, min(first + BLOCK, stop)):
                block += entry(matrix, i, t) * vector[place(matrix, i, t)]
            total += block
        out[i] = total


@kernel
def _gather_blocks(matrix: Any, rows: int, vector: Any, out: Any) -> None:
    width = len(out) // rows
    block = np.empty(width)
    out[:] = 0.0
    for i in range(rows):
        start, stop = span(matrix, i)
        for first in range(start, stop, BLOCK):
            block[:] = 0.0
            for t in range(first, min(first + BLOCK, stop)):
                x = entry(matrix, i, t)
                at = place(matrix, i, t) * width
                for k in range(width):
                    block[k] += x * vector[at + k]
            for k in range(width):
                out[i * width + k] += block[k]


@kernel
def _scatter_blocks(matrix: Any, rows: int, weights: Any, out: Any) -> None:
    width = len(weights) // rows
    out[:] = 0.0
    for i in range(rows):
        start, stop = span(matrix, i)
        for t in range(start, stop):
            x = entry(matrix, i, t)
            at = place(matrix, i, t) * width
            for k in range(width):
                out[at + k] += weights[i * width + k] * x


@kernel
def _scatter(matrix: Any, weights: Any, out: Any) -> None:
    out[:] = 0.0
    for i in range(len(weights)):
        weight = weights[i]
        if weight != 0.0:
            start, stop = span(matrix, i)
            for t in range(start, stop):
                out[place(matrix, i, t)] += weight * entry(matrix, i, t)


@kernel
def weighted_squares(matrix: Any, weights: Any, out: Any) -> None:
    """out_i = Σ_k weights_k A_ik²."""
    for i in range(len(out)):
        total = 0.0
        start, stop = span(matrix, i)
        for t in range(start, stop):
            x = np.float64(entry(matrix, i, t))
            total += weights[place(matrix, i, t)] * x * x
        out[i] = total


@kernel
def measure(matrix: Any, own: Any, other: Any, own_count: Any, other_count: Any) -> float:
    """Squared norms and numbers of entries of both sides; returns the largest |entry| or NaN."""
    largest = 0.0
    total = 0.0
    for i in range(len(own)):
        start, stop = span(matrix, i)
        own_count[i] = stop - start
        square = 0.0
        for t in range(start, stop):
            x = np.float64(entry(matrix, i, t))
            k = place(matrix, i, t)
            largest = max(largest, abs(x))
            total += x
            square += x * x
            other[k] += x * x
            other_count[k] += 1.0
        own[i] = square
    return largest if np.isfinite(total) else np.nan
