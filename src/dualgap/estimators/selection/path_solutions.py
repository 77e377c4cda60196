"""The solutions along a path: one after the other, or for squared loss from one run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from dualgap.estimators.penalties import constraints_of
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.run.known_solution import known_solution
from dualgap.run.path import path
from dualgap.run.solution import Solution
from dualgap.run.solve import solve
from dualgap.steps.path.column_path import ColumnPath
from dualgap.steps.path.gram_path import PathPoint, gram_path
from dualgap.steps.path.moments import DataMoments


def solutions_at(
    problem: Problem, lams: Floats, *, screen: bool = False, warm_start: Any = None, **options: Any
) -> Iterator[Solution]:
    """As ``run.path.path``, but λ = 0 is allowed and means no penalty."""
    free = problem
    if (lams == 0.0).any():
        free = problem.with_penalty(
            constraints_of(problem.penalty, problem.coef_size),
            constraints_of(problem.feature_penalty, problem.p),
        )
    for solution in path(
        problem, lams[lams > 0.0], screen=screen, warm_start=warm_start, **options
    ):
        yield solution
        if solution.interrupted:
            return
        warm_start = solution
    for _ in lams[lams == 0.0]:
        warm_start = solve(free, warm_start=warm_start, **options)
        yield warm_start


def squared_solutions(
    problem: Problem, l1_ratio: float, positive: bool, lams: Floats, options: dict[str, Any]
) -> Iterator[Solution]:
    """As ``solutions_at``, for squared loss without an intercept: from one run, with a proof of
    each point. Points that miss ``tol`` are solved by themselves."""
    X, used = problem.given, lams[lams > 0.0]
    points: Iterator[PathPoint] = iter(())
    limits = options["tol"], options["max_epochs"]
    if ColumnPath.pays(X) and len(used):
        points = ColumnPath(problem, l1_ratio, positive).points(used, *limits)
    elif DataMoments.pay(X) and len(used):
        everything = np.arange(problem.n)
        fold = DataMoments(X, problem.y, problem.s, False).of_fold(everything, everything)
        if fold is not None:
            points = gram_path(fold.fitted, used, l1_ratio, positive, *limits).points()
    warm_start = None
    for lam, point in zip_longest(lams, points):
        solution = None
        if point is not None and point.solved:
            problem = problem.with_lam(lam)  # shares the null model of the last one
            w = point.coefficients(problem)
            solution = known_solution(problem, w, 0.0, options["tol"], method="path")
        if solution is None:
            one = np.array([lam])
            (solution,) = solutions_at(problem, one, warm_start=warm_start, **options)
        yield solution
        if solution.interrupted:
            return
        warm_start = solution
