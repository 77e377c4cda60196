"""Penalties from the parameters of estimators: a share of L1, and no penalty at all."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.penalties import L1, L2, ElasticNet, structure


def by_ratio(l1_ratio: float) -> Any:
    """The elastic net with a share of L1; 0 and 1 are L2 and L1, which have their own kernels."""
    if l1_ratio in (0.0, 1.0):
        return L1() if l1_ratio else L2()
    return ElasticNet(l1_ratio)


def constraints_of(penalty: Any, size: int) -> Any:
    """What remains of a penalty of strength 0: its bounds, and the features that it excludes."""
    low, high = structure.bounds(penalty)
    if (np.isinf(low) != np.isinf(high)).any():
        raise ValueError(
            "without a penalty (alpha=0 or C=inf) coefficients cannot be bounded on one side "
            "only, as they are by positive=True: use a tiny alpha such as 1e-8, or a large C"
        )
    return structure.without_strength(penalty, size)
