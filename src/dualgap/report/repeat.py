"""The Python code that repeats a run."""

from __future__ import annotations

from collections.abc import Mapping

from dualgap import losses, penalties
from dualgap.files.describe import as_python, by_name
from dualgap.problem import Problem
from dualgap.run.solution import Solution


def repeating(runs: Mapping[str, Solution], problem: Problem | None) -> str | None:
    """Code for all runs; None if the arguments of a run are not known."""
    lines = ["import dualgap as dg", ""]
    if problem is not None:
        lines.append(f"problem = {made(problem)}")
    if any(solution.settings is None for solution in runs.values()):
        return None
    if len(runs) == 1:
        lines.append(f"solution = {_solve_call(*runs.values())}")
    else:
        listed = [f"    {as_python(name)}: {_solve_call(runs[name])}," for name in runs]
        lines += ["runs = {", *listed, "}"]
    return "\n".join(lines)


def _solve_call(solution: Solution) -> str:
    settings = dict(solution.settings or {})
    method = settings.pop("method", '"auto"')
    options = [f"{name}={value}" for name, value in settings.items()]
    return f"dg.solve({', '.join(['problem', method, *options])})"


def made(problem: Problem) -> str:
    """The expression that makes a problem from X and y."""
    parts = [
        "X",
        "y",
        by_name(problem.given_loss, losses.REGISTRY),
        by_name(problem.feature_penalty, penalties.REGISTRY),
        f"lam={as_python(problem.lam)}",
    ]
    if problem.c.min() != problem.c.max():
        parts.append("sample_weight=...")
    if problem.has_intercept:
        parts.append(f"intercept={as_python(problem.intercept)}")
        if problem.constant != 1.0:
            parts.append(f"intercept_scaling={as_python(problem.constant)}")
    return f"dg.Problem({', '.join(parts)})"
