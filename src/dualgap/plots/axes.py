"""Where pictures go: into a new figure, or into axes that a user has."""

from __future__ import annotations

from typing import Any

import numpy as np


def one_axes(ax: Any, size: tuple[float, float] = (7.5, 4.5)) -> Any:
    """The axes of a user, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def two_axes(ax: Any, size: tuple[float, float], **options: Any) -> Any:
    """Two panels, one above the other: a pair of axes, or the place of one, or a new figure."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(2, 1, figsize=size, layout="constrained", **options)[1]
    if np.ndim(ax) == 1 and len(ax) == 2:
        return np.asarray(ax)
    if np.ndim(ax) or ax.get_subplotspec() is None:
        raise ValueError("ax must be None, a pair of axes, or axes of a grid (pyplot.subplots)")
    ax.set_axis_off()
    shape = {key: options[key] for key in ("height_ratios",) if key in options}
    cells = ax.get_subplotspec().subgridspec(2, 1, **shape)
    first = ax.figure.add_subplot(cells[0])
    shared = first if options.get("sharex") else None
    return np.array([first, ax.figure.add_subplot(cells[1], sharex=shared)])
