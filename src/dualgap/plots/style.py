"""Colours, legends and grids of the plots."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette, told apart with every kind of colour vision; markers help in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
OTHERS = "#9A9A9A"  # curves that are there, but not told apart
SEQUENCE = "viridis"  # from early to late; grows lighter evenly, also in grey
LATEST = 0.92  # of the sequence: beyond this it is too light on white


def tidy(ax: Any) -> None:
    """A light grid, and no lines where there is no scale."""
    ax.grid(True, which="major", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def legend_beside(ax: Any, title: str | None = None) -> Any:
    """A legend to the right of the axes, where it hides no curve."""
    return ax.legend(
        title=title,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        alignment="left",
    )
