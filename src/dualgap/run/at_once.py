"""Problems that the first round of a run solves and one proof settles, without a loop.

That is most fits to small data: ``loop.py`` would take a tenth of their time to decide, between one
round and one gap check, that there is nothing to decide.
"""

from __future__ import annotations

import time
from typing import Any

from dualgap.problem import Problem
from dualgap.problem.intercept import split
from dualgap.proof.certificate import Proof, as_proof, attempt
from dualgap.proof.dual_point import FLOAT64
from dualgap.proof.goal import Goal
from dualgap.proof.prove import find_proof
from dualgap.run.solution import History, Solution, Status
from dualgap.steps.base import Run


def solved_at_once(
    problem: Problem, run: Run, goal: Goal, published: Any, name: str, settings: dict[str, str]
) -> tuple[Solution | None, bool]:
    """The solution that a loop would find in one round, and whether Ctrl-C has ended the search.

    None if there is more to do; then the run stays as if it had not been asked. It starts at zero,
    and nobody watches it.
    """
    try:
        return _solution(problem, run, goal, published, name, settings), False
    except KeyboardInterrupt:
        return None, True


def _solution(
    problem: Problem, run: Run, goal: Goal, published: Any, name: str, settings: dict[str, str]
) -> Solution | None:
    began = time.perf_counter()
    primal, dual = problem.value_at_origin, problem.least
    if not problem.scale > 0.0 or primal - dual <= goal.gap(dual):
        return None  # the start may do
    made = run.advance(None)
    found = attempt(problem, run.pair(), FLOAT64)
    known = as_proof(problem, found)
    reached = run.may_end and found.larger_gap <= goal.gap(known.certificate.dual)
    proof = _shown(problem, known, goal, published) if reached else None
    if proof is None:
        run.take_back(made)
        return None
    _, operations, updates = made
    best = proof.certificate
    history = History()
    history.append(0.0, 0.0, 0, 0, 0, 0.0, primal, dual, max(primal - dual, 0.0))
    epochs, seconds = updates / run.size, time.perf_counter() - began
    seen = known.certificate
    row = epochs, epochs, updates, 1, operations, seconds, seen.primal, seen.dual
    history.append(*row, max(seen.primal - seen.dual, 0.0))
    coef, intercept = split(problem, proof.w)
    return Solution(
        coef=coef,
        intercept=intercept,
        dual=problem.shaped(proof.dual),
        certificate=best,
        history=history,
        status=Status.CONVERGED,
        method=name,
        settings=settings,
        target=goal.gap(best.dual),
        passes=epochs,
        problem=problem,
        proof=proof,
    )


def _shown(problem: Problem, known: Proof, goal: Goal, published: Any) -> Proof | None:
    """The proof of the model that is returned; None if that misses the goal."""
    shown = None if published is None else published(problem, known.w, known.z)
    if shown is None:
        return known
    proof = find_proof(problem, shown, known.dual, goal.gap(known.certificate.dual))
    return proof if proof.certificate.gap <= goal.gap(proof.certificate.dual) else None
