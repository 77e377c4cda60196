"""Models that a proof file states in the words of their users, not as the problems that prove them.

docs/proof-format.md says what the file then means.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dualgap.penalties import L2


class OneClass(NamedTuple):
    """A one-class support vector machine, proven as a problem about −w (``one_class.py``)."""

    nu: float

    @property
    def penalty(self) -> Any:
        return L2()

    def restate(self, stated: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Turn the statement of that problem into one about w, in place."""
        stated["statement"]["loss"] = {"name": "one-class", "nu": float(self.nu).hex()}
        for name in ("w", "b", "a"):
            arrays[name] = -arrays[name]
        stated["repairs"] = [[k, _negative(top), below] for k, top, below in stated["repairs"]]


def _negative(integer: str) -> str:
    return hex(-int(integer, 16))
