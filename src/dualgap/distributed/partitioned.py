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
            "problem must be a dualgap.Problem, or distributed.Partitioned(partitions, loss, "
            f"penalty, lam), which says what to fit to partitions, not {type(problem).__name__}"
        )
    return _cut(problem, 8 if partitions is None else partitions)


def _cut(problem: Problem, count: int) -> Partitioned:
    sources = split(problem.given, problem.given_y, problem.s, count)
    # Its own penalty has a coefficient for the intercept, or one for each class.
    grown = problem.has_intercept or problem.width > 1
    penalty = problem.feature_penalty if grown else problem.penalty
    scaling = problem.constant if problem.has_intercept else 1.0
    return Partitioned(sources, problem.loss, penalty, problem.lam, problem.intercept, scaling)
