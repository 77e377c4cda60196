"""Checks that a penalty can answer the rules, and its parameters."""

from __future__ import annotations

from typing import Any

from dualgap.linalg.validate import with_rules

RULES = ("value", "conj", "conj_slope", "prox", "domain", "strength")


def check_penalty(penalty: Any, d: int) -> Any:
    """The penalty, or the one that a name stands for, with its parameters checked."""
    from dualgap.penalties import REGISTRY  # late: the registry imports penalties that import this

    penalty = with_rules(penalty, "penalty", REGISTRY, RULES, "dualgap.penalties.L2()")
    return penalty.checked(d) if hasattr(penalty, "checked") else penalty
