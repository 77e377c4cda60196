"""The ratios of all tasks in one picture: left of the line ours is faster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import table

LEAST, MOST = 0.01, 100.0  # what is further out, or infinite, stands at the edge
SERIES = (
    ("reached, 1e-4", 1e-4, "ratio", 1),
    ("reached, 1e-6", 1e-6, "ratio", 0),
    ("ours proven, 1e-6", 1e-6, "proven_ratio", 2),
)


def plot(found: dict[str, Any], path: Path) -> None:
    from matplotlib.figure import Figure

    tasks = {name: task for name, task in found["tasks"].items() if table.OURS in task["solvers"]}
    panels = {
        "the tasks": [name for name, task in tasks.items() if task["main"]],
        "smaller λ, additional data": [name for name, task in tasks.items() if not task["main"]],
    }
    panels = {title: sorted(names) for title, names in panels.items() if names}
    height = 1.5 + 0.19 * max(map(len, panels.values()))
    figure = Figure(figsize=(7.0 * len(panels), height), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, names) in zip(axes, panels.items()):
        draw(ax, found, title, names)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(path, dpi=110)


def draw(ax: Any, found: dict[str, Any], title: str, names: list[str]) -> None:
    from dualgap.plots.style import COLOURS, MARKERS

    places = np.arange(len(names))[::-1]
    for label, level, kind, style in SERIES:
        ratios = [getattr(row, kind) for row in table.rows(found, level, names)]
        hollow = {"markerfacecolor": "none"} if kind == "proven_ratio" else {}
        ax.plot(
            np.clip(ratios, LEAST, MOST),
            places,
            linestyle="none",
            marker=MARKERS[style],
            color=COLOURS[style],
            label=label,
            markersize=5,
            **hollow,
        )
    ax.axvline(1.0, color="black", linewidth=1)
    ax.set_xscale("log")
    ax.set_xlim(LEAST / 1.3, MOST * 1.3)
    ax.set_ylim(-1, len(names))
    ax.set_yticks(places, names, fontsize=7)
    ax.grid(True, alpha=0.3)
    ax.set_xlabel("seconds of ours / seconds of the best peer")
    ax.set_title(f"{title}: ours is faster left of the line", fontsize=9)
