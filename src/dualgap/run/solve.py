"""``solve``: check what a user asks for, and find and prove a model: at once, or by rounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from dualgap.files.describe import as_python
from dualgap.files.identity import identity
from dualgap.linalg import parallel
from dualgap.linalg.validate import LARGEST, Floats, number, whole
from dualgap.methods.auto import resolve
from dualgap.problem import Problem
from dualgap.proof.certificate import as_proof, attempt
from dualgap.proof.dual_point import FLOAT64
from dualgap.proof.goal import Goal
from dualgap.proof.prove import find_proof
from dualgap.run.by_rounds import by_rounds
from dualgap.run.checkpoint import Checkpoint
from dualgap.run.loop import Loop
from dualgap.run.loop_state import SavedRun, facts
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import History, Solution, Status
from dualgap.run.warm_start import as_start
from dualgap.steps.base import Setting, Start, as_run


def solve(
    problem: Problem,
    method: Any = "auto",
    sampling: Any = None,
    tol: float = 1e-4,
    max_epochs: int = 1000,
    max_seconds: float | None = None,
    random_state: Any = 0,
    callback: Callable[[Snapshot], Any] | None = None,
    progress: bool = False,
    warm_start: Any = None,
    n_threads: int | None = None,
    checkpoint: Any = None,
    checkpoint_every: float = 60.0,
    relative_to: str = "optimum",
    *,
    published: Callable[[Problem, Floats, Floats | None], Floats | None] | None = None,
    **others: Any,
) -> Solution:
    """Fit a problem and prove how good the fit is.

    Parameters
    ----------
    problem : Problem
    method : str, Method or step, default "auto"
        A name from ``dualgap.methods.METHODS``, with parameters if wanted, as in
        "adasdca+(m=50)"; "auto" picks one and says why in ``solution.method``.
    sampling : Sampling or str, optional
        Replaces the method's own, as in "importance" or "tau-nice(64)".
    tol : float
        Stop when gap ≤ tol · D, where D is the proven lower bound of the objective: the model is
        then within ``tol`` of the best possible objective. D counts as at least 0.001·P(0), where
        P(0) is the objective at zero coefficients with the best unpenalised intercept. For
        Poisson, objectives are counted from the smallest sum that its losses can have. Units of y,
        X or the weights do not change what ``tol`` means.
    max_epochs : int
        Rounds of the loop. Each makes as many updates as there are coordinates, or fewer if the
        sampling has few left to visit, and then checks the gap.
    max_seconds : float, optional
    random_state : int or numpy Generator
        The same seed gives the same result, bit for bit.
    callback : callable, optional
        Called with a ``Snapshot`` at each certificate; a true result stops the run.
    progress : bool
        Show a progress line.
    warm_start : Solution, (coef, intercept, dual), (coef, dual) or coef, optional
    n_threads : int, optional
        Threads that share passes over large data, and the work on a large set of coordinates
        (``TauNice`` and its like); by default as many as the process may use cores. The result is
        the same, bit for bit, whatever their number.
    checkpoint : path, optional
        A file that keeps the state of the run, written at the end of the first round after every
        ``checkpoint_every`` seconds (0: each round) and when the run ends. If the file is there,
        the run resumes from it, with the result, bit for bit, that it would have had without the
        break ("lbfgs", "small-newton" and steps of your own without ``state()`` resume from the
        best pair).
        ``tol``, ``max_epochs``, ``max_seconds``, ``callback`` and ``n_threads`` may change; a file
        of another problem, method, sampling or seed is refused. ``max_epochs`` counts all rounds of
        the run, ``max_seconds`` the seconds of this call. ``warm_start`` is for the first call
        only. If the run was finished, its solution is returned after a new proof. The previous
        checkpoint stays as ``<path>.previous``, in case the file gets damaged. The first Ctrl-C
        finishes the round and writes a checkpoint, a second one ends the run at once. A round that
        ``max_seconds`` has cut short resumes with new draws.
    relative_to : "optimum" or "start"
        "start" stops when gap ≤ tol · P(0), as dualgap 0.1 did.
    published : callable, optional
        Called with the problem, all coefficients, flat, and their decision values, if these are
        known; returns the coefficients to prove and return in their place (rounded to float32,
        say), or None. They replace the best ones if they reach the target, too.

    Returns
    -------
    Solution
        Also after Ctrl-C: then the best certified model so far.
    """
    _refuse_other_things(problem, others)
    tol = number(tol, "tol", 0.0, LARGEST)
    max_epochs = whole(max_epochs, "max_epochs", 0)
    limit = np.inf if max_seconds is None else number(max_seconds, "max_seconds", 0.0)
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be a function, not {callback!r}")
    settings = _other_than_default(
        method=method, sampling=sampling, tol=tol, max_epochs=max_epochs, max_seconds=max_seconds,
        random_state=random_state, warm_start=None if warm_start is None else ...,
        relative_to=relative_to,
    )  # fmt: skip
    threads = None if n_threads is None else whole(n_threads, "n_threads", 1)
    store = None if checkpoint is None else Checkpoint(checkpoint, checkpoint_every)
    found = None if store is None else SavedRun.of(store.read())
    with nullcontext() if threads is None else parallel.at_most(threads):
        # A resumed run keeps the method that "auto" chose for its first tol.
        name, chosen = resolve(method, sampling, problem, tol if found is None else found.tol)
        if not problem.scale + problem.least < LARGEST:
            raise ValueError(
                "X and y are so large that the objective overflows at the start: rescale"
            )
        if store is not None:
            owner = identity(problem, chosen, random_state)
            if found is not None:
                store.refuse_other(found.state, owner)
            store.facts = facts(owner, tol if found is None else found.tol)
        if found is not None:
            start = found.start(problem)
        else:
            start = Start() if warm_start is None else as_start(problem, warm_start)
        draws = chosen.step.is_random
        rng = _generator(random_state, draws or store is not None)
        sampling = chosen.sampling.bind(problem) if draws else chosen.sampling
        goal = Goal.of(problem, tol, relative_to)
        watched = callback is not None or progress or store is not None
        # Only steps that draw may share the work on a set of coordinates.
        allowed = parallel.count() if draws else 1
        setting = Setting(sampling, goal, allowed, max_epochs, rng, watched)
        run = chosen.step.start(problem, start, setting)
        is_plain = not watched and warm_start is None and max_seconds is None and max_epochs > 0
        solution, interrupted = None, False
        if is_plain and getattr(run, "ends_at_once", False):
            try:
                solution = _at_once(problem, run, goal, published, name, settings)
            except KeyboardInterrupt:
                interrupted = True
        if solution is not None:
            return solution
        run = as_run(run)
        with closing(run), parallel.at_most(threads):
            loop = Loop(problem, run, sampling, goal, max_epochs, limit, callback, rng)
            loop.published, loop.has_warm_start = published, warm_start is not None
            loop.interrupted = (lambda: True) if interrupted else bool
            solution = by_rounds(loop, start.coef, found, store, progress)
        return replace(solution, method=name, settings=settings)


def _at_once(
    problem: Problem, run: Any, goal: Goal, published: Any, name: str, settings: dict[str, str]
) -> Solution | None:
    """The solution that a loop would find in one round, without a loop, which would take a tenth of
    the time of most fits to small data to decide that there is nothing to decide.

    None if there is more to do; then the run stays as if it had not been asked. It starts at zero,
    and nobody watches it.
    """
    began = time.perf_counter()
    primal, dual = problem.value_at_origin, problem.least
    if not problem.scale > 0.0 or primal - dual <= goal.gap(dual):
        return None  # the start may do
    made = run.advance(None)
    found = attempt(problem, run.pair(), FLOAT64)
    known = as_proof(problem, found)
    reached = run.may_end and found.larger_gap <= goal.gap(known.certificate.dual)
    proof = known if reached else None
    shown = published(problem, known.w, known.z) if reached and published is not None else None
    if shown is not None:
        own = find_proof(problem, shown, known.dual, goal.gap(known.certificate.dual))
        proof = own if own.certificate.gap <= goal.gap(own.certificate.dual) else None
    if proof is None:
        run.take_back(made)
        return None
    _, operations, updates = made
    best = proof.certificate
    first = 0.0, 0.0, 0, 0, 0, 0.0, primal, dual, max(primal - dual, 0.0)
    epochs, seconds = updates / run.size, time.perf_counter() - began
    seen = known.certificate
    row = epochs, epochs, updates, 1, operations, seconds, seen.primal, seen.dual
    history = History(first, (*row, max(seen.primal - seen.dual, 0.0)))
    coef, intercept = problem.split(proof.w)
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


def _generator(random_state: Any, is_needed: bool) -> np.random.Generator | None:
    if not is_needed and type(random_state) is int and random_state >= 0:
        return None
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(f"random_state must be a seed or a Generator: {error}") from None


def _refuse_other_things(problem: Any, others: dict[str, Any]) -> None:
    """Arguments that ``solve`` does not have, and data where a problem belongs."""
    for name, value in others.items():
        raise TypeError(
            f"solve has no argument {name!r}; if it is a parameter of a method or of a sampling, "
            f"write it with its name, as in method='adasdca+({name}={value!r})' or "
            "sampling='tau-nice(64)'"
        )
    if not isinstance(problem, Problem):
        raise ValueError(
            f"problem must be a dualgap.Problem, not {type(problem).__name__}: "
            "use solve(Problem(X, y, loss, penalty, lam))"
        )


_PLAIN = (bool, int, float)


def _other_than_default(**given: Any) -> dict[str, str]:
    """What a solution remembers of the arguments, as one would write them."""
    usual = _defaults()
    return {
        name: repr(value) if type(value) in _PLAIN else as_python(value)
        for name, value in given.items()
        if not (type(value) is type(usual[name]) and value == usual[name])
    }


@cache
def _defaults() -> dict[str, Any]:
    return {name: parameter.default for name, parameter in signature(solve).parameters.items()}
