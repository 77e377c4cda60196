"""``solve``: look at the partitions, agree on what they have in common, run the rounds, prove."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.block import Block
from dualgap.distributed.checkpoint import Folder, duals_of, identity
from dualgap.distributed.constant_model import with_null_model
from dualgap.distributed.driver_facts import Whole, frame_of, whole_of
from dualgap.distributed.engine import Crew, insisting
from dualgap.distributed.engines import enlisted
from dualgap.distributed.local import begin
from dualgap.distributed.loop import Limits, Loop
from dualgap.distributed.pace import Pace
from dualgap.distributed.partitioned import Partitioned, as_partitioned
from dualgap.distributed.proximal import Held, count_held, under
from dualgap.distributed.schemes import Scheme, scheme_of
from dualgap.distributed.survey import Making, agreed, made, survey
from dualgap.linalg.validate import LARGEST, number, whole
from dualgap.problem.intercept import split
from dualgap.run.interrupt import deferred
from dualgap.run.loop import Snapshot
from dualgap.run.progress import Progress
from dualgap.run.solution import Solution, Status


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
        As for ``dualgap.solve``; an epoch is as many visits as there are samples. To
        ``max_epochs``, the local epochs of one round count as one.
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
    options = Options(
        work, tol, max_epochs, max_seconds, random_state, callback, progress, warm_start,
        checkpoint, checkpoint_every, round_seconds,
    )  # fmt: skip
    return solved(as_partitioned(problem, partitions), client, scheme, options)[0]


class Options(NamedTuple):
    """Those of ``solve``."""

    work: Any = "auto"
    tol: float = 1e-4
    max_epochs: float = 1000
    max_seconds: float | None = None
    random_state: int = 0
    callback: Callable[[Snapshot], Any] | None = None
    progress: bool = False
    warm_start: Any = None
    checkpoint: Any = None
    checkpoint_every: int = 10
    round_seconds: float = 600.0


def solved(
    parts: Partitioned, client: Any, scheme: str, options: Options
) -> tuple[Solution, Block]:
    """The solution, and the problem without its samples."""
    chosen, limits = scheme_of(scheme), _limits(options)
    seed = whole(options.random_state, "random_state", 0)
    patience = number(options.round_seconds, "round_seconds", 0.0, open_low=True)
    if options.callback is not None and not callable(options.callback):
        raise ValueError(f"callback must be a function, not {options.callback!r}")

    def drive(crew: Crew) -> tuple[Solution, Block]:
        making, sizes = _prepare(crew, parts)
        frame = frame_of(making.settled.model, making.shape)
        _refuse_misfit(chosen, frame)
        limits_of_work = chosen.first_work(frame), chosen.most_work(frame)
        pace = Pace(options.work, *limits_of_work, chosen.hidden)
        facts = _begun(crew, frame, options, sizes)
        folder = saved = None
        if options.checkpoint is not None:
            own = identity(making.settled.model, facts.digests, chosen.name, seed)
            folder = Folder(options.checkpoint, own)
            saved = folder.read()
            if saved is not None:
                crew.put(duals_of(saved, [size * frame.width for size in sizes]))
                insisting(lambda: crew.run(begin, False))
        ends = limits._replace(target=limits.target * facts.scale)
        loop = Loop(crew, facts, chosen, pace, ends, seed, options.callback, folder, saved)
        return _finished(loop, chosen, options.progress), frame

    found: tuple[Solution, Block] = enlisted(client, parts.sources, patience, drive)
    return found


def _limits(options: Options) -> Limits:
    seconds = options.max_seconds
    return Limits(
        number(options.tol, "tol", 0.0, LARGEST),
        number(options.max_epochs, "max_epochs", 0.0),
        np.inf if seconds is None else number(seconds, "max_seconds", 0.0),
        whole(options.checkpoint_every, "checkpoint_every", 1),
    )


def _begun(crew: Crew, frame: Block, options: Options, sizes: list[int]) -> Whole:
    """Facts about all samples; partitions have the dual variables to start from."""
    if options.warm_start is not None:
        given = getattr(options.warm_start, "dual", options.warm_start)
        flat = frame.flat(given, "warm_start dual variables", frame.shape.n)
        crew.put(np.split(flat, np.cumsum(sizes)[:-1] * frame.width))
    digest = options.checkpoint is not None
    facts = whole_of(frame, insisting(lambda: crew.run(begin, digest)))
    if frame.intercept is True:
        facts = insisting(lambda: with_null_model(crew, facts))
    return facts


def _refuse_misfit(scheme: Scheme, frame: Block) -> None:
    count, loss = count_held(frame), frame.loss
    smooth = loss.gamma > 0.0 or getattr(loss, "differentiable", False)
    intercepts = frame.width if frame.intercept is True else 0
    lacks: str | None
    if len(frame.free_places) > intercepts:
        lacks = (
            "features without a penalty, other than the intercept, are for one machine "
            "(dualgap.solve): give them a small weight"
        )
    elif count == frame.coef_size and not smooth:
        lacks = (
            f"the {type(loss).__name__} loss has kinks and the penalty is not strongly convex, "
            "which takes partitions too many rounds: use a smoothed loss, or an elastic net"
        )
    else:
        lacks = scheme.refusal(under(frame, Held(1.0, np.zeros(count)) if count else None))
    if lacks:
        raise ValueError(f"scheme {scheme.name!r} does not fit the problem: {lacks}")


def _prepare(crew: Crew, parts: Partitioned) -> tuple[Making, list[int]]:
    """Turn what partitions have read into blocks; returns what they agree on, and their sizes."""
    surveys = insisting(lambda: crew.ask(survey, parts.model))
    making = agreed(surveys, parts.sources, parts.settled(surveys))
    crew.transform(made, making)
    return making, [each.n for each in surveys]


def _finished(loop: Loop, scheme: Scheme, progress: bool) -> Solution:
    with Progress(loop.limits.target, enabled=progress) as loop.progress:
        if loop.folder is None:
            status = loop.run_to_the_end()
        else:
            with deferred() as loop.interrupted:
                status = loop.run_to_the_end()
        proof, w, duals = loop.proven()
        loop.progress.show(loop.passes, proof.gap)
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
        passes=loop.passes,
    )
