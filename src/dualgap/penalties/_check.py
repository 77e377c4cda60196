"""Checks that a penalty can answer the rules, and its parameters."""

from __future__ import annotations

from typing import Any

from dualgap._validate import named

RULES = ("value", "conj", "conj_slope", "prox", "domain", "strength")


def check_penalty(penalty: Any, d: int) -> Any:
    """The penalty, or the one that a name stands for, with its parameters checked."""
    from dualgap.penalties import REGISTRY  # late: the registry imports penalties that import this

    penalty = named(penalty, REGISTRY, "penalty")
    if isinstance(penalty, type):
        raise ValueError(f"penalty must be an object, not a class: write {penalty.__name__}()")
    missing = [rule for rule in RULES if not callable(getattr(type(penalty), rule, None))]
    if missing or not isinstance(penalty, tuple):
        raise ValueError(
            f"penalty must be a penalty object such as dualgap.penalties.L2(), not {penalty!r}"
            + (f" (it lacks {', '.join(missing)})" if missing else "")
        )
    return penalty.checked(d) if hasattr(penalty, "checked") else penalty
