"""The proof of a solution that is known before any run: from a decomposition, or from a path."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof import terms
from dualgap.proof.free_features import near_columns
from dualgap.proof.goal import Goal
from dualgap.proof.prove import find_proof
from dualgap.run.solution import History, Solution, Status


def known_solution(
    problem: Problem,
    coef: Any,
    intercept: Any,
    tol: float,
    relative_to: str = "optimum",
    published: Callable[[Problem, Floats, Floats | None], Floats | None] | None = None,
    method: str = "closed form",
) -> Solution | None:
    """The solution with these coefficients; None if its proven gap misses ``tol``.

    But where free columns depend on each other up to rounding, no run could prove more.

    ``published`` gives the coefficients that will be shown for these, as for ``solve``. The dual
    point is −φ'(Xw). The history has a row for the null model and one for the solution.
    """
    if not 0.0 < problem.scale < np.inf:
        return None
    began = time.perf_counter()
    w = joined(problem, coef, intercept)
    z = problem.decision(w)
    shown = None if published is None else published(problem, w, z)
    if shown is not None:
        w, z = shown, problem.decision(shown)
    dual = np.empty(problem.dual_size)
    terms.slopes(problem.loss, problem.y, z, dual)
    goal = Goal.of(problem, tol, relative_to)
    # The target depends on the bound that will be proven, which most often is a sharp one.
    found = find_proof(problem, w, dual, goal.expected, z)
    proof, dual = found[:2]
    target = goal.gap(proof.dual)
    if not proof.gap <= target:
        found = find_proof(problem, w, dual, target, z)
        proof, dual = found[:2]
        target = goal.gap(proof.dual)
    solved = proof.gap <= target
    hopeless = problem.features.free.all() and problem.unpenalised.collinear
    if not (solved or hopeless):
        return None
    history, least = History(), problem.least
    history.append(0.0, 0.0, 0, 0, 0.0, 0.0, least + problem.scale, least, problem.scale)
    seconds = time.perf_counter() - began
    history.append(1.0, 1.0, 0, 0, 0.0, seconds, proof.primal, proof.dual, proof.gap)
    own, intercept = problem.split(w)
    return Solution(
        coef=own,
        intercept=intercept,
        dual=problem.shaped(dual),
        certificate=proof,
        history=history,
        status=Status.CONVERGED if solved else Status.STALLED,
        method=method,
        target=target,
        passes=1.0,
        near=() if solved else near_columns(problem),
        problem=problem,
        proof=found,
    )
