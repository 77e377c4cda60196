"""Walker's alias table in Vose's form: O(n) to build, O(1) a draw from a fixed distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel


@kernel
def draw_alias(weights: Any, columns: Any, coins: Any) -> Any:
    """Indices with probabilities ∝ ``weights``, from uniform numbers in [0, 1)."""
    n = len(weights)
    share = weights * (n / weights.sum())
    alias = np.arange(n)
    small = np.empty(n, np.int64)
    large = np.empty(n, np.int64)
    n_small = 0
    n_large = 0
    for i in range(n):
        if share[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        i, j = small[n_small], large[n_large - 1]
        alias[i] = j
        share[j] -= 1.0 - share[i]
        if share[j] < 1.0:
            n_large -= 1
            small[n_small] = j
            n_small += 1
    # What rounding has left over in ``small`` is full, unless it can never be drawn.
    for s in range(n_small):
        if weights[small[s]] > 0.0:
            share[small[s]] = 1.0
        else:
            alias[small[s]] = np.argmax(weights)
    out = np.empty(len(columns), np.int64)
    for t in range(len(columns)):
        i = min(int(columns[t] * n), n - 1)
        out[t] = i if coins[t] < share[i] else alias[i]
    return out
