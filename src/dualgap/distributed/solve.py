"""``solve``: look at the partitions, agree on what they have in common, run the rounds, prove."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from dualgap._validate import LARGEST, Floats, number, whole
from dualgap.distributed.block import Block, Shape
from dualgap.distributed.checkpoint import Folder
from dualgap.distributed.crew import Crew, insisting
from dualgap.distributed.engines import enlisted
from dualgap.distributed.held import Held, constants, falling_root, pulls, under
from dualgap.distributed.local import Start, begin
from dualgap.distributed.loop import Limits, Loop
from dualgap.distributed.pace import Pace
from dualgap.distributed.partitioned import Partitioned, as_partitioned
from dualgap.distributed.schemes import Scheme, scheme_of
from dualgap.distributed.survey import agreed, made, survey
from dualgap.distributed.whole import Whole, frame_of, whole_of
from dualgap.intercept import split
from dualgap.loop import Snapshot
from dualgap.null_model import above_null
from dualgap.progress import Progress
from dualgap.solution import Solution, Status


def solve(
    problem: Any,
    client: Any = None,
    scheme: str = "cocoa+",
    *,
    partitions: int | None = None,
    work: Any = "auto",
    tol: float = 1e-4,
    max_epochs: float = 1000,
    max_seconds: float | None = None,
    random_state: int = 0,
    callback: Callable[[Snapshot], Any] | None = None,
    progress: bool = False,
    warm_start: Any = None,
    checkpoint: Any = None,
    checkpoint_every: int = 10,
    round_seconds: float = 600.0,
) -> Solution:
    """Fit a problem whose data is in parts, and prove how good the fit is.

    The result depends on the partitions, ``work`` and ``random_state`` only: not on how many
    workers there are, nor on their speed.

    Parameters
    ----------
    problem : Partitioned or Problem
        A ``Problem`` is cut into ``partitions`` parts of consecutive samples, 8 by default.
    client : None, int, dask.distributed.Client or MPI communicator
        Who works: threads of this process, so many of them, a Dask cluster, or the processes of an
        MPI job, all of which call ``solve`` and get the solution.
    scheme : "cocoa+", "disdca" or "quartz"
        Local epochs; dual steps on τ samples of each partition, one after the other; or all at
        once, with the step sizes of the (c,τ)-distributed sampling.
    work : "auto", int or sequence
        Local epochs of a round, or τ. "auto": as much as hides the time of an exchange, so that
        the result depends on the clock; ``work=solution.history.work`` repeats such a run.
    tol, max_epochs, max_seconds, callback, progress, warm_start
        As for ``dualgap.solve``; an epoch is as many visits as there are samples.
    random_state : int
    checkpoint : path, optional
        A folder. If it has a checkpoint of this problem, the run goes on from there.
    checkpoint_every : int
        Rounds between two copies of the dual variables, in that folder and for workers that fail:
        a failure costs at most the progress of so many rounds.
    round_seconds : float
        How long a round may take before the run is given up.

    Returns
    -------
    Solution
        ``history`` has a row for each round (``RoundHistory``).
    """
    chosen = scheme_of(scheme)
    limits = Limits(
        number(tol, "tol", 0.0, LARGEST),
        number(max_epochs, "max_epochs", 0.0),
        np.inf if max_seconds is None else number(max_seconds, "max_seconds", 0.0),
        whole(checkpoint_every, "checkpoint_every", 1),
    )
    seed = whole(random_state, "random_state", 0)
    limit = number(round_seconds, "round_seconds", 0.0, open_low=True)
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be a function, not {callback!r}")
    parts = as_partitioned(problem, partitions)

    def drive(crew: Crew) -> Solution:
        shape, sizes = _prepare(crew, parts)
        frame = frame_of(parts.model, shape)
        _refuse_misfit(chosen, frame)
        pace = Pace(work, chosen.first_work(frame), chosen.most_work(frame))
        sizes = [size * frame.width for size in sizes]
        duals = None if warm_start is None else _cut(_dual_of(frame, warm_start, shape), sizes)
        start = Start(duals, checkpoint is not None)
        whole = whole_of(frame, insisting(lambda: crew.run(begin, start)))
        if frame.intercept is True:
            whole = whole._replace(scale=insisting(lambda: _null_objective(crew, whole)))
        folder = saved = None
        if checkpoint is not None:
            folder = Folder(checkpoint, _fingerprint(parts, whole, chosen, seed))
            saved = folder.load(sizes)
            if saved is not None:
                again = Start(saved.duals, False)
                insisting(lambda: crew.run(begin, again))
        own = limits._replace(target=limits.target * whole.scale)
        loop = Loop(crew, whole, chosen, pace, own, seed, callback, folder, saved)
        return _finished(loop, chosen, progress)

    solution: Solution = enlisted(client, parts.sources, limit, drive)
    return solution


def _refuse_misfit(scheme: Scheme, frame: Block) -> None:
    free = frame.intercept is True
    if free and frame.width > 1:
        lacks: str | None = (
            'intercepts of many classes must be penalised here: intercept="penalised"'
        )
    else:
        lacks = scheme.refusal(under(frame, Held(1.0, 0.0) if free else None))
    if lacks:
        raise ValueError(f"scheme {scheme.name!r} does not fit the problem: {lacks}")


def _prepare(crew: Crew, parts: Partitioned) -> tuple[Shape, list[int]]:
    """Turn what partitions have read into blocks; returns what they agree on, and their sizes."""
    surveys = insisting(lambda: crew.ask(survey, parts.model))
    making = agreed(surveys, parts.sources, parts.model)
    crew.transform(made, making)
    return making.shape, [each.n for each in surveys]


def _null_objective(crew: Crew, whole: Whole) -> float:
    """The objective of the best constant model (``null_model.py``), above what it cannot be."""

    def pull(bs: Floats) -> Floats:
        return np.asarray(sum(crew.ask(pulls, bs)))

    stride = whole.target if whole.frame.loss.targets == "real" and whole.target else 1.0
    b = falling_root(pull, stride * 1e-3, 1e-9)
    losses = sum(crew.ask(constants, b))
    return above_null(losses + whole.frame.origin_value - whole.floor, whole.scale)


def _dual_of(frame: Block, warm_start: Any, shape: Shape) -> Floats:
    dual = getattr(warm_start, "dual", warm_start)
    return frame.flat(dual, "warm_start dual variables", shape.n)


def _cut(vector: Floats, sizes: list[int]) -> list[Floats]:
    return np.split(vector, np.cumsum(sizes)[:-1])


def _fingerprint(parts: Partitioned, whole: Whole, scheme: Scheme, seed: int) -> str:
    """Of all that a run depends on."""
    mark = hashlib.blake2b(digest_size=16)
    for part in (*parts.model, *whole.digests, scheme.name, seed):
        mark.update(repr(part).encode())
    return mark.hexdigest()


def _finished(loop: Loop, scheme: Scheme, progress: bool) -> Solution:
    with Progress(loop.limits.target, enabled=progress) as loop.progress:
        status = loop.run_to_the_end()
        proof, w, duals = loop.proven()
    if proof.gap <= loop.limits.target:
        status = Status.CONVERGED
    own, intercept = split(loop.frame, w)
    return Solution(
        coef=own,
        intercept=intercept,
        dual=loop.frame.shaped(np.concatenate(duals)),
        certificate=proof,
        history=loop.history,
        status=status,
        method=f"{scheme.name} on {loop.crew.size} partitions",
        target=loop.limits.target,
        passes=loop.epochs + loop.looks,
    )
