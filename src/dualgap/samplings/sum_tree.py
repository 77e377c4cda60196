"""A sum tree ("random counters", Nesterov 2012): draw and change a weight in O(log n).

The leaves hold the weights, each inner node the sum of its two children.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel

# Weights only fall; below this total they are scaled up again, which changes no probability.
_RESCALE_BELOW = 1e-200


@kernel
def draw_decaying(weights: Any, coins: Any, factor: float) -> Any:
    """Draw ∝ ``weights``; each drawn weight is divided by ``factor`` before the next draw."""
    n = len(weights)
    leaves = 1
    while leaves < n:
        leaves *= 2
    tree = np.zeros(2 * leaves)
    # Loops, for array expressions and ``max`` take seconds to compile.
    largest = _largest(weights)
    for i in range(n):
        tree[leaves + i] = weights[i] / largest
    _sum_up(tree, leaves)
    out = np.empty(len(coins), np.int64)
    for t in range(len(coins)):
        if tree[1] < _RESCALE_BELOW:
            largest = _largest(tree[leaves:])
            for node in range(leaves, 2 * leaves):
                tree[node] /= largest
            _sum_up(tree, leaves)
        rest = coins[t] * tree[1]
        node = 1
        while node < leaves:
            node *= 2
            # Never into an empty branch, whatever rounding has done to ``rest``.
            if (rest >= tree[node] and tree[node + 1] > 0.0) or tree[node] <= 0.0:
                rest -= tree[node]
                node += 1
        out[t] = node - leaves
        tree[node] /= factor
        while node > 1:
            node //= 2
            tree[node] = tree[2 * node] + tree[2 * node + 1]
    return out


@inner
def _largest(weights: Any) -> float:
    largest = 0.0
    for i in range(len(weights)):
        largest = max(largest, weights[i])
    return largest


@inner
def _sum_up(tree: Any, leaves: int) -> None:
    for node in range(leaves - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]
