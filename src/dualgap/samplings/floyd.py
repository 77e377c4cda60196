"""Floyd's algorithm: subsets of a given size, all equally likely, in O(size) each."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel


@kernel
def draw_subsets(n: int, size: int, coins: Any) -> tuple[Any, Any]:
    """Sets of τ of each part {0 … size−1}, {size … 2·size−1}, … ; indices from n on are left out.

    ``coins``: uniform numbers in [0, 1), of shape (sets, parts, τ). Returns order and offsets.
    """
    sets, parts, tau = coins.shape
    order = np.empty(sets * parts * tau, np.int64)
    offsets = np.zeros(sets + 1, np.int64)
    seen = np.full(parts * size, -1, np.int64)  # the last set that an index was drawn for
    filled = 0
    for s in range(sets):
        for part in range(parts):
            first = part * size
            for t in range(tau):
                last = size - tau + t
                i = first + min(int(coins[s, part, t] * (last + 1)), last)
                if seen[i] == s:
                    i = first + last
                seen[i] = s
                if i < n:
                    order[filled] = i
                    filled += 1
        offsets[s + 1] = filled
    return order[:filled].copy(), offsets
