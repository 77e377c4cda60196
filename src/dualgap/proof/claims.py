"""Solutions and fits of estimators as proof files state them, with the labels of their targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.problem import Problem
from dualgap.proof.proof_file import Proven, as_label
from dualgap.run.solution import Solution


def proven_solution(problem: Problem, solution: Solution) -> Proven:
    """What is proven of a solution."""
    proven = Proven(problem, solution.coef, solution.intercept, solution.dual, solution.certificate)
    if problem.classes is None:
        return proven
    codes = (-1.0, 1.0) if problem.width == 1 else range(problem.width)
    labels = [(as_label(label), float(code)) for label, code in zip(problem.classes, codes)]
    return proven._replace(labels=labels)


def proven_fits(y: Any, fits: list[tuple[Problem, Any]]) -> list[Proven]:
    """What is proven of an estimator's fits, one for each class or column of y."""
    y = np.asarray(y)
    found = []
    for k, (problem, fit) in enumerate(fits):
        column = k if y.ndim == 2 else 0
        own = y[:, column] if y.ndim == 2 else y
        labels = _labels(own, np.asarray(problem.y, dtype=np.float64))
        parts = fit.coef, fit.intercept, fit.dual, fit.certificate
        found.append(Proven(problem, *parts, column, labels))
    return found


def _labels(y: Any, coded: Any) -> list[tuple[Any, float]] | None:
    """Which label each code stands for; None if y is what is coded."""
    if y.dtype.kind in "biuf" and np.array_equal(y, coded):
        return None
    found, first = np.unique(y, return_index=True)
    return [(as_label(label), float(coded[i])) for label, i in zip(found, first)]


def hints_of(table: Any, target: str | None) -> dict[str, Any]:
    """How the data file was read: what is 0-based, and which columns mean what."""
    hints = {
        "target": target,
        "features": None if table.features is None else list(table.features),
        "zero_based": table.zero_based,
    }
    return {name: hint for name, hint in hints.items() if hint is not None}
