"""The iterations of ``batch.py`` for block losses: features and samples have K entries each."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, read, respond_into, span, touch, wake, within


@kernel
def visit(
    matrix: Any,
    places: int,
    features: Any,
    samples: Any,
    order: Any,
    offsets: Any,
    time: int,
    amounts: Any,
) -> int:
    """Iterations ``time`` + 1, ... over consecutive sets; returns how many samples moved."""
    moved = 0
    for s in range(len(offsets) - 1):
        rows = order[offsets[s] : offsets[s + 1]]
        t = time + s + 1
        wake_rows(matrix, features, rows, 0, places, t, amounts)
        moved += respond_rows(matrix, features, samples, rows, t, amounts)
        touch_rows(matrix, features, rows, 0, places, t, amounts)
    return moved


@kernel
def wake_rows(
    matrix: Any, features: Any, rows: Any, low: int, high: int, t: int, amounts: Any
) -> None:
    width = amounts.shape[1]
    for i in rows:
        start, stop = within(matrix, i, low, high)
        for at in range(start, stop):
            j = place(matrix, i, at) * width
            for k in range(width):
                wake(features, j + k, t)


@kernel
def respond_rows(matrix: Any, features: Any, samples: Any, rows: Any, t: int, amounts: Any) -> int:
    width = amounts.shape[1]
    z = np.empty(width)
    moved = 0
    for turn in range(len(rows)):
        i = rows[turn]
        start, stop = span(matrix, i)
        z[:] = 0.0
        for at in range(start, stop):
            x = entry(matrix, i, at)
            j = place(matrix, i, at) * width
            for k in range(width):
                z[k] += x * read(features, j + k, i, t)
        respond_into(samples, i, z, t, amounts[turn])
        if amounts[turn].any():
            moved += 1
    return moved


@kernel
def touch_rows(
    matrix: Any, features: Any, rows: Any, low: int, high: int, t: int, amounts: Any
) -> None:
    width = amounts.shape[1]
    for turn in range(len(rows)):
        if amounts[turn].any():
            i = rows[turn]
            start, stop = within(matrix, i, low, high)
            for at in range(start, stop):
                x = entry(matrix, i, at)
                j = place(matrix, i, at) * width
                for k in range(width):
                    touch(features, j + k, amounts[turn, k] * x, i, t)
