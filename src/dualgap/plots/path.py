"""Coefficients along a path of λ, and the certified gap of each of its points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, real_array
from dualgap.plots.axes import two_axes
from dualgap.plots.style import COLOURS, MARKERS, OTHERS, legend_beside, tidy


class PathDisplay:
    """Coefficients against λ, from the strongest penalty on, above the gap of each point.

    >>> PathDisplay(*dualgap.lasso_path(X, y)).plot()  # doctest: +SKIP
    >>> PathDisplay.from_problem(problem, n=30)  # doctest: +SKIP

    ``coefs`` has shape (features, λ), or (classes, features, λ) as ``logistic_path`` gives it for
    many classes; ``gaps`` and ``target`` have one for each λ (``target`` may be left out). The
    features that reach the largest coefficients have colours and names, the others are grey.
    """

    def __init__(
        self,
        lams: Any,
        coefs: Any,
        gaps: Any,
        target: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.lams = real_array(lams, "lams").astype(np.float64)
        coefs = real_array(coefs, "coefs").astype(np.float64)
        if coefs.ndim == 0 or coefs.shape[-1] != len(self.lams):
            raise ValueError(f"coefs must have a last axis of {len(self.lams)}, one for each lam")
        if not len(self.lams) or not (self.lams > 0.0).all():
            raise ValueError("lams must be a vector of positive numbers")
        self.coefs = coefs.reshape(-1, len(self.lams))
        self.gaps = real_array(gaps, "gaps").astype(np.float64)
        if self.gaps.shape != self.lams.shape:
            raise ValueError(f"gaps must have one number for each of {len(self.lams)} lams")
        self.target: Floats | None = None
        if target is not None:
            self.target = np.broadcast_to(real_array(target, "target"), self.lams.shape)
        if feature_names is not None and len(feature_names) != len(self.coefs):
            raise ValueError(f"feature_names must have {len(self.coefs)} names")
        self.feature_names = None if feature_names is None else list(map(str, feature_names))

    @classmethod
    def from_solutions(
        cls,
        lams: Any,
        solutions: Iterable[Any],
        *,
        feature_names: Sequence[str] | None = None,
        **options: Any,
    ) -> PathDisplay:
        """Draw what ``dualgap.run.path.path`` has found; ``options`` are those of ``plot``."""
        found = list(solutions)
        coefs = np.stack([each.coef.ravel() for each in found], axis=-1)
        gaps = [each.certificate.gap for each in found]
        target = [each.target for each in found]
        return cls(lams, coefs, gaps, target, feature_names).plot(**options)

    @classmethod
    def from_problem(
        cls,
        problem: Any,
        lams: Any = None,
        *,
        eps: float = 1e-3,
        n: int = 50,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        named: int = 8,
        **options: Any,
    ) -> PathDisplay:
        """Solve a problem along λ (``lams``, or ``n`` from λ_max to eps·λ_max) and draw the path;
        ``options`` go to ``solve``."""
        from dualgap.run.path import grid, path

        lams = grid(problem, eps, n) if lams is None else real_array(lams, "lams")
        found = path(problem, lams, **options)
        return cls.from_solutions(lams, found, feature_names=feature_names, ax=ax, named=named)

    def plot(self, ax: Any = None, *, named: int = 8) -> PathDisplay:
        """Draw into the place of ``ax``, a pair of axes or a new figure; sets ``axes_``
        (coefficients, gaps), ``figure_`` and ``lines_``. ``named``: how many get a name."""
        self.axes_ = two_axes(ax, (7.5, 6.0), sharex=True, height_ratios=(2.4, 1.0))
        self.figure_ = self.axes_[0].figure
        above, below = self.axes_
        self.lines_ = self._draw_coefficients(above, named)
        self._draw_gaps(below)
        above.set_ylabel("coefficient")
        below.set_ylabel("certified gap")
        below.set_xlabel("λ (strength of the penalty; weaker to the right)")
        below.set_xscale("log")
        if len(self.lams) > 1:
            below.set_xlim(self.lams.max(), self.lams.min())
        above.tick_params(labelbottom=False)
        for each in self.axes_:
            tidy(each)
        return self

    def _draw_coefficients(self, ax: Any, named: int) -> list[Any]:
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        sizes = np.abs(self.coefs).max(axis=1)
        largest = [k for k in np.argsort(-sizes)[: max(0, named)] if sizes[k] > 0.0]
        others = np.setdiff1d(np.flatnonzero(sizes), largest)
        lines = ax.plot(self.lams, self.coefs[others].T, color=OTHERS, linewidth=0.8, alpha=0.6)
        if lines:
            lines[0].set_label(f"{len(others)} others")
        for place, k in enumerate(largest):
            lines += ax.plot(
                self.lams,
                self.coefs[k],
                label=self._name(k),
                color=COLOURS[place % len(COLOURS)],
                marker=MARKERS[place % len(MARKERS)],
                markersize=4,
                markevery=max(1, len(self.lams) // 8),
                zorder=3,
            )
        if lines:
            legend_beside(ax)
        return list(lines)

    def _name(self, k: int) -> str:
        return f"feature {k}" if self.feature_names is None else self.feature_names[k]

    def _draw_gaps(self, ax: Any) -> None:
        shown = self.gaps > 0.0
        ax.plot(
            self.lams[shown],
            self.gaps[shown],
            color=COLOURS[0],
            marker="o",
            markersize=3,
            linestyle="none",
            label="gap",
        )
        if self.target is not None and (self.target > 0.0).all():
            ax.plot(self.lams, self.target, color=COLOURS[1], linestyle="--", label="target")
        if shown.any():
            ax.set_yscale("log")
        legend_beside(ax)
