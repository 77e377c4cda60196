"""``solve``: fit a problem whose data is in partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.distributed.data.partitioned import as_partitioned
from dualgap.distributed.session import Options, Session, in_session
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import Solution


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
        What does the work: at most that many threads of this process, a Dask cluster, or the
        processes of an MPI job, which all call ``solve`` and all get the solution. None is the
        active Dask client, and threads of this process if there is none.
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
    stated = as_partitioned(problem, partitions)

    def use(session: Session) -> Solution:
        return session.solve(stated.resolve(session.summaries), scheme, options)[0]

    found: Solution = in_session(client, stated.sources, stated.spec, options, use)
    return found
