"""A table of all methods, for people."""

from __future__ import annotations

from dualgap.methods.registry import METHODS


def describe() -> str:
    """Names, what each method does, and where it is from."""
    width = max(map(len, METHODS))
    return "\n".join(f"{name:{width}}  {m.about} ({m.paper})" for name, m in METHODS.items())
