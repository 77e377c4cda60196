"""Models that a proof file states in the words of their users, not as the problems that prove them.

docs/proof-format.md says what the file then means.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

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


class Ordinal(NamedTuple):
    """An ordinal regression of n samples with p features, proven as a problem about rows
    (``problem/ordinal.py``)."""

    penalty: Any
    rows: Any
    p: int
    weights: Any
    offset: Any
    n: int

    def restate(self, stated: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Turn the statement of that problem into one about samples, in place."""
        places = 2 * self.rows.samples + self.rows.above
        gaps, intercept, dual = arrays["w"][self.p :], arrays["b"][0], np.zeros(2 * self.n)
        dual[places] = arrays["a"]
        arrays["w"], arrays["a"] = arrays["w"][: self.p], dual.reshape(self.n, 2)
        arrays["b"] = np.cumsum(np.append(-intercept, gaps))
        for name in ("weights", "offset", "zeros", "labels", "centre"):
            arrays.pop(name, None)
        own = {"weights": self.weights, "offset": self.offset}
        arrays.update({name: array for name, array in own.items() if array is not None})
        stated["statement"] |= {"loss": {"name": "ordinal"}, "classes": len(gaps) + 2}
        stated["claims"]["intercept_radius"] = None
        repairs = [[int(places[k]), *fraction] for k, *fraction in stated["repairs"]]
        stated["repairs"] = sorted(repairs)
