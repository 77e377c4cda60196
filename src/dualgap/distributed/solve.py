"""``solve``: check what the partitions have in common, run the rounds, return the proof."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.agreement import Agreement, agree, make_block, summarize
from dualgap.distributed.data.block import Block, ProximalTerm, without_samples
from dualgap.distributed.data.partitioned import Partitioned, as_partitioned
from dualgap.distributed.driver.baseline import with_baseline
from dualgap.distributed.driver.checkpoint import CheckpointFolder, identity
from dualgap.distributed.driver.facts import DriverFacts, driver_facts
from dualgap.distributed.driver.newton_rounds import NewtonDriver
from dualgap.distributed.driver.proximal import count_proximal
from dualgap.distributed.driver.rounds import Driver, StoppingLimits
from dualgap.distributed.driver.work import WorkSchedule
from dualgap.distributed.engines import run_with_engine
from dualgap.distributed.engines.protocol import Engine, retry_until_stable
from dualgap.distributed.schemes import scheme_named
from dualgap.distributed.schemes.base import Scheme
from dualgap.distributed.schemes.newton import NewtonScheme
from dualgap.distributed.tasks import measure
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import LARGEST, number, whole
from dualgap.problem.intercept import split
from dualgap.proof.goal import check_reference
from dualgap.run.interrupt import deferred
from dualgap.run.progress import Progress
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import Solution, Status


def solve(
    problem: Any,
    client: Any = None,
    scheme: str = "auto",
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
    relative_to: str = "optimum",
    dual: Any = "auto",
) -> Solution:
    """Fit a problem whose data is in partitions, and prove how good the fit is.

    The result depends only on the partitions, ``work`` and ``random_state``: not on the number of
    workers, nor on their speed.

    Parameters
    ----------
    problem : Partitioned or Problem
        A ``Problem`` is cut into ``partitions`` partitions of consecutive samples, 8 by default.
    client : None, int, dask.distributed.Client or MPI communicator
        What does the work: threads of this process, at most that many threads, a Dask cluster, or
        the processes of an MPI job, which all call ``solve`` and all get the solution.
    scheme : "auto", "newton", "cocoa+", "disdca" or "quartz"
        Newton steps on sums over all partitions, which take about as many rounds as one machine
        takes steps, whatever the number of partitions; or each partition makes local epochs of
        dual coordinate steps; or such steps on τ of its samples, one after the other; or on τ
        samples at once, with the step sizes of the (c,τ)-distributed sampling. "auto" takes Newton
        steps where they are possible and ``work`` does not ask for epochs, else "cocoa+".
    work : "auto", int or sequence
        Local epochs of a round, or τ; a sequence has one number for each round. "auto" chooses as
        much as hides the time of an exchange, so the result depends on the clock;
        ``work=solution.history.work[1:]`` repeats such a run.
    tol, max_epochs, max_seconds, callback, progress, warm_start, relative_to
        As for ``dualgap.solve``. An epoch is as many visits as there are samples; for
        ``max_epochs``, all local epochs of one round count as one.
    random_state : int
    checkpoint : path, optional
        A folder. If it has a checkpoint of this problem, the run continues from there.
    checkpoint_every : int
        Rounds between two copies of the dual variables, in that folder and, on Dask, in the memory
        of the driver: when a worker fails, the progress of at most that many rounds is lost. The
        folder must be one that all workers share. Newton steps on smooth losses need no copies.
    round_seconds : float
        How long a round may take before the run raises an error.

    dual : bool or "auto"
        Whether the solution has the dual variables, and what each sample adds to the gap. They are
        as long as there are samples; "auto" brings them here if they take at most 64 MB. Otherwise
        ``solution.dual`` and ``solution.certificate.sample_parts`` are empty.

    Returns
    -------
    Solution
        ``history`` has a row for each round (``RoundHistory``).
    """
    options = Options(
        work, tol, max_epochs, max_seconds, random_state, callback, progress, warm_start,
        checkpoint, checkpoint_every, round_seconds, relative_to, dual,
    )  # fmt: skip
    return solve_partitioned(as_partitioned(problem, partitions), client, scheme, options)[0]


class Options(NamedTuple):
    """The options of ``solve``."""

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
    relative_to: str = "optimum"
    dual: Any = "auto"

    def bring_samples(self, skeleton: Block) -> bool:
        """Whether what is as long as there are samples comes to the driver."""
        if isinstance(self.dual, str) and self.dual == "auto":
            return bool(8 * skeleton.totals.n * skeleton.width <= TUNING.dual_bytes)
        if not isinstance(self.dual, (bool, np.bool_)):
            raise ValueError(f'dual must be True, False or "auto", not {self.dual!r}')
        return bool(self.dual)


def solve_partitioned(
    problem: Partitioned, client: Any, scheme_name: str, options: Options
) -> tuple[Solution, Block]:
    """The solution, and the problem without its samples."""
    limits = _limits(options)
    seed = whole(options.random_state, "random_state", 0)
    round_seconds = number(options.round_seconds, "round_seconds", 0.0, open_low=True)
    if options.callback is not None and not callable(options.callback):
        raise ValueError(f"callback must be a function, not {options.callback!r}")

    def drive(engine: Engine) -> tuple[Solution, Block]:
        agreement, sizes = _make_blocks(engine, problem)
        spec = agreement.model.spec
        skeleton = without_samples(spec, agreement.totals)
        with_samples = options.bring_samples(skeleton)
        scheme = scheme_named(scheme_name, skeleton, options.work)
        _refuse(scheme, skeleton)
        work = scheme.first_work(skeleton), scheme.max_work(skeleton), scheme.work_per_exchange
        schedule = WorkSchedule(options.work, *work)
        facts = _start(engine, skeleton, options, sizes)
        folder = saved = None
        if options.checkpoint is not None:
            own = identity(spec, facts.digests, scheme.name, seed)
            folder = CheckpointFolder(options.checkpoint, own)
            saved = folder.read()
            if saved is not None:
                folder.put_duals(engine, saved, [size * skeleton.width for size in sizes])
                retry_until_stable(lambda: engine.run(measure, False))
        make = NewtonDriver if isinstance(scheme, NewtonScheme) else Driver
        driver = make(
            engine, facts, scheme, schedule, limits, seed, options.callback, folder, saved
        )
        return _finish(driver, options.progress, with_samples), skeleton

    found: tuple[Solution, Block] = run_with_engine(client, problem.sources, round_seconds, drive)
    return found


def _limits(options: Options) -> StoppingLimits:
    seconds = options.max_seconds
    return StoppingLimits(
        number(options.tol, "tol", 0.0, LARGEST),
        number(options.max_epochs, "max_epochs", 0.0),
        np.inf if seconds is None else number(seconds, "max_seconds", 0.0),
        whole(options.checkpoint_every, "checkpoint_every", 1),
        check_reference(options.relative_to),
    )


def _make_blocks(engine: Engine, problem: Partitioned) -> tuple[Agreement, list[int]]:
    """Turn raw data into blocks; returns what the partitions agree on, and their sizes."""
    summaries = retry_until_stable(lambda: engine.ask(summarize, problem.spec))
    agreement = agree(summaries, problem.sources, problem.resolve(summaries))
    engine.transform(make_block, agreement)
    return agreement, [each.n for each in summaries]


def _refuse(scheme: Scheme, skeleton: Block) -> None:
    """Raise if the scheme cannot solve the problem."""
    count, loss = count_proximal(skeleton), skeleton.loss
    smooth = loss.gamma > 0.0 or getattr(loss, "differentiable", False)
    intercepts = skeleton.width if skeleton.intercept is True else 0
    refusal: str | None
    if skeleton.on_groups:
        refusal = "penalties on groups of features need one machine (dualgap.solve)"
    elif len(skeleton.free_places) > intercepts:
        refusal = (
            "features without a penalty, other than the intercept, need one machine "
            "(dualgap.solve): give them a small weight"
        )
    elif not scheme.needs_strong_convexity:
        refusal = scheme.refusal(skeleton)
    elif count == skeleton.coef_size and not smooth:
        refusal = (
            f"the {type(loss).__name__} loss has kinks and the penalty is not strongly convex, "
            "which would take too many rounds: use a smoothed loss, or an elastic net"
        )
    else:
        term = ProximalTerm(1.0, np.zeros(count)) if count else None
        refusal = scheme.refusal(skeleton.with_proximal(term))
    if refusal:
        raise ValueError(f"scheme {scheme.name!r} does not fit the problem: {refusal}")


def _start(engine: Engine, skeleton: Block, options: Options, sizes: list[int]) -> DriverFacts:
    """Give partitions the dual variables to start from, and measure the blocks."""
    if options.warm_start is not None:
        given = getattr(options.warm_start, "dual", options.warm_start)
        flat = skeleton.flat(given, "warm_start dual variables", skeleton.totals.n)
        engine.put(np.split(flat, np.cumsum(sizes)[:-1] * skeleton.width))
    digest = options.checkpoint is not None
    facts = driver_facts(skeleton, retry_until_stable(lambda: engine.run(measure, digest)))
    if skeleton.intercept is True:
        facts = retry_until_stable(lambda: with_baseline(engine, facts))
    return facts


def _finish(driver: Driver, progress: bool, with_samples: bool) -> Solution:
    with Progress() if progress else nullcontext() as driver.progress:
        if driver.folder is None:
            status = driver.run_to_the_end()
        else:
            with deferred() as driver.interrupted:
                status = driver.run_to_the_end()
        proof, w, dual = driver.final_proof(with_samples=with_samples)
        if driver.progress is not None:
            driver.progress.show(driver.passes, proof.gap, driver.target)
    target = driver.goal.gap(proof.dual)
    if proof.gap <= target:
        status = Status.CONVERGED
    coef, intercept = split(driver.skeleton, w)
    return Solution(
        coef=coef,
        intercept=intercept,
        dual=np.empty(0) if dual is None else driver.skeleton.shaped(dual),
        certificate=proof,
        history=driver.history,
        status=status,
        method=driver.scheme.method(driver.engine.size),
        target=target,
        passes=driver.passes,
    )
