"""Groups of features of which all may be as large as the largest."""

from math import inf
from typing import Any, NamedTuple

import numpy as np


class GroupMax(NamedTuple):
    """g(w) = Σ_k max |w_k|, where w_k are the coefficients of group k."""

    groups: Any

    def value(self, w, k):
        return np.max(np.abs(w)) if len(w) else 0.0

    def gauge(self, u, k):
        """The least t at which 0 minimises t·g(w) − u·w."""
        return np.sum(np.abs(u))

    def conj(self, u, k):
        return 0.0 if np.sum(np.abs(u)) <= 1.0 else inf

    def conj_slope_into(self, u, k, out):
        out[:] = 0.0

    def prox_into(self, u, t, k, out):
        """Cut off what exceeds a level; all that is cut off sums to t."""
        sizes = np.sort(np.abs(u))
        level, cut = 0.0, 0.0
        for i in range(len(u)):
            cut += sizes[len(u) - 1 - i]
            level = max(level, (cut - t) / (i + 1.0))
        for i in range(len(u)):
            out[i] = min(max(u[i], -level), level)

    def strength(self, k):
        return 0.0
