"""The problem as a user states it: partitions, loss, penalty and λ."""

from __future__ import annotations

from typing import Any

from dualgap.distributed.data.agreement import ResolvedModel, Summary, all_labels
from dualgap.distributed.data.block import ModelSpec, check_spec
from dualgap.distributed.data.sources import Sources, listed, split
from dualgap.distributed.tuning import TUNING
from dualgap.problem import Problem


class Partitioned:
    """A ``Problem`` whose data is in partitions. No process has to hold all of them.

    Parameters
    ----------
    partitions : list of (X, y) or (X, y, sample_weight), or of delayed ones
        Or what ``from_dask``, ``from_dataframe`` and ``from_libsvm`` return. The result of a fit
        depends on the partitions, but not on the workers.
    loss, penalty, lam, intercept, intercept_scaling
        As for ``Problem``. Weights are relative to the total weight of all partitions.
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
        self.spec = check_spec(ModelSpec(loss, penalty, lam, intercept, intercept_scaling))

    def resolve(self, summaries: list[Summary]) -> ResolvedModel:
        """The model to fit, now that the partitions have been read."""
        return ResolvedModel(self.spec, all_labels(summaries, self.spec.loss))

    def __repr__(self) -> str:
        spec = self.spec
        return (
            f"Partitioned({len(self.sources)} partitions, {spec.loss!r}, {spec.penalty!r}, "
            f"lam={spec.lam:g})"
        )


def as_partitioned(problem: Any, partitions: int | None) -> Partitioned:
    """The problem itself, or a problem in memory cut into ``partitions`` partitions."""
    if isinstance(problem, Partitioned):
        if partitions is not None and partitions != len(problem.sources):
            raise ValueError(
                f"the problem already has {len(problem.sources)} partitions, not {partitions}"
            )
        return problem
    if not isinstance(problem, Problem):
        raise ValueError(
            "problem must be a dualgap.Problem, or distributed.Partitioned(partitions, loss, "
            f"penalty, lam), which says what to fit to partitions, not {type(problem).__name__}"
        )
    return _cut(problem, TUNING.partitions if partitions is None else partitions)


def _cut(problem: Problem, count: int) -> Partitioned:
    if problem.offset is not None:
        raise ValueError(
            "offset: partitions of data have none; for a loss of y − z, such as squared or huber, "
            "lower y by it"
        )
    sources = split(problem.given, problem.given_y, problem.s, count)
    scaling = problem.constant if problem.has_intercept else 1.0
    return Partitioned(
        sources, problem.loss, problem.feature_penalty, problem.lam, problem.intercept, scaling
    )
