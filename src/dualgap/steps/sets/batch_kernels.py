"""The iterations of ``batch.py``: over sets, one by one; over their parts, for threads."""

from __future__ import annotations

from typing import Any

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import (
    announce,
    entry,
    expect,
    fetch,
    foresee,
    place,
    read,
    respond,
    span,
    touch,
    wake,
    within,
)

# Samples between asking the caches for something and needing it: where the row is stored and what
# the sample knows; its entries; what its features know.
_PLACES, _ENTRIES, _FEATURES = 8, 4, 2


@inner
def prepare(matrix: Any, features: Any, samples: Any, order: Any, turn: int) -> None:
    """Ask the caches for what the samples after ``order[turn]`` will need."""
    last = len(order) - 1
    later = order[min(turn + _PLACES, last)]
    announce(matrix, later)
    expect(samples, later)
    fetch(matrix, order[min(turn + _ENTRIES, last)])
    foresee(matrix, order[min(turn + _FEATURES, last)], features)


@kernel
def visit_singles(matrix: Any, features: Any, samples: Any, order: Any, time: int) -> int:
    """Iterations ``time`` + 1, ... on one sample each; returns how many moved."""
    moved = 0
    for turn in range(len(order)):
        prepare(matrix, features, samples, order, turn)
        i, t = order[turn], time + turn + 1
        start, stop = span(matrix, i)
        z = 0.0
        for at in range(start, stop):
            j = place(matrix, i, at)
            wake(features, j, t)
            z += entry(matrix, i, at) * read(features, j, i, t)
        amount = respond(samples, i, z, t)
        if amount != 0.0:
            moved += 1
            for at in range(start, stop):
                touch(features, place(matrix, i, at), amount * entry(matrix, i, at), i, t)
    return moved


@kernel
def visit(
    matrix: Any,
    width: int,
    features: Any,
    samples: Any,
    order: Any,
    offsets: Any,
    time: int,
    amounts: Any,
) -> int:
    """Iterations ``time`` + 1, ... over consecutive sets; returns how many samples moved."""
    moved = 0
    for k in range(len(offsets) - 1):
        begin, end = offsets[k], offsets[k + 1]
        for turn in range(begin, end):
            prepare(matrix, features, samples, order, turn)
        rows = order[begin:end]
        t = time + k + 1
        wake_rows(matrix, features, rows, 0, width, t, amounts)
        moved += respond_rows(matrix, features, samples, rows, t, amounts)
        touch_rows(matrix, features, rows, 0, width, t, amounts)
    return moved


@kernel
def wake_rows(
    matrix: Any, features: Any, rows: Any, low: int, high: int, t: int, amounts: Any
) -> None:
    """Wake the features low, ..., high − 1 of some rows."""
    for i in rows:
        start, stop = within(matrix, i, low, high)
        for at in range(start, stop):
            wake(features, place(matrix, i, at), t)


@kernel
def respond_rows(matrix: Any, features: Any, samples: Any, rows: Any, t: int, amounts: Any) -> int:
    """Let some samples respond; fills in their amounts."""
    moved = 0
    for turn in range(len(rows)):
        i = rows[turn]
        start, stop = span(matrix, i)
        z = 0.0
        for at in range(start, stop):
            z += entry(matrix, i, at) * read(features, place(matrix, i, at), i, t)
        amounts[turn] = respond(samples, i, z, t)
        if amounts[turn] != 0.0:
            moved += 1
    return moved


@kernel
def touch_rows(
    matrix: Any, features: Any, rows: Any, low: int, high: int, t: int, amounts: Any
) -> None:
    """Apply the amounts of some rows to the features low, ..., high − 1."""
    for turn in range(len(rows)):
        amount = amounts[turn]
        if amount != 0.0:
            i = rows[turn]
            start, stop = within(matrix, i, low, high)
            for at in range(start, stop):
                touch(features, place(matrix, i, at), amount * entry(matrix, i, at), i, t)


@kernel
def wake_all(features: Any, size: int, t: int) -> None:
    """Bring every feature to iteration ``t``."""
    for j in range(size):
        wake(features, j, t)
