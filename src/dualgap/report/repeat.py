"""The lines of Python that repeat a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualgap import losses, penalties
from dualgap.files.describe import as_python, by_name
from dualgap.penalties import Box, Weighted
from dualgap.penalties.per_class import PerClass
from dualgap.problem import Problem
from dualgap.run.solution import Solution


def repeating(runs: Mapping[str, Solution], problem: Problem | None) -> str | None:
    """Code for all runs; None if it is not known how some of them were asked for."""
    lines = ["import dualgap as dg", ""]
    if problem is not None:
        lines.append(f"problem = {made(problem)}")
    if any(solution.settings is None for solution in runs.values()):
        return None
    if len(runs) == 1:
        lines.append(f"solution = {_solved(*runs.values())}")
    else:
        listed = [f"    {as_python(name)}: {_solved(runs[name])}," for name in runs]
        lines += ["runs = {", *listed, "}"]
    return "\n".join(lines)


def _solved(solution: Solution) -> str:
    settings = dict(solution.settings or {})
    method = settings.pop("method", '"auto"')
    options = [f"{name}={value}" for name, value in settings.items()]
    return f"dg.solve({', '.join(['problem', method, *options])})"


def made(problem: Problem) -> str:
    """How a problem is made from X and y."""
    parts = [
        "X",
        "y",
        by_name(problem.loss, losses.REGISTRY),
        by_name(as_given(problem), penalties.REGISTRY),
        f"lam={as_python(problem.lam)}",
    ]
    if problem.c.min() != problem.c.max():
        parts.append("sample_weight=...")
    if problem.has_intercept:
        parts.append(f"intercept={as_python(problem.intercept)}")
        if problem.constant != 1.0:
            parts.append(f"intercept_scaling={as_python(problem.constant)}")
    return f"dg.Problem({', '.join(parts)})"


def as_given(problem: Problem) -> Any:
    """The penalty on the features of X alone, as a user gives it."""
    return _of_features(problem.penalty, problem.p, problem.width)


def _of_features(penalty: Any, p: int, width: int) -> Any:
    if isinstance(penalty, PerClass):
        return _of_features(penalty.base, p, 1)
    if type(penalty) is Box:
        low, high = (_first(each, p, width) for each in (penalty.low, penalty.high))
        return Box(low, high, _of_features(penalty.base, p, width))
    if type(penalty) is Weighted:
        weights = _first(penalty.weights, p, width)
        base = _of_features(penalty.base, p, width)
        return base if np.all(weights == 1.0) else Weighted(base, weights)
    return penalty


def _first(values: Any, p: int, width: int) -> Any:
    """One for each of the features of X, or one number if they are alike."""
    if np.ndim(values) == 0:
        return values
    own = np.asarray(values)[: p * width : width]
    return float(own[0]) if len(own) and np.all(own == own[0]) else own
