"""Any penalty, with one more feature at the end: the constant one."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.penalties.box import Box
from dualgap.penalties.weighted import Weighted


def extended(penalty: Any, d: int, weight: float) -> Any:
    """A checked penalty on d features, with a further one of weight 0 or 1 and without bounds."""
    if type(penalty) is Box:
        low, high = _longer(penalty.low, d, -inf), _longer(penalty.high, d, inf)
        return Box(low, high, extended(penalty.base, d, weight))
    if type(penalty) is Weighted:
        if weight:
            _refuse_arrays(penalty.base)
        return penalty._replace(weights=_longer(penalty.weights, d, weight))
    if weight:
        _refuse_arrays(penalty)
        return penalty
    return Weighted(penalty, _longer(1.0, d, 0.0))


def _longer(values: Any, d: int, last: float) -> Floats:
    out = np.append(np.broadcast_to(values, d), last)
    out.flags.writeable = False
    return out


def _refuse_arrays(penalty: Any) -> None:
    # A user's own class would read past their ends. Where a weight is 0, Weighted does not ask it.
    for part in penalty:
        if isinstance(part, tuple):
            _refuse_arrays(part)
        elif np.ndim(part):
            raise ValueError(
                f'intercept: "penalised" asks {type(penalty).__name__} about a feature that its '
                "arrays have no entry for; add a constant column to X, or use intercept=True"
            )
