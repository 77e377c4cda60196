"""Penalties g(w) = Σ_j g_j(w_j). Each is one file: a NamedTuple with the rules of
``compile/rules.py`` as methods. ``structure.py`` says what else a penalty may declare. Those on
groups of features are Σ_k g_k(w_k), with rules that take the coefficients of a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.penalties.box import Box
from dualgap.penalties.elastic_net import ElasticNet
from dualgap.penalties.group_lasso import GroupLasso
from dualgap.penalties.l1 import L1
from dualgap.penalties.l2 import L2
from dualgap.penalties.nonnegative import NonNegative
from dualgap.penalties.sparse_group_lasso import SparseGroupLasso
from dualgap.penalties.weighted import Weighted

# ``Weighted`` and penalties on groups are not here: they mean nothing without weights and groups.
REGISTRY: dict[str, Callable[[], Any]] = {
    "l2": L2,
    "l1": L1,
    "elastic-net": ElasticNet,
    "nonnegative": NonNegative,
    "box": Box,
}

__all__ = [
    "L1",
    "L2",
    "Box",
    "ElasticNet",
    "GroupLasso",
    "NonNegative",
    "SparseGroupLasso",
    "Weighted",
]
