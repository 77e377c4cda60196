"""A loop that has not begun, driven round after round to its end; the proof of its best model."""

from __future__ import annotations

from contextlib import nullcontext

from dualgap.linalg.validate import Floats
from dualgap.proof.free_features import near_columns
from dualgap.proof.prove import find_proof
from dualgap.run.checkpoint import Checkpoint
from dualgap.run.interrupt import deferred
from dualgap.run.loop import Loop
from dualgap.run.loop_state import SavedRun
from dualgap.run.progress import Progress
from dualgap.run.solution import Solution, Status


def by_rounds(
    loop: Loop,
    offered: Floats | None,
    found: SavedRun | None,
    store: Checkpoint | None,
    progress: bool,
) -> Solution:
    """The best model, with its proof. The loop starts with coefficients that a user has ``offered``
    or where a checkpoint was ``found``."""
    if found is not None:
        found.restore(loop)
    else:
        loop.begin()
        if offered is not None:
            loop.offer(offered)
    return _proven(loop, _ended(loop, store, progress))


def _ended(loop: Loop, store: Checkpoint | None, progress: bool) -> Status:
    """How the loop ends."""
    with Progress() if progress else nullcontext() as loop.progress:
        if store is None:
            return loop.run_to_the_end()
        loop.checkpoint = store
        with deferred() as loop.interrupted:
            return loop.run_to_the_end()


def _proven(loop: Loop, status: Status) -> Solution:
    """The best model of a loop that has ended, with its proof."""
    problem = loop.problem
    interrupted = status is Status.INTERRUPTED or loop.interrupted()
    coef, dual = loop.best
    found = loop.proof or find_proof(problem, coef, dual, loop.target)
    proof, dual = found[:2]
    target = loop.goal.gap(proof.dual)
    own, intercept = problem.split(coef)
    solved = proof.gap <= target
    return Solution(
        coef=own,
        intercept=intercept,
        dual=problem.shaped(dual),
        certificate=proof,
        history=loop.history,
        status=Status.CONVERGED if solved else status,
        method="",
        target=target,
        passes=loop.passes,
        interrupted=interrupted,
        near=() if solved else near_columns(problem),
        problem=problem,
        proof=found if loop.is_published else None,
    )
