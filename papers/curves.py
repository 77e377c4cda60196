"""Runs that differ in their seed, taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats
from papers.ledger import Record

_TINY = 1e-300


class Curve(NamedTuple):
    """The geometric mean over seeds, with the smallest and the largest."""

    x: Floats
    mean: Floats
    low: Floats
    high: Floats


class Optimum(NamedTuple):
    """What is known of the best objective: it lies between ``dual`` and ``primal``."""

    primal: float
    dual: float


def optimum(records: Sequence[Record]) -> Optimum:
    """The tightest bounds that any run has seen on a problem."""
    return Optimum(
        min(float(record["primal"].min()) for record in records),
        max(float(record["dual"].max()) for record in records),
    )


def values(record: Record, y: str, best: Optimum | None = None) -> Floats:
    """The column ``y``: "gap", or the distance of "primal" or "dual" from the optimum."""
    if y == "gap" or best is None:
        return record["gap"]
    return record["primal"] - best.primal if y == "primal" else best.dual - record["dual"]


def average(
    records: Sequence[Record], x: str, y: str, best: Optimum | None = None, floor: float = _TINY
) -> Curve:
    """Curves of several seeds on common places; a run that has ended stays where it is.

    What is below ``floor`` counts as ``floor``: the run that defines the optimum would be at zero.
    """
    places = [record[x] for record in records]
    grid = np.unique(np.concatenate(places))
    if len(grid) > 400:
        grid = np.unique(np.quantile(grid, np.linspace(0.0, 1.0, 400)))
    logs = np.array(
        [
            np.interp(grid, place, np.log(np.maximum(values(record, y, best), floor)))
            for place, record in zip(places, records)
        ]
    )
    return Curve(
        grid, np.exp(logs.mean(axis=0)), np.exp(logs.min(axis=0)), np.exp(logs.max(axis=0))
    )


def needed(
    records: Sequence[Record], x: str, level: float, y: str = "gap", best: Optimum | None = None
) -> float:
    """Mean ``x`` at which runs reach a level; infinite if one of them does not."""
    return float(
        np.mean([_reached(record[x], values(record, y, best), level) for record in records])
    )


def _reached(x: Floats, y: Floats, level: float) -> float:
    below = np.flatnonzero(y <= level)
    if len(below) == 0:
        return np.inf
    last = int(below[0])
    if last == 0:
        return float(x[0])
    # Between two rows the logarithm is taken to be a straight line.
    before, after = np.log(np.maximum(y[last - 1 : last + 1], 1e-3 * level))
    share = (before - np.log(level)) / (before - after) if before > after else 1.0
    return float(x[last - 1] + share * (x[last] - x[last - 1]))


def within_reach(groups: Sequence[Sequence[Record]], least: float) -> float:
    """The smallest gap, at least ``least``, that all runs of all groups have reached."""
    return max(least, *(float(record["gap"].min()) for group in groups for record in group))
