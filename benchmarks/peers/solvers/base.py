"""A solver in the race."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.peers.tasks import Instance


class Fit(NamedTuple):
    """Coefficients; a lower bound on the minimum if the solver has proven one; what it did."""

    coef: Any
    bound: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Solver:
    """``start`` brings the data into the form that the solver likes best, outside of the clock, and
    returns the function that is timed: from a setting to coefficients.

    ``settings`` go from loose to tight; the first is also the warm-up run.
    """

    name: str
    package: str
    accepts: Callable[[Instance], bool]
    settings: Sequence[float]
    start: Callable[[Instance], Callable[[float], Fit]]


def tolerances(loose: float, tight: float) -> list[float]:
    """Powers of ten with one value in between, from 10^loose to 10^tight."""
    steps = round(2 * (loose - tight))
    return [10.0 ** (loose - 0.5 * k) for k in range(steps + 1)]


def iterations(most: int) -> list[float]:
    """1, 2, 3, 4, 6, 8, 11, 16, ...: about √2 apart."""
    counts = {round(2 ** (0.5 * k)) for k in range(64)}
    return [float(count) for count in sorted(counts) if count <= most]


def problem(*kinds: tuple[str, float]) -> Callable[[Instance], bool]:
    """Accepts these pairs of loss and share of L1 (0.5 stands for all elastic nets)."""

    def accepts(instance: Instance) -> bool:
        share = instance.l1_ratio if instance.l1_ratio in (0.0, 1.0) else 0.5
        return (instance.loss, share) in kinds

    return accepts


HINGE, SQUARED_HINGE = ("hinge", 0.0), ("squared-hinge", 0.0)
LOGISTIC, SPARSE_LOGISTIC = ("logistic", 0.0), ("logistic", 1.0)
RIDGE, LASSO, ELASTIC_NET = ("squared", 0.0), ("squared", 1.0), ("squared", 0.5)
