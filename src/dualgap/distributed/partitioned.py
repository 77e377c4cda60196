"""The problem as a user states it: partitions, loss, penalty and λ."""

from __future__ import annotations

from typing import Any

from dualgap.distributed.block import Model, check_model
from dualgap.distributed.sources import Sources, listed, split
from dualgap.distributed.survey import Settled, Survey, all_labels
from dualgap.problem import Problem


class Partitioned:
    """A ``Problem`` whose data is in parts, which nobody has to hold all at once.

    Parameters
    ----------
    partitions : list of (X, y) or (X, y, sample_weight), or of delayed ones
        Or what ``from_dask``, ``from_dataframe`` and ``from_libsvm`` return. The result of a fit
        depends on them, but not on who works on them.
    loss, penalty, lam, intercept, intercept_scaling
        As for ``Problem``. Weights count over all partitions.
    """

    def __init__(
        self,
        partitions: Any,
        loss: Any = "squared",
        penalty: Any = "l2",
        lam: float = 1.0,
        intercept: Any = False,
        intercept_scaling: float = 1.0,
    ) -> None:
        self.sources: Sources = listed(partitions)
        self.model = check_model(Model(loss, penalty, lam, intercept, intercept_scaling))

    def settled(self, surveys: list[Survey]) -> Settled:
        """What is to be fitted, now that data is known."""
        return Settled(self.model, all_labels(surveys, self.model.loss))

    def __repr__(self) -> str:
        model = self.model
        return (
            f"Partitioned({len(self.sources)} partitions, {model.loss!r}, {model.penalty!r}, "
            f"lam={model.lam:g})"
        )


def as_partitioned(problem: Any, partitions: int | None) -> Partitioned:
    """A problem in memory is cut into ``partitions`` parts."""
    if isinstance(problem, Partitioned):
        if partitions is not None and partitions != len(problem.sources):
            raise ValueError(
                f"the problem has {len(problem.sources)} partitions already, not {partitions}"
            )
        return problem
    if not isinstance(problem, Problem):
        raise ValueError(
            f"problem must be a dualgap.Problem or a distributed.Partitioned, not "
            f"{type(problem).__name__}"
        )
    return _cut(problem, 8 if partitions is None else partitions)


def _cut(problem: Problem, count: int) -> Partitioned:
    if problem.has_intercept or problem.width > 1:
        # Its penalty has grown a coefficient for the intercept, or one for each class.
        raise ValueError(
            "a Problem with an intercept or with many classes cannot be cut: give its data as "
            "distributed.Partitioned([(X, y), ...], loss, penalty, lam, intercept)"
        )
    y = problem.y if problem.classes is None else problem.classes[(problem.y > 0.0).astype(int)]
    sources = split(problem.X, y, problem.c, count)
    return Partitioned(sources, problem.loss, problem.penalty, problem.lam)
