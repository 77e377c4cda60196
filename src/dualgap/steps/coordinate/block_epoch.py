"""The coordinate step for block losses: a coordinate is a sample with all its classes.

    g_k = Σ_j x_ij w_jk;  a_i ← argmin_s g·s + (q_i/2)‖s − a_i‖² + G_i(s);  u_j += scale_i x_ij Δ_i

With A_i = x_i ⊗ I (Qu et al. 2014) the curvature is the same in every class, so the step is that of
``epoch.epoch`` with a vector rule, and a row is read once for all classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import announce, entry, expect, fetch, gradient, place, span, step_into
from dualgap.compile.scalar import EPS
from dualgap.steps.coordinate.epoch import TUNING

_AHEAD = TUNING.prefetch_distance


@kernel
def block_epoch(
    matrix: Any, smooth: Any, separable: Any, scale: Any, squares: Any, order: Any, x: Any, v: Any
) -> tuple[int, int]:
    """Visit the samples in ``order``; returns how many moved and the vector operations."""
    width = len(x) // len(squares)
    fours = width - width % 4
    g, new = np.empty(width), np.empty(width)
    moved = 0
    last = len(order) - 1
    for turn in range(len(order)):
        i = order[turn]
        later = order[min(turn + 2 * _AHEAD, last)]
        announce(matrix, later)
        expect(separable, later)
        prefetch(x, later * width)
        prefetch(squares, later)
        prefetch(scale, later)
        fetch(matrix, order[min(turn + _AHEAD, last)])
        start, stop = span(matrix, i)
        for k in range(0, fours, 4):
            g[k], g[k + 1], g[k + 2], g[k + 3] = _four(matrix, smooth, i, k, width, v)
        for k in range(fours, width):
            total = 0.0
            for t in range(start, stop):
                at = place(matrix, i, t) * width + k
                total += entry(matrix, i, t) * gradient(smooth, at, v[at])
            g[k] = total
        own = x[i * width : (i + 1) * width]
        step_into(separable, i, own, g, scale[i] * squares[i], new)
        largest = 0.0
        change = 0.0
        for k in range(width):
            largest = max(largest, abs(new[k]))
            change = max(change, abs(new[k] - own[k]))
        if change > EPS * largest:  # less is rounding, which would go on for ever
            for k in range(width):
                g[k] = scale[i] * (new[k] - own[k])
                own[k] = new[k]
            for t in range(start, stop):
                a = entry(matrix, i, t)
                at = place(matrix, i, t) * width
                for k in range(0, fours, 4):
                    v[at + k] += g[k] * a
                    v[at + k + 1] += g[k + 1] * a
                    v[at + k + 2] += g[k + 2] * a
                    v[at + k + 3] += g[k + 3] * a
                for k in range(fours, width):
                    v[at + k] += g[k] * a
            moved += 1
    return moved, len(order) + moved


@inner
def _four(
    matrix: Any, smooth: Any, i: int, k: int, width: int, v: Any
) -> tuple[float, float, float, float]:
    """Σ_j x_ij w_jk for four classes from k on, in registers."""
    g0 = g1 = g2 = g3 = 0.0
    start, stop = span(matrix, i)
    for t in range(start, stop):
        a = entry(matrix, i, t)
        at = place(matrix, i, t) * width + k
        g0 += a * gradient(smooth, at, v[at])
        g1 += a * gradient(smooth, at + 1, v[at + 1])
        g2 += a * gradient(smooth, at + 2, v[at + 2])
        g3 += a * gradient(smooth, at + 3, v[at + 3])
    return g0, g1, g2, g3
