"""Products with a Hessian Xᵀ diag(weights) X, which is never computed.

One pass over X by rows takes a row for both products while it is in the cache: half of the time of
two passes where X is larger than the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, span
from dualgap.linalg import storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.parallel import across, arrays, section, together
from dualgap.linalg.validate import Floats


class HessianProducts:
    """Products of one X, with the constant feature if there is one."""

    def __init__(self, data: DesignMatrix) -> None:
        self.data = data
        # Dense columns as rows would be read with large strides.
        self.in_one_pass = data.by_rows or storage.is_sparse(data.X)

    def no_image(self) -> Floats:
        """X times 0."""
        return np.zeros(self.data.n)

    def times(self, weights: Floats, v: Floats) -> tuple[Floats, Floats]:
        """X v, and Xᵀ diag(weights) X v."""
        data = self.data
        if not self.in_one_pass:
            image = data.times(v, 1)
            return image, data.summed(weights * image, 1)
        matrix, image, out = data.stored_rows, np.empty(data.n), np.zeros(data.d)
        own, border = v[: data.p], float(data.constant * v[-1]) if data.constant else 0.0
        lines = across(matrix)
        sums = [out[: data.p]] if len(lines) == 1 else arrays(len(lines), data.p)
        calls = [
            (section(matrix, s), weights[s], own, border, image[s], total)
            for s, total in zip(lines, sums)
        ]
        totals = together(_curved, calls)
        if len(lines) > 1:
            out[: data.p] = sum(sums[1:], start=sums[0])
        if data.constant:
            out[-1] = data.constant * sum(totals)
        return image, out

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        """Σ weights x and Σ weights x² of each feature; ``weights`` must not be negative."""
        data = self.data
        out = np.zeros((2, data.d))
        matrix = data.stored_rows
        lines = across(matrix)
        sums = [out[:, : data.p]] if len(lines) == 1 else arrays(len(lines), 2, data.p)
        calls = [(section(matrix, s), weights[s], total) for s, total in zip(lines, sums)]
        together(_add_moments, calls)
        if len(lines) > 1:
            out[:, : data.p] = sum(sums[1:], start=sums[0])
        if data.constant:
            out[:, -1] = float(np.sum(weights)) * np.array([data.constant, data.constant**2])
        return out[0], out[1]


@kernel
def _curved(rows: Any, weights: Any, v: Any, border: float, image: Any, out: Any) -> float:
    """Returns Σ weights·image."""
    total = 0.0
    for i in range(len(weights)):
        start, stop = span(rows, i)
        along = border
        for t in range(start, stop):
            along += entry(rows, i, t) * v[place(rows, i, t)]
        image[i] = along
        along *= weights[i]
        if along != 0.0:
            total += along
            for t in range(start, stop):
                out[place(rows, i, t)] += along * entry(rows, i, t)
    return total


@kernel
def _add_moments(rows: Any, weights: Any, out: Any) -> None:
    sums, squares = out[0], out[1]
    for i in range(len(weights)):
        weight = weights[i]
        if weight != 0.0:
            start, stop = span(rows, i)
            for t in range(start, stop):
                x = np.float64(entry(rows, i, t))
                j = place(rows, i, t)
                sums[j] += weight * x
                squares[j] += weight * x * x
