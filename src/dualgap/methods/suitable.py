"""Which methods accept a problem."""

from __future__ import annotations

from dualgap.methods.registry import METHODS
from dualgap.problem import Problem


def suitable(problem: Problem) -> list[str]:
    """The names of the methods that accept a problem, the practical ones first."""
    practical = ["cd-gap-decay", "prox-point"]
    ordered = practical + [name for name in METHODS if name not in practical]
    return [name for name in ordered if METHODS[name].refusal(problem) is None]
