"""Penalties g(w) = Σ_j g_j(w_j). Each is one file: a NamedTuple with the rules of
``compile/rules.py`` as methods. ``structure.py`` says what else a penalty may declare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.penalties.box import Box
from dualgap.penalties.elastic_net import ElasticNet
from dualgap.penalties.l1 import L1
from dualgap.penalties.l2 import L2
from dualgap.penalties.nonnegative import NonNegative
from dualgap.penalties.weighted import Weighted

# ``Weighted`` is not here because it has no meaning without its weights.
REGISTRY: dict[str, Callable[[], Any]] = {
    "l2": L2,
    "l1": L1,
    "elastic-net": ElasticNet,
    "nonnegative": NonNegative,
    "box": Box,
}

__all__ = ["L1", "L2", "Box", "ElasticNet", "NonNegative", "Weighted"]
