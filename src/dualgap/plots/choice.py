"""The band of cross-validation errors that exact optima can have, over strengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.plots.axes import one_axes
from dualgap.plots.style import COLOURS, tidy


def plot_choice(choice: Any, ax: Any = None) -> Any:
    """Draw a ``CertifiedChoice``: the band, the grid, the chosen strength and the two bounds."""
    ax = one_axes(ax)
    edges = np.asarray(choice.strengths)
    band = dict(step="post", color=COLOURS[0], alpha=0.25, linewidth=0.0)
    low, high = (np.append(side, side[-1]) for side in choice.between.T)
    ax.fill_between(edges, low, high, **band, label="every strength")
    ax.vlines(edges, *choice.at.T, color=COLOURS[0], linewidth=1.5, label="grid")
    ax.axhline(choice.most, color=COLOURS[1], linewidth=1.0, label="the chosen one has at most")
    ax.axhline(choice.least, color=COLOURS[2], linewidth=1.0, label="none has less than")
    ax.plot([choice.value], [choice.most], "o", color=COLOURS[1])
    ax.set(xscale="log", xlabel=choice.name, ylabel=f"cross-validation error\n({choice.kind})")
    ax.set_xlim(edges[0], edges[-1])
    tidy(ax)
    ax.legend(frameon=False)
    return ax
