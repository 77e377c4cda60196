"""What an epoch costs as n grows, measured: a table with fitted exponents, and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dualgap.plots.style import COLOURS, MARKERS
from papers.curves import epoch_seconds
from papers.figure import Exhibit, canvas, legend, save
from papers.ledger import Ledger
from papers.runs import Contender, Limits, ProblemSpec, Run

FEATURES, ENTRIES = 1_000, 20


@dataclass(frozen=True)
class Costs(Exhibit):
    """Seconds of an epoch for each contender, on rows with the same number of entries.

    ``sizes`` for methods of cost O(nnz), ``step_sizes`` for those that look at all coordinates in
    each step. The first contender is what the others are compared with.
    """

    number: str
    title: str
    loss: str
    contenders: tuple[tuple[Contender, str], ...]  # with the cost that the paper states
    sizes: tuple[int, ...]
    step_sizes: tuple[int, ...]

    def of(self, contender: Contender) -> list[Run]:
        """The runs of a contender, one for each size."""
        per_step = contender.sampling.refresh == "step"
        limits = Limits(0.0, 1, 1.5) if per_step else Limits(0.0, 6)
        return [
            Run(ProblemSpec(f"made:short-rows:{n}:{FEATURES}:{ENTRIES}", self.loss, "1/n"),
                contender, 0, limits, timed=True)
            for n in (self.step_sizes if per_step else self.sizes)
        ]  # fmt: skip

    def runs(self) -> Iterator[Run]:
        for contender, _ in self.contenders:
            yield from self.of(contender)

    def seconds(self, ledger: Ledger, contender: Contender) -> dict[int, float]:
        """Seconds of an epoch by n."""
        records = [ledger[run] for run in self.of(contender)]
        return {record.n: epoch_seconds(record) for record in records}

    def show(self, ledger: Ledger, folder: Path) -> list[Path]:
        base = self.seconds(ledger, self.contenders[0][0])
        measured = [(c, stated, self.seconds(ledger, c)) for c, stated in self.contenders]
        every = sorted({n for _, _, times in measured for n in times})
        header = ["method", "paper", *(f"n = {n:,}" for n in every), "n^", "relative to the first"]
        lines = [_line(header), _line(["---"] * len(header))]
        for contender, stated, times in measured:
            cells = [f"{1e3 * times[n]:.3g} ms" if n in times else "" for n in every]
            shared = [n for n in times if n in base]
            relative = f"{exponent(shared, [times[n] / base[n] for n in shared]):+.2f}"
            lines.append(
                _line(
                    [
                        contender.label,
                        stated,
                        *cells,
                        f"{exponent(list(times), list(times.values())):.2f}",
                        relative if len(shared) > 1 else "",
                    ]
                )
            )
        table = folder / f"{self.file_stem}.md"
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text(f"{self.title}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
        return [table, self._draw(measured, folder)]

    def _draw(
        self, measured: Sequence[tuple[Contender, str, dict[int, float]]], folder: Path
    ) -> Path:
        figure, ((ax,),) = canvas(1, 1)
        for contender, _, times in measured:
            power = exponent(list(times), list(times.values()))
            ax.plot(
                list(times),
                list(times.values()),
                color=COLOURS[contender.style],
                marker=MARKERS[contender.style],
                label=f"{contender.label}: n^{power:.2f}",
            )
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel(f"n ({ENTRIES} entries a row)")
        ax.set_ylabel("seconds an epoch")
        ax.grid(True, which="major", alpha=0.3)
        figure.suptitle(self.title, fontsize=11)
        handles, names = ax.get_legend_handles_labels()
        legend(figure, dict(zip(names, handles)))
        return save(figure, folder / f"{self.file_stem}.png")


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """p of the best fit values ≈ constant · size^p."""
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
