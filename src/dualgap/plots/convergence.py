"""How the gap falls, or the objective, or the bound: one curve a run, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.plots.axes import one_axes
from dualgap.plots.style import COLOURS, MARKERS, legend_beside, tidy
from dualgap.run.solution import Solution

X_AXES = {
    "passes": "passes over the data",
    "epoch": "epochs (updates / number of coordinates)",
    "updates": "coordinate updates",
    "vector_operations": "vector operations",
    "seconds": "time (seconds)",
}
_Y = {
    "gap": "certified gap / P(0)",
    "primal": "(objective − best bound) / P(0)",
    "dual": "(best objective − bound) / P(0)",
}

_COUNTS = ("updates", "vector_operations")  # which can be millions
_SCALES = ("linear", "log")


class ConvergenceDisplay:
    """The way of one or more runs on the same problem against passes, updates or seconds.

    >>> ConvergenceDisplay({"sdca": one, "adasdca+": two}).plot(x="seconds")  # doctest: +SKIP
    >>> ConvergenceDisplay.from_problem(problem, ["sdca", "adasdca+"])  # doctest: +SKIP

    Objectives are shown as distances from the best bound that any of the runs has proven, bounds
    as distances from the best objective: the true distances are no larger.
    """

    def __init__(self, solutions: Mapping[str, Solution]) -> None:
        if not solutions:
            raise ValueError("solutions is empty: pass at least one name and Solution")
        self.solutions = dict(solutions)

    @classmethod
    def from_solution(
        cls, solution: Solution, *, name: str | None = None, **options: Any
    ) -> ConvergenceDisplay:
        """Draw one run; ``options`` are those of ``plot``."""
        return cls({name or solution.name: solution}).plot(**options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, **options: Any
    ) -> ConvergenceDisplay:
        """Draw the fit of one of our estimators, with a curve for each problem that it solved."""
        found = getattr(estimator, "solution_", None)
        if found is None:
            raise ValueError("estimator has no solution_: fit an estimator of dualgap first")
        name = name or type(estimator).__name__
        if isinstance(found, Solution):
            return cls({name: found}).plot(**options)
        return cls({f"{name}, problem {k}": each for k, each in enumerate(found)}).plot(**options)

    @classmethod
    def from_problem(
        cls,
        problem: Any,
        methods: str | Iterable[str] = "auto",
        *,
        x: str = "passes",
        y: str = "gap",
        ax: Any = None,
        **options: Any,
    ) -> ConvergenceDisplay:
        """Solve a problem by each method and draw the runs; ``options`` go to ``solve``."""
        from dualgap.run.solve import solve

        names = [methods] if isinstance(methods, str) else list(methods)
        runs = {name: solve(problem, name, **options) for name in names}
        return cls(runs).plot(x, y, ax)

    def plot(
        self, x: str = "passes", y: str = "gap", ax: Any = None, *, x_scale: str = "linear"
    ) -> ConvergenceDisplay:
        """Draw into ``ax`` or a new figure; sets ``ax_``, ``figure_`` and ``lines_``.

        With ``x_scale="log"`` fast and slow runs can be read side by side.
        """
        for name, given, known in (("x", x, X_AXES), ("y", y, _Y), ("x_scale", x_scale, _SCALES)):
            if given not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {given!r}")
        ax = one_axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        ax.set_yscale("log")
        ax.set_xscale(x_scale)
        if x in _COUNTS and x_scale == "linear":
            from matplotlib.ticker import EngFormatter

            ax.xaxis.set_major_formatter(EngFormatter(sep=""))  # 200k: long numbers would touch
        self.lines_ = [self._draw(k, name, x, y) for k, name in enumerate(self.solutions)]
        ax.set_xlabel(X_AXES[x])
        ax.set_ylabel(_Y[y])
        tidy(ax)
        legend_beside(ax)
        return self

    def _draw(self, k: int, name: str, x: str, y: str) -> Any:
        values = self._heights(name, y)
        across = self.solutions[name].history[x]
        shown = (values > 0.0) & (values < np.inf)  # a logarithm has no place for others
        if self.ax_.get_xscale() == "log":
            shown &= across > 0.0
        (line,) = self.ax_.plot(
            across[shown],
            values[shown],
            label=name,
            color=COLOURS[k % len(COLOURS)],
            marker=MARKERS[k % len(MARKERS)],
            linestyle=("-", "--", ":")[k // len(COLOURS) % 3],
            markersize=4,
            markevery=max(1, int(np.ceil(shown.sum() / 12))),
        )
        return line

    def _heights(self, name: str, y: str) -> Floats:
        solution = self.solutions[name]
        scale = solution.certificate.scale or 1.0
        proofs = [each.certificate for each in self.solutions.values()]
        if y == "primal":
            return (solution.history.primal - max(p.dual for p in proofs)) / scale
        if y == "dual":
            return (min(p.primal for p in proofs) - solution.history.dual) / scale
        return solution.gaps / scale
