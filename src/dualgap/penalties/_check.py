"""Checks that a penalty can answer the rules, and its parameters."""

from __future__ import annotations

from typing import Any

RULES = ("value", "conj", "conj_slope", "prox", "domain", "strength")


def check_penalty(penalty: Any, d: int) -> Any:
    """The penalty with its parameters checked for ``d`` features."""
    missing = [rule for rule in RULES if not callable(getattr(type(penalty), rule, None))]
    if missing or not isinstance(penalty, tuple):
        raise ValueError(
            f"penalty must be a penalty object such as dualgap.penalties.L2(), not {penalty!r}"
            + (f" (it lacks {', '.join(missing)})" if missing else "")
        )
    return penalty.checked(d) if hasattr(penalty, "checked") else penalty
