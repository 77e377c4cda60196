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
    """The column ``y``: "gap", or the distance of "primal" or "dual" from the optimum; with
    "current " before it that of the current point instead of the best so far."""
    if best is None or y.endswith("gap"):
        return record[y]
    return record[y] - best.primal if y.endswith("primal") else best.dual - record[y]


def largest_rise(record: Record, y: str, best: Optimum) -> float:
    """By which factor a curve rises above its lowest point so far, at most."""
    curve = np.maximum(values(record, y, best), _TINY)
    return float(np.max(curve / np.minimum.accumulate(curve)))


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
    """Where the curve of ``average`` reaches a level; infinite if it does not."""
    curve = average(records, x, y, best)
    return _reached(curve.x, curve.mean, level)


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


def epoch_seconds(record: Record) -> float:
    """Seconds of n updates: the shortest epoch, as other programs can only add to it."""
    return float(np.min(np.diff(record["seconds"]) / np.diff(record["epoch"])))
