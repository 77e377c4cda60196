"""How the gap falls: one curve a run, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualgap.plots.style import COLOURS, MARKERS
from dualgap.solution import Solution

_AXES = {
    "epoch": "epochs (updates / coordinates)",
    "updates": "coordinate updates",
    "vector_operations": "vector operations",
    "seconds": "seconds",
}


class ConvergenceDisplay:
    """The certified gap of one or more runs against epochs, updates or seconds.

    >>> ConvergenceDisplay({"sdca": one, "adasdca+": two}).plot(x="seconds")  # doctest: +SKIP
    """

    def __init__(self, solutions: Mapping[str, Solution]) -> None:
        if not solutions:
            raise ValueError("solutions is empty: pass at least one name and Solution")
        self.solutions = dict(solutions)

    def plot(self, x: str = "epoch", ax: Any = None) -> ConvergenceDisplay:
        """Draw into ``ax`` or a new figure; sets ``ax_``, ``figure_`` and ``lines_``."""
        if x not in _AXES:
            raise ValueError(f"x must be one of {', '.join(_AXES)}, not {x!r}")
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(7.0, 4.5), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_ = [self._draw(k, name, x) for k, name in enumerate(self.solutions)]
        ax.set_yscale("log")
        ax.set_xlabel(_AXES[x])
        ax.set_ylabel("certified gap / P(0)")
        ax.grid(True, which="major", alpha=0.3)
        ax.legend(frameon=False)
        return self

    def _draw(self, k: int, name: str, x: str) -> Any:
        solution = self.solutions[name]
        gap = solution.history.gap / (solution.certificate.scale or 1.0)
        shown = gap > 0.0  # a logarithm has no place for a gap of zero
        (line,) = self.ax_.plot(
            solution.history[x][shown],
            gap[shown],
            label=name,
            color=COLOURS[k % len(COLOURS)],
            marker=MARKERS[k % len(MARKERS)],
            markersize=4,
            markevery=max(1, int(np.ceil(shown.sum() / 12))),
        )
        return line
