"""Any penalty, on coefficients that must not be negative."""

from __future__ import annotations

from math import inf
from typing import Any

from dualgap.penalties.box import Box
from dualgap.penalties.l2 import L2
from dualgap.penalties.structure import is_on_groups


def NonNegative(base: Any = L2()) -> Any:  # noqa: N802 - reads as the penalty it makes
    """g(w) = base(w) for w ≥ 0, infinite elsewhere: the half-open ``Box``. A penalty on groups has
    a parameter ``positive`` for that."""
    if is_on_groups(base) and "positive" in base._fields:
        return base._replace(positive=True)
    return Box(0.0, inf, base)
