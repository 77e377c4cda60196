"""From problems to models: what is kept of a solution, and what is said of one that falls short."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dualgap import losses
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Certificate, prove
from dualgap.proof.radius import Radius, radius
from dualgap.proof.screening import proven_zero
from dualgap.run.solution import Solution, Status

_NEGLIGIBLE = 1e-14  # part of an intercept


class Task(NamedTuple):
    """A problem, without X."""

    y: Any
    weights: Floats | None
    loss: Any
    penalty: Any
    lam: float


class Fit(NamedTuple):
    """A solution, with coefficients in the dtype of X and the certificate of those."""

    solution: Solution
    coef: Any
    intercept: Any
    dual: Floats
    certificate: Certificate
    radius: Radius
    zeros: Any


def finish(problem: Problem, solution: Solution) -> Fit:
    """The model that an estimator stores, with its proof and what follows from it."""
    coef, intercept = centred(problem, solution)
    balanced = _balanced(problem, coef, intercept)
    dual, certificate = solution.dual, solution.certificate
    same = coef is solution.coef and balanced is solution.intercept
    if not same or problem.X.dtype != np.float64:
        # The model is not quite the solution any more, and needs a proof of its own.
        coef = coef.astype(problem.X.dtype)
        intercept = np.asarray(balanced, dtype=problem.X.dtype)[()]
        flat = problem.flat(dual, "dual", problem.n)
        certificate, flat = prove(problem, joined(problem, coef, intercept), flat)
        dual = problem.shaped(flat)
    return Fit(
        replace(solution, problem=None),  # whose views of X nobody needs any more
        coef,
        intercept,
        dual,
        certificate,
        # In float64, as bounds that follow from a float32 would be rounded to one.
        radius(problem, coef, np.float64(intercept), dual, certificate),
        proven_zero(problem, certificate, dual),
    )


def centred(problem: Problem, solution: Solution) -> tuple[Any, Any]:
    """Of the models that differ by what the loss does not see, the one that others would find.

    These losses see differences between classes only, so that what no penalty holds can move.
    """
    coef, intercept = solution.coef, solution.intercept
    if type(problem.loss) in (losses.Softmax, losses.MulticlassHinge):
        if problem.intercept is True:
            # A class without weight has an intercept far away, which says nothing of others.
            intercept = intercept - np.mean(intercept[~problem.classes_without_weight])
        if problem.features.free.all():
            coef = coef - coef.mean(axis=1, keepdims=True)
    return coef, intercept


def _balanced(problem: Problem, coef: Any, intercept: Any) -> Any:
    """The best intercept for the coefficients, where it is known: as if X had been centred."""
    if problem.intercept is not True or type(problem.loss) is not losses.Squared:
        return intercept
    residuals = problem.y - problem.decision(joined(problem, coef, intercept))
    shift = float(np.sum(problem.c * residuals))
    size = float(np.sum(problem.c * np.abs(residuals))) + abs(intercept)
    return intercept + shift if abs(shift) > _NEGLIGIBLE * size else intercept


def in_threads(run: Any, count: int, workers: int, stop: threading.Event) -> list[Fit]:
    """The results of all tasks; Ctrl-C makes the runs end early, and keeps them."""
    with ThreadPoolExecutor(workers) as pool:
        futures: dict[int, Any] = {}
        while True:
            try:
                for k in range(count):
                    if k not in futures:
                        futures[k] = pool.submit(run, k)
                return [futures[k].result() for k in range(count)]
            except KeyboardInterrupt:
                stop.set()  # the runs end at their next look, and are collected
            except BaseException:
                stop.set()
                raise


def complaint(solutions: list[Solution], tol: float, rounds: int, interrupted: bool) -> str | None:
    """What to say of runs that did not get where they should; None when there is nothing to say."""
    short = [s for s in solutions if not s.converged and s.status is not Status.CALLBACK]
    if not short and not interrupted:
        return None
    worst = max(short or solutions, key=lambda s: s.certificate.gap / max(s.target, 1e-300))
    words = ""
    if len(solutions) > 1:
        words = f"{len(short)} of {len(solutions)} problems are not solved; the worst of them: "
    words += (
        f"{worst.certificate} after {worst.passes:.3g} passes, where tol={tol} asks for a gap of "
        f"{worst.target:.1e}. "
    )
    if interrupted:
        return words + "Interrupted: this is the best certified model so far."
    if worst.status is Status.STALLED:
        return words + "Rounding errors hide a smaller gap: raise tol or scale the features."
    return words + (
        f"Raise max_iter (now {rounds}) or tol, scale the features, or try another method."
    )
