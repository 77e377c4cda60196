"""Products with a matrix and norms of its coordinates. Each is one pass over all entries.

``gather`` and ``scatter`` also take vectors with K consecutive numbers per place.
Threads share passes over large matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, span
from dualgap.linalg import coded_products, dense
from dualgap.linalg.dense import BLOCK
from dualgap.linalg.matrices import Codes, Dense, Ones, Sparse
from dualgap.linalg.parallel import across, along, arrays, section, together
from dualgap.linalg.validate import Floats

_UNROLLED = 8  # entries read at once from ragged rows, w8a: 0.58 → 0.42 ms a product
_RAGGED_FROM = 1 << 16  # entries of a matrix below which the order of reading does not matter
_SHORT_ROW = 24  # mean entries per coordinate above which unrolling no longer pays
_INSPECTED = 513  # entries or bounds of coordinates that tell about all of them


def norm(x: Any) -> float:
    """‖x‖, not by BLAS: its threads cost more than they save, and their rounding varies."""
    return float(np.sqrt(np.sum(x * x)))


def is_zero(vector: Any) -> bool:
    """Whether all entries are 0. The first few nearly always settle it."""
    return not (vector[:_INSPECTED].any() or vector.any())


def gather(matrix: Any, vector: Any, out: Any) -> None:
    """out_i = A_i · vector, for each of K."""
    if is_zero(vector):
        out[:] = 0.0
        return
    width = len(vector) // matrix.shape[1]
    if width == 1 and isinstance(matrix, Dense):
        dense.gather(matrix, vector, out)
        return
    if width == 1 and isinstance(matrix, Codes) and coded_products.is_short(matrix):
        coded_products.gather(matrix, vector, out)
        return
    action, more = (_gather_blocks, (width,)) if width > 1 else (gather_scalars, ())
    if width == 1 and _is_ragged(matrix):
        action = _gather_ragged
    calls = [(section(matrix, s), vector, _lines(out, s, width), *more) for s in along(matrix)]
    together(action, calls)


def scatter(matrix: Any, weights: Any, out: Any) -> None:
    """out = Σ_i weights_i A_i, for each of K."""
    width = len(out) // matrix.shape[1]
    if width == 1 and isinstance(matrix, Dense):
        dense.scatter(matrix, weights, out)
        return
    if width == 1 and isinstance(matrix, Codes) and coded_products.is_short(matrix):
        coded_products.scatter(matrix, weights, out)
        return
    action, more = (_scatter, ()) if width == 1 else (_scatter_blocks, (width,))
    lines = across(matrix)
    if len(lines) == 1:
        action(matrix, weights, out, *more)
        return
    sums = arrays(len(lines), len(out))
    own = [_lines(weights, s, width) for s in lines]
    calls = [(section(matrix, s), w, o, *more) for s, w, o in zip(lines, own, sums)]
    together(action, calls)
    np.add(sums[0], sums[1], out=out)
    for rest in sums[2:]:
        out += rest


def _lines(vector: Any, lines: slice, width: int) -> Any:
    return vector[lines.start * width : lines.stop * width]


@kernel
def gather_scalars(matrix: Any, vector: Any, out: Any) -> None:
    for i in range(len(out)):
        total = 0.0
        start, stop = span(matrix, i)
        while stop - start > BLOCK:
            block = 0.0
            for t in range(start, start + BLOCK):
                block += entry(matrix, i, t) * vector[place(matrix, i, t)]
            total += block
            start += BLOCK
        block = 0.0
        for t in range(start, stop):
            block += entry(matrix, i, t) * vector[place(matrix, i, t)]
        out[i] = total + block


def _is_ragged(matrix: Any) -> bool:
    """Whether coordinates are many, short, and of lengths that branch prediction cannot learn."""
    if not isinstance(matrix, Sparse):
        return False
    if not _RAGGED_FROM <= len(matrix.indices) <= _SHORT_ROW * matrix.shape[0]:
        return False
    lengths = np.diff(matrix.indptr[:_INSPECTED])
    return bool(np.count_nonzero(np.diff(lengths)) > 0.5 * len(lengths))


@kernel
def _gather_ragged(matrix: Any, vector: Any, out: Any) -> None:
    """The same for short coordinates of many lengths.

    A mispredicted end of a loop costs as much as ten entries. So entries are read by eight; those
    beyond the end belong to the next coordinate and are multiplied by nothing.
    """
    readable = len(matrix.indices) - _UNROLLED
    for i in range(len(out)):
        total = 0.0
        start, stop = span(matrix, i)
        while stop - start > BLOCK:
            block = 0.0
            for t in range(start, start + BLOCK):
                block += entry(matrix, i, t) * vector[place(matrix, i, t)]
            total += block
            start += BLOCK
        block = 0.0
        while start < stop and start <= readable:
            for r in range(_UNROLLED):
                term = entry(matrix, i, start + r) * vector[place(matrix, i, start + r)]
                block += term if start + r < stop else 0.0
            start += _UNROLLED
        for t in range(start, stop):
            block += entry(matrix, i, t) * vector[place(matrix, i, t)]
        out[i] = total + block


@kernel
def _gather_blocks(matrix: Any, vector: Any, out: Any, width: int) -> None:
    block = np.empty(width)
    out[:] = 0.0
    for i in range(len(out) // width):
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
def _scatter_blocks(matrix: Any, weights: Any, out: Any, width: int) -> None:
    out[:] = 0.0
    for i in range(len(weights) // width):
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


def weighted_squares(matrix: Any, weights: Any, out: Any) -> None:
    """out_i = Σ_k weights_k A_ik²."""
    together(_weighted_squares, [(section(matrix, s), weights, out[s]) for s in along(matrix)])


@kernel
def _weighted_squares(matrix: Any, weights: Any, out: Any) -> None:
    for i in range(len(out)):
        total = 0.0
        start, stop = span(matrix, i)
        for t in range(start, stop):
            x = np.float64(entry(matrix, i, t))
            total += weights[place(matrix, i, t)] * x * x
        out[i] = total


def scattered_squares(matrix: Any, weights: Any, out: Any) -> None:
    """out_k = Σ_i weights_i A_ik²."""
    action = coded_products.scattered_squares if isinstance(matrix, Codes) else _scattered_squares
    action(matrix, weights, out)


@kernel
def _scattered_squares(matrix: Any, weights: Any, out: Any) -> None:
    out[:] = 0.0
    for i in range(len(weights)):
        start, stop = span(matrix, i)
        for t in range(start, stop):
            x = np.float64(entry(matrix, i, t))
            out[place(matrix, i, t)] += weights[i] * x * x


def measure(matrix: Any) -> Floats:
    """The squared norms of coordinates."""
    if isinstance(matrix, Ones):
        return np.asarray(np.diff(matrix.indptr), dtype=np.float64)
    own = np.empty(matrix.shape[0])
    together(_measure, [(section(matrix, s), own[s]) for s in along(matrix)])
    return own


@kernel
def _measure(matrix: Any, own: Any) -> None:
    for i in range(len(own)):
        start, stop = span(matrix, i)
        square = 0.0
        for t in range(start, stop):
            x = np.float64(entry(matrix, i, t))
            square += x * x
        own[i] = square


@kernel
def largest(matrix: Any, rows: int) -> float:
    """The largest |entry|, or NaN."""
    found = 0.0
    for i in range(rows):
        start, stop = span(matrix, i)
        for t in range(start, stop):
            x = abs(np.float64(entry(matrix, i, t)))
            if not x <= found:
                found = x
            if found != found:
                return found
    return found


def measure_across(matrix: Any) -> tuple[Floats, Any]:
    """The squared norms of places, and how many entries each has."""
    rows, places = matrix.shape
    lines = across(matrix)
    sums = arrays(len(lines), places, 2)  # side by side: they are visited at random
    calls = [(section(matrix, s), s.stop - s.start, own) for s, own in zip(lines, sums)]
    together(_measure_across, calls)
    total = sum(sums[1:], start=sums[0])
    narrow = np.uint32 if rows < 1 << 32 else np.int64
    return total[:, 0].copy(), total[:, 1].astype(narrow)


@kernel
def _measure_across(matrix: Any, rows: int, out: Any) -> None:
    for i in range(rows):
        start, stop = span(matrix, i)
        for t in range(start, stop):
            x = np.float64(entry(matrix, i, t))
            k = place(matrix, i, t)
            out[k, 0] += x * x
            out[k, 1] += 1.0


@kernel
def set_images(
    matrix: Any, metric: Any, h: Any, order: Any, offsets: Any, images: Any, squares: Any
) -> None:
    """For each set S and r = Σ_{i∈S} h_i A_i: images_i += A_i·r for i ∈ S, squares_S = ‖r‖².

    Products are Σ_k metric_k a_k b_k. Reads the entries of each set three times, and no others.
    """
    r = np.zeros(len(metric))
    for s in range(len(squares)):
        for turn in range(offsets[s], offsets[s + 1]):
            i = order[turn]
            start, stop = span(matrix, i)
            for t in range(start, stop):
                r[place(matrix, i, t)] += h[i] * entry(matrix, i, t)
        square = 0.0
        for turn in range(offsets[s], offsets[s + 1]):
            i = order[turn]
            start, stop = span(matrix, i)
            dot = 0.0
            for t in range(start, stop):
                k = place(matrix, i, t)
                dot += metric[k] * r[k] * entry(matrix, i, t)
            images[i] += dot
            square += h[i] * dot
        squares[s] = square
        for turn in range(offsets[s], offsets[s + 1]):
            start, stop = span(matrix, order[turn])
            for t in range(start, stop):
                r[place(matrix, order[turn], t)] = 0.0
