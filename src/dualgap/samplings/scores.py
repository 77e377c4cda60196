"""The scores of coordinates that samplings read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from dualgap.linalg.validate import Floats


class Scores(NamedTuple):
    """What a sampling may read, per coordinate; the same in both views.

    ``residue``    κ_i ≥ 0: distance of x_i from the maximiser of its term of the gap
    ``gap``        Γ_i ≥ 0: the coordinate's share of the gap
    ``curvature``  Lipschitz constant of the derivative of F along x_i: c_i²‖x_i‖²/λ or Σ c x_j²/γ
    ``strength``   strong convexity of G_i: c_i γ or λ μ_j
    ``lipschitz``  |x_i| at the optimum cannot exceed it (may be infinite)
    """

    residue: Floats
    gap: Floats
    curvature: Floats
    strength: Floats
    lipschitz: Floats


class _LateScores:
    def __init__(self, fields: dict[str, Callable[[], Floats]]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:  # asked for what is not there yet
        if name not in self.__dict__.get("_fields", ()):
            raise AttributeError(name)
        found = self._fields[name]()
        setattr(self, name, found)
        return found

    def _replace(self, **changes: Floats) -> Scores:
        return Scores(*(getattr(self, name) for name in Scores._fields))._replace(**changes)


def late_scores(**fields: Callable[[], Floats]) -> Scores:
    """Scores that are computed when a sampling reads them: most samplings read one or two."""
    return cast(Scores, _LateScores(fields))
