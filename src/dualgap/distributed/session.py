"""Partitions in an engine, to which one problem after the other is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.agreement import (
    ResolvedModel,
    Summary,
    agree,
    features_of,
    make_block,
    summarize,
)
from dualgap.distributed.data.block import Block, ModelSpec, ProximalTerm, without_samples
from dualgap.distributed.data.sources import Sources
from dualgap.distributed.driver.baseline import with_baseline
from dualgap.distributed.driver.checkpoint import CheckpointFolder, identity
from dualgap.distributed.driver.facts import DriverFacts, driver_facts
from dualgap.distributed.driver.newton_rounds import NewtonDriver
from dualgap.distributed.driver.proximal import count_proximal
from dualgap.distributed.driver.rounds import Driver, StoppingLimits
from dualgap.distributed.driver.work import WorkSchedule
from dualgap.distributed.engines import run_with_engine
from dualgap.distributed.engines.protocol import Engine, PartitionTask, retry_until_stable
from dualgap.distributed.one_machine import advice
from dualgap.distributed.progress import RoundProgress
from dualgap.distributed.schemes import scheme_named
from dualgap.distributed.schemes.base import Scheme
from dualgap.distributed.schemes.newton import NewtonScheme
from dualgap.distributed.tasks import measure
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import LARGEST, number, whole
from dualgap.proof.goal import check_reference
from dualgap.run.interrupt import deferred
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import Solution, Status


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


class Session:
    """All partitions, read and summarised; ``spec`` says what their targets are for."""

    def __init__(self, engine: Engine, sources: Sources, spec: ModelSpec) -> None:
        self.engine, self.sources = engine, sources
        self.spec, self.summaries = spec, self.ask(summarize, spec)
        words = advice(engine, sum(each.nbytes for each in self.summaries), sources.path)
        if words:
            warnings.warn(words, stacklevel=2)

    def ask(self, task: PartitionTask, message: Any) -> list[Any]:
        """The answers of all partitions to a question about their data alone."""
        answers: list[Any] = retry_until_stable(lambda: self.engine.ask(task, message))
        return answers

    @property
    def columns(self) -> tuple[int, int] | None:
        """How many features there are and the number of the first, if data are to be aligned."""
        return features_of(self.summaries, self.sources) if self.sources.ragged else None

    def solve(
        self,
        model: ResolvedModel,
        scheme_name: str,
        options: Options,
        summaries: list[Summary] | None = None,
    ) -> tuple[Solution, Block]:
        """The solution, and the problem without its samples.

        ``summaries``: of the samples that have weight in this model, if these are not all.
        """
        engine, (limits, seed) = self.engine, _checked(options)
        agreement = agree(summaries or self.summaries, self.sources, model)
        engine.put([None] * engine.size)
        engine.transform(make_block, agreement, anew=True)
        spec, sizes = model.spec, [each.n for each in self.summaries]
        skeleton = without_samples(spec, agreement.totals)
        with_samples = options.bring_samples(skeleton)
        scheme = scheme_named(scheme_name, skeleton, options.work)
        _refuse(scheme, skeleton)
        work = scheme.first_work(skeleton), scheme.max_work(skeleton), scheme.work_per_exchange
        schedule = WorkSchedule(options.work, *work, judged=scheme.judges_work)
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


def in_session(
    client: Any,
    sources: Sources,
    spec: ModelSpec,
    options: Options,
    use: Callable[[Session], Any],
) -> Any:
    """What ``use`` returns for a session that ends with it."""
    _checked(options)  # before anything is read
    limit = number(options.round_seconds, "round_seconds", 0.0, open_low=True)
    return run_with_engine(
        client, sources, limit, lambda engine: use(Session(engine, sources, spec))
    )


def _checked(options: Options) -> tuple[StoppingLimits, int]:
    """The limits and the seed."""
    if options.callback is not None and not callable(options.callback):
        raise ValueError(f"callback must be a function, not {options.callback!r}")
    return _limits(options), whole(options.random_state, "random_state", 0)


def _limits(options: Options) -> StoppingLimits:
    seconds = options.max_seconds
    return StoppingLimits(
        number(options.tol, "tol", 0.0, LARGEST),
        number(options.max_epochs, "max_epochs", 0.0),
        np.inf if seconds is None else number(seconds, "max_seconds", 0.0),
        whole(options.checkpoint_every, "checkpoint_every", 1),
        check_reference(options.relative_to),
    )


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
    with RoundProgress(driver) if progress else nullcontext() as driver.progress:
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
    coef, intercept = driver.skeleton.split(w)
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
