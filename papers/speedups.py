"""How many iterations sets of samples save: what theory promises, and what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.plots.style import COLOURS, MARKERS
from dualgap.samplings import Distributed, Uniform, theory
from papers.curves import needed
from papers.figure import Exhibit, canvas, describe, legend, save
from papers.ledger import Ledger
from papers.runs import Contender, Limits, ProblemSpec, Run, instance, seeds


@dataclass(frozen=True)
class Speedup:
    """Iterations to a gap with single samples, divided by those with sets."""

    problem: ProblemSpec
    samplings: tuple[Any, ...]
    limits: Limits
    step: Any
    count: int = 1

    def of(self, sampling: Any) -> tuple[Run, ...]:
        contender = Contender(repr(sampling), self.step, sampling)
        return seeds(Run(self.problem, contender, 0, self.limits), self.count)

    def runs(self) -> Iterator[Run]:
        for sampling in (Uniform(), *self.samplings):
            yield from self.of(sampling)

    def iterations(self, ledger: Ledger, sampling: Any) -> float:
        return needed(ledger.all(self.of(sampling)), "iterations", self.limits.gap)

    def measured(self, ledger: Ledger) -> Floats:
        """A number for each sampling; NaN where the gap was not reached."""
        alone = self.iterations(ledger, Uniform())
        values = np.array([alone / self.iterations(ledger, s) for s in self.samplings])
        return np.where(values > 0.0, values, np.nan)

    def promised(self, samplings: Sequence[Any] = (), exact: bool = False) -> Floats:
        """What theory says; ``exact``: what it says of steps on quadratic losses."""
        problem = instance(self.problem).problem
        speedup = theory.predicted_speedup if exact else theory.speedup
        return np.array([speedup(problem, s) for s in samplings or self.samplings])


@dataclass(frozen=True)
class SpeedupFigure(Exhibit):
    """A panel for each set of data; a curve (theory) with points (measured) for each λ."""

    number: str
    title: str
    panels: tuple[tuple[Speedup, ...], ...]

    def runs(self) -> Iterator[Run]:
        for panel in self.panels:
            for speedup in panel:
                yield from speedup.runs()

    def show(self, ledger: Ledger, folder: Path) -> list[Path]:
        figure, (axes,) = canvas(1, len(self.panels))
        for panel, ax in zip(self.panels, axes):
            widest = [1, max(s.tau for speedup in panel for s in speedup.samplings)]
            ax.plot(widest, widest, color="0.7", linestyle=":", zorder=0)
            for k, speedup in enumerate(panel):
                taus = [sampling.tau for sampling in speedup.samplings]
                grid = sorted({round(t) for t in np.geomspace(1.0, max(taus), 25)})
                sets = [type(speedup.samplings[0])(tau) for tau in grid]
                record = ledger[speedup.of(Uniform())[0]]
                ax.plot(grid, speedup.promised(sets), color=COLOURS[k])
                ax.plot(grid, speedup.promised(sets, exact=True), color=COLOURS[k], linestyle="--")
                ax.plot(
                    taus,
                    speedup.measured(ledger),
                    color=COLOURS[k],
                    marker=MARKERS[k],
                    linestyle="none",
                    label=f"λ = {record.lam:.1e}",
                )
            ax.set_xscale("log", base=2)
            ax.set_yscale("log", base=2)
            ax.set_xlabel("τ")
            ax.set_ylabel("speed-up in iterations")
            ax.set_title(describe(record).rsplit(",", 1)[0], fontsize=9)
            ax.grid(True, which="major", alpha=0.3)
            ax.legend(frameon=False, fontsize=8)
        figure.suptitle(self.title, fontsize=11)
        lines = {
            "theory": _line(color="0.3"),
            "theory times (2 − s_τ)/(2 − s₁)": _line(color="0.3", linestyle="--"),
            "measured": _line(color="0.3", marker="o", linestyle="none"),
            "linear": _line(color="0.7", linestyle=":"),
        }
        legend(figure, lines)
        return [save(figure, folder / f"{self.file_stem}.png")]


def _line(**style: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **style)


@dataclass(frozen=True)
class ContourFigure(Exhibit):
    """Contours of the speed-up over (c, τ): theory beside what was measured."""

    number: str
    title: str
    speedup: Speedup

    def runs(self) -> Iterator[Run]:
        yield from self.speedup.runs()

    def show(self, ledger: Ledger, folder: Path) -> list[Path]:
        figure, (axes,) = canvas(1, 2)
        record = ledger[self.speedup.of(Uniform())[0]]
        for ax, values, words in (
            (axes[0], self.speedup.promised(), "theory"),
            (axes[1], self.speedup.measured(ledger), "measured"),
        ):
            contours(ax, _table(self.speedup.samplings, values))
            ax.set_title(f"{words}: {describe(record)}", fontsize=9)
        figure.suptitle(self.title, fontsize=11)
        return [save(figure, folder / f"{self.file_stem}.png")]


@dataclass(frozen=True)
class TheoryFigure(Exhibit):
    """Speed-ups by formula, for n = 10⁶ and γ = 1."""

    number: str
    title: str
    n: int = 1_000_000
    omegas: tuple[int, ...] = (100, 10_000, 1_000_000)

    def runs(self) -> Iterator[Run]:
        return iter(())

    def show(self, ledger: Ledger, folder: Path) -> list[Path]:
        figure, (axes,) = canvas(1, 3)
        if self.number == "1":
            self._curves(axes)
            handles, names = axes[0].get_legend_handles_labels()
            legend(figure, dict(zip(names, handles)))
        else:
            self._contours(axes)
        figure.suptitle(self.title, fontsize=11)
        return [save(figure, folder / f"{self.file_stem}.png")]

    def _curves(self, axes: np.ndarray) -> None:
        taus = np.unique(np.geomspace(1, 10_000, 60).astype(int))
        for ax, lam in zip(axes, (1e-3, 1e-4, 1e-6)):
            for k, omega in enumerate(self.omegas):
                values = [theory.tau_nice_speedup(self.n, int(t), omega, lam) for t in taus]
                ax.plot(taus, values, color=COLOURS[k], label=f"ω = {omega:,}", linewidth=2)
            ax.plot(taus, taus, color="0.6", linestyle=":", label="linear")
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_title(f"λ = {lam:g}", fontsize=9)
            ax.set_xlabel("τ")
            ax.set_ylabel("speed-up")
            ax.grid(True, which="major", alpha=0.3)

    def _contours(self, axes: np.ndarray) -> None:
        sides = 2 ** np.arange(0, 10)
        for ax, omega in zip(axes, self.omegas):
            values = [
                [theory.distributed_speedup(self.n, int(c), int(t), omega, 1e-3) for t in sides]
                for c in sides
            ]
            contours(ax, (sides, sides, np.array(values)))
            # cτ = √n: up to here the speed-up is linear whatever the data.
            ends = np.array([0.0, 9.0])
            ax.plot(ends, np.log2(self.n) / 2.0 - ends, color="black", linestyle="--", linewidth=1)
            ax.set_ylim(ends)
            ax.set_title(f"ω = {omega:,}, λ = 0.001; dashed: cτ = √n", fontsize=9)


def _table(samplings: Sequence[Distributed], values: Floats) -> tuple[Any, Any, Floats]:
    """c, τ, and values[c, τ] (NaN where there is none)."""
    parts = sorted({s.c for s in samplings})
    taus = sorted({s.tau for s in samplings})
    table = np.full((len(parts), len(taus)), np.nan)
    for sampling, value in zip(samplings, values):
        table[parts.index(sampling.c), taus.index(sampling.tau)] = value
    return parts, taus, table


def contours(ax: Any, table: tuple[Any, Any, Floats]) -> None:
    """Lines of equal speed-up, at the powers of two, on logarithmic axes."""
    parts, taus, values = table
    # All in logarithms: between the points of the grid contours are straight in these.
    x, y, z = np.log2(taus), np.log2(parts), np.ma.masked_invalid(np.log2(values))
    levels = np.arange(np.floor(np.nanmin(z)) + 1.0, np.ceil(np.nanmax(z)))
    lines = ax.contour(x, y, z, levels=levels, cmap="viridis", linewidths=1.5)
    ax.clabel(lines, fmt=lambda level: f"{2.0**level:g}", fontsize=8, colors="black")
    for axis, places in ((ax.xaxis, x), (ax.yaxis, y)):
        axis.set_ticks(places, [f"{2.0**place:g}" for place in places], fontsize=8)
    ax.set_xlabel("τ (samples of a partition)")
    ax.set_ylabel("c (partitions)")
