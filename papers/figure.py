"""Figures of races: gap or suboptimality against epochs, iterations, operations or seconds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.plots.style import COLOURS, MARKERS
from papers.curves import Optimum, average, epoch_seconds, optimum
from papers.ledger import Ledger, Record
from papers.runs import Contender, Limits, ProblemSpec, Run, seeds

X_AXES = {
    "epoch": "epochs",
    "passes": "passes over the data",
    "iterations": "iterations / n",
    "vector_operations": "vector operations",
    "seconds": "seconds (epochs times the shortest)",
}
Y_AXES = {
    "gap": "duality gap",
    "primal": "P(w) − P*",
    "dual": "D* − D(α)",
    "current gap": "gap of the current pair",
    "current primal": "P(w) − P* of the current w",
    "current dual": "D* − D(α) of the current α",
}


class Exhibit(ABC):
    """Something that a paper shows: a figure or a table."""

    number: str
    title: str

    @property
    def file_stem(self) -> str:
        """The name of the file, without its ending."""
        kind, number = (
            ("table", self.number[1:]) if self.number[0] == "T" else ("figure", self.number)
        )
        return f"{kind}-{number.zfill(2)}"

    @abstractmethod
    def runs(self) -> Iterator[Run]:
        """What has to be run for it."""

    @abstractmethod
    def show(self, ledger: Ledger, folder: Path) -> list[Path]:
        """Draw or write it; the files."""


@dataclass(frozen=True)
class Race:
    """Contenders on a problem, each with several seeds."""

    problem: ProblemSpec
    contenders: tuple[Contender, ...]
    limits: Limits
    count: int = 3
    timed: bool = False
    # Per contender, where one needs other limits or fewer seeds.
    special: dict[str, tuple[Limits, int]] = field(default_factory=dict, hash=False)
    # Runs that only say where the optimum is.
    reference: Run | None = None

    def of(self, contender: Contender) -> tuple[Run, ...]:
        """The runs of a contender, one for each seed."""
        limits, count = self.special.get(contender.label, (self.limits, self.count))
        return seeds(Run(self.problem, contender, 0, limits, self.timed), count)

    def runs(self) -> Iterator[Run]:
        for contender in self.contenders:
            yield from self.of(contender)
        if self.reference is not None:
            yield self.reference

    def results(self, ledger: Ledger) -> dict[str, list[Record]]:
        """Records by label."""
        return {c.label: ledger.all(self.of(c)) for c in self.contenders}

    def best(self, ledger: Ledger) -> Optimum:
        return optimum(ledger.all(self.runs()))


@dataclass(frozen=True)
class Panel:
    """A race, seen on two axes; ``only`` some of its contenders."""

    race: Race
    x: str
    y: str
    only: tuple[str, ...] = ()
    floor: float = 0.0
    # Where the x-axis ends: at a place, or where a contender does, times a factor.
    reach: float | tuple[str, float] | None = None
    remark: str = ""
    log_x: bool = False

    @property
    def shown(self) -> list[Contender]:
        return [c for c in self.race.contenders if not self.only or c.label in self.only]

    def against(self, x: str) -> Panel:
        """The same race on another x-axis."""
        race = replace(self.race, timed=self.race.timed or x == "seconds")
        return replace(self, race=race, x=x, reach=None, log_x=False)

    def draw(self, ledger: Ledger, ax: Any) -> Record:
        """Draw the curves; one of the records, for the title."""
        best = None if self.y.endswith("gap") else self.race.best(ledger)
        doubt = 0.0 if best is None else 2.0 * max(best.primal - best.dual, 0.0)
        floor = max(self.floor, doubt, 1e-16)
        top, right = 0.0, self.reach if isinstance(self.reach, float) else None
        for contender in self.shown:
            records = ledger.all(self.race.of(contender))
            column = "epoch" if self.x in ("passes", "seconds") else self.x
            curve = average(records, column, self.y, best, 0.5 * floor)
            x = curve.x / coordinates(records[0]) if self.x == "iterations" else curve.x
            if self.x == "seconds":  # other programs can only add to a time
                x = x * min(map(epoch_seconds, records))
            colour = COLOURS[contender.style % len(COLOURS)]
            shown = curve.mean > 0.51 * floor
            if not shown.all():  # one more point, so that the curve reaches the floor
                shown[np.argmin(shown)] = True
            if self.log_x:
                shown &= x > 0.0
            top = max(top, float(curve.mean[0]))
            if isinstance(self.reach, tuple) and contender.label == self.reach[0]:
                right = self.reach[1] * float(x[-1])
            ax.plot(
                x[shown],
                np.maximum(curve.mean[shown], 0.5 * floor),
                label=contender.legend or contender.label,
                color=colour,
                linestyle="--" if contender.dashed else "-",
                linewidth=1.6,
                marker=MARKERS[contender.style % len(MARKERS)],
                markersize=4.5,
                markevery=max(1, ceil(shown.sum() / 9)),
            )
            if len(records) > 1:
                low, high = np.maximum(curve.low, 0.5 * floor), np.maximum(curve.high, 0.5 * floor)
                ax.fill_between(x[shown], low[shown], high[shown], color=colour, alpha=0.18, lw=0)
        ax.set_yscale("log")
        ax.set_ylim(0.5 * floor if floor > 1e-16 else None, 2.0 * top if top > 0.0 else None)
        if self.log_x:
            ax.set_xscale("log")
        else:
            ax.set_xlim(0.0, right)
            ax.ticklabel_format(axis="x", style="sci", scilimits=(-3, 5))
        ax.set_xlabel(X_AXES[self.x])
        ax.set_ylabel(Y_AXES[self.y])
        ax.grid(True, which="major", alpha=0.3)
        return records[0]


@dataclass(frozen=True)
class RaceFigure(Exhibit):
    """Panels in rows; each row is a tuple."""

    number: str
    title: str
    rows: tuple[tuple[Panel, ...], ...]
    by: str = ""  # the x-axis, where it is not the paper's

    @property
    def file_stem(self) -> str:
        return super().file_stem + (f"-by-{self.by.replace('_', '-')}" if self.by else "")

    def against(self, x: str) -> RaceFigure:
        """The same runs on another x-axis."""
        rows = tuple(tuple(panel.against(x) for panel in row) for row in self.rows)
        return replace(self, rows=rows, by=x)

    def runs(self) -> Iterator[Run]:
        for row in self.rows:
            for panel in row:
                yield from panel.race.runs()

    def show(self, ledger: Ledger, folder: Path) -> list[Path]:
        columns = max(map(len, self.rows))
        figure, axes = canvas(len(self.rows), columns)
        labels: dict[str, Any] = {}
        for row, line in zip(self.rows, axes):
            for ax in line[len(row) :]:
                ax.set_visible(False)
            for panel, ax in zip(row, line):
                record = panel.draw(ledger, ax)
                ax.set_title(describe(record) + panel.remark, fontsize=9)
                handles, names = ax.get_legend_handles_labels()
                labels |= dict(zip(names, handles))
        figure.suptitle(self.title, fontsize=11)
        legend(figure, labels)
        return [save(figure, folder / f"{self.file_stem}.png")]


def coordinates(record: Record) -> float:
    """The n of "iterations / n": samples, or features where these are the coordinates."""
    return float(record["updates"][-1] / record["epoch"][-1])


def describe(record: Record) -> str:
    """Data, shape, loss and λ, for a title."""
    loss = record.spec["loss"].replace("-", " ")
    return f"{record.name}\n{record.n:,} × {record.d:,}, {loss}, λ = {record.lam:.2g}"


def canvas(rows: int, columns: int) -> tuple[Any, Any]:
    """A figure without a window, and its axes."""
    from matplotlib.figure import Figure

    width = 6.4 if columns == 1 else 4.1 * columns
    figure = Figure(figsize=(width, 0.9 + 3.3 * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def legend(figure: Any, labels: dict[str, Any]) -> None:
    """One legend below all panels."""
    widest = 0.7 + 0.09 * max(map(len, labels))  # inches
    columns = max(1, min(len(labels), int(figure.get_size_inches()[0] / widest)))
    figure.legend(
        labels.values(), labels.keys(), loc="outside lower center", ncols=columns, frameon=False
    )


def save(figure: Any, path: Path) -> Path:
    """Write a picture with a palette: a third of the size, and no difference to the eye."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=100)
    Image.open(drawn).convert("RGB").quantize(192).save(path, optimize=True)
    return path
