"""What the sampling does: how the gap and the probabilities are spread over coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.plots.axes import two_axes
from dualgap.plots.style import LATEST, SEQUENCE, legend_beside, tidy
from dualgap.run.recording import Frame, Recording, Spread
from dualgap.run.solution import Solution

_BELOW = 1e-3  # gap contributions are shown down to this fraction of an equal share of the target
_RARE = 1e-4  # and probabilities down to this fraction of the uniform one


class SamplingDisplay:
    """Gap contributions and probabilities of coordinates, the largest first, at several times.

    >>> recording = Recording()  # doctest: +SKIP
    >>> solution = solve(problem, "adasdca+", callback=recording)  # doctest: +SKIP
    >>> SamplingDisplay.from_recording(recording, solution)  # doctest: +SKIP

    Above: what each coordinate adds to the gap. The dotted line is an equal share of the target
    gap; coordinates below it count as resolved. Below: how likely each is to be visited, where 1
    is uniform. Coordinates are samples, or features if these add more to the gap at the start.
    """

    def __init__(self, frames: list[Frame], target: float | None = None) -> None:
        if not frames:
            raise ValueError("frames is empty: pass a Recording to solve as its callback first")
        self.frames = list(frames)
        self.target = target
        self.by_samples = frames[0].by_samples

    @classmethod
    def from_recording(
        cls, recording: Recording, solution: Solution | None = None, **options: Any
    ) -> SamplingDisplay:
        """Draw the recording and, if there is a solution, its final certificate."""
        if solution is None:
            return cls(recording.frames).plot(**options)
        return cls(recording.until(solution), solution.target).plot(**options)

    @classmethod
    def from_problem(
        cls, problem: Any, method: Any = "cd-gap-decay", *, ax: Any = None, **options: Any
    ) -> SamplingDisplay:
        """Solve a problem and draw its sampling; ``options`` go to ``solve``."""
        from dualgap.run.solve import solve

        recording = Recording(callback=options.pop("callback", None))
        solution = solve(problem, method, callback=recording, **options)
        return cls.from_recording(recording, solution, ax=ax)

    def plot(self, ax: Any = None, *, curves: int = 7) -> SamplingDisplay:
        """Draw into the place of ``ax``, a pair of axes or a new figure; sets ``axes_`` (gap,
        probabilities) and ``figure_``. ``curves``: how many times are shown."""
        self.axes_ = two_axes(ax, (7.5, 7.0), sharex=True)
        self.figure_ = self.axes_[0].figure
        shown = self._chosen(curves)
        colours = self._colours(len(shown))
        of_gap, of_chance = self.axes_
        for frame, colour in zip(shown, colours):
            _draw(of_gap, self._parts(frame), colour, _when(frame))
            if frame.probabilities is not None:
                _draw(of_chance, frame.probabilities, colour, _when(frame))
        noun = "sample" if self.by_samples else "feature"
        of_gap.set_ylabel(f"contribution of each {noun} to the gap")
        of_chance.set_ylabel("probability / uniform probability")
        of_chance.set_xlabel(f"{noun}s, by rank (1 = largest)")
        self._mark_target(of_gap)
        for ax_ in self.axes_:
            ax_.set_xscale("log")
            ax_.set_yscale("log")
            tidy(ax_)
        if not of_chance.lines:
            of_chance.text(
                0.5, 0.5, "nothing was drawn by chance", transform=of_chance.transAxes, ha="center"
            )
        of_chance.axhline(1.0, color="0.4", linestyle=":", linewidth=1.2, label="uniform")
        low, high = of_chance.get_ylim()
        of_chance.set_ylim(min(max(low, _RARE), 0.1), max(high, 10.0))
        legend_beside(of_gap, "gap at")
        legend_beside(of_chance, "drawn before")
        return self

    def _parts(self, frame: Frame) -> Spread:
        return frame.samples if self.by_samples else frame.features

    def _chosen(self, curves: int) -> list[Frame]:
        """Frames at about even steps of the logarithm of the gap; the first and the last always."""
        gaps = np.array([frame.gap for frame in self.frames])
        gaps = np.where(np.isfinite(gaps) & (gaps > 0.0), gaps, np.nan)
        steps = np.log(np.fmin.accumulate(gaps))
        steps = np.nan_to_num(steps, nan=float(np.nanmax(steps, initial=0.0)))
        wanted = np.linspace(steps[0], steps[-1], max(2, curves))
        places = {int(np.argmin(np.abs(steps - each))) for each in wanted}
        return [self.frames[k] for k in sorted(places | {0, len(self.frames) - 1})]

    def _colours(self, count: int) -> Any:
        from matplotlib import colormaps

        return colormaps[SEQUENCE](np.linspace(0.0, LATEST, count))

    def _mark_target(self, ax: Any) -> None:
        highest = max(self._parts(frame).values.max(initial=0.0) for frame in self.frames)
        size = self._parts(self.frames[0]).size
        if not self.target or not size or not 0.0 < highest < np.inf:
            return
        level = self.target / size
        ax.axhline(level, color="0.4", linestyle=":", linewidth=1.2, label="target / number")
        ax.set_ylim(_BELOW * min(level, highest), 2.0 * max(level, highest))


def _draw(ax: Any, spread: Spread, colour: Any, label: str) -> None:
    shown = (spread.values > 0.0) & (spread.values < np.inf)
    ax.plot(spread.ranks[shown], spread.values[shown], color=colour, label=label, linewidth=1.8)


def _when(frame: Frame) -> str:
    return f"pass {frame.passes:.3g}"
