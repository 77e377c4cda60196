"""Any penalty, on coefficients that must not be negative."""

from __future__ import annotations

from math import inf
from typing import Any

from dualgap.penalties.box import Box
from dualgap.penalties.l2 import L2


def NonNegative(base: Any = L2()) -> Box:  # noqa: N802 - reads as the penalty it makes
    """g(w) = base(w) for w ≥ 0, infinite elsewhere: the half-open ``Box``."""
    return Box(0.0, inf, base)
