"""Doing the runs that a paper needs, with a progress bar; then drawing, or judging claims."""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dualgap import datasets
from dualgap.run.solution import History
from papers import made
from papers.figure import X_AXES, Exhibit, RaceFigure
from papers.ledger import Ledger, perform
from papers.own_data import on_data
from papers.paper import Claim, Paper, Verdict, table
from papers.runs import Run


def reproduce(
    paper: Paper,
    out: Path,
    *,
    figure: str | None = None,
    x: str | None = None,
    data: str | None = None,
    lam: str | None = None,
    quick: bool = False,
    jobs: int = 2,
    console: Console | None = None,
) -> list[Path]:
    """Redo the experiments of a paper; the files that were written.

    ``figure`` picks one of them, ``x`` another x-axis than the paper's, ``data`` a file of one's
    own and ``lam`` its λ.
    """
    console = console or Console()
    exhibits: list[Exhibit] = list(paper.exhibits(quick))
    if lam is not None and data is None:
        raise ValueError("--lam goes with --data: the λ of the paper's data is the paper's")
    if figure is not None:
        chosen = [e for e in exhibits if e.number.lower() == figure.lower()]
        if not chosen:
            numbers = ", ".join(e.number for e in exhibits)
            raise ValueError(f"{paper.short} has no figure {figure!r}; it has {numbers}")
        exhibits = chosen
    if data is not None:
        exhibits = on_data(exhibits, data, lam)
        if not exhibits:
            raise ValueError(f"figure {figure} of {paper.short} does not show runs on data")
    if x is not None:
        axes = [axis for axis in X_AXES if axis in History.columns]
        if x not in axes:
            raise ValueError(f"there is no axis {x!r}; the axes are {', '.join(axes)}")
        exhibits = [e.against(x) for e in exhibits if isinstance(e, RaceFigure)]
        if not exhibits:
            raise ValueError(f"figure {figure} of {paper.short} is not a race: its axes are fixed")
    folder = folder_of(paper, out, quick)
    if data is not None:
        folder = out / f"{folder.name}-{Path(data).name.partition('.')[0]}"
    ledger = Ledger(folder / "runs")
    wanted = [run for exhibit in exhibits for run in exhibit.runs()]
    complete(ledger, wanted, jobs, f"{paper.short}", console)
    written = [path for exhibit in exhibits for path in exhibit.show(ledger, folder)]
    for line in notices(ledger, wanted):
        console.print(line)
    return written


def check(
    papers: Iterable[Paper],
    out: Path,
    *,
    quick: bool = False,
    jobs: int = 2,
    console: Console | None = None,
) -> list[tuple[Claim, list[Verdict]]]:
    """Verify the claims of papers, with the runs that are there and those that are missing."""
    console = console or Console()
    judged = []
    for paper in papers:
        ledger = Ledger(folder_of(paper, out, quick) / "runs")
        claims = paper.claims(quick)
        wanted = [run for claim in claims for run in claim.runs]
        complete(ledger, wanted, jobs, f"{paper.short}, claims", console)
        found = [(claim, list(claim.judge(ledger))) for claim in claims]
        _write(found, folder_of(paper, out, quick))
        judged += found
        for line in notices(ledger, wanted):
            console.print(line)
    return judged


def _write(judged: list[tuple[Claim, list[Verdict]]], folder: Path) -> None:
    """Keep verdicts beside the runs that they rest on."""
    kept = [verdict.as_dict() for _, verdicts in judged for verdict in verdicts]
    (folder / "claims.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    (folder / "claims.md").write_text(table(judged), encoding="utf-8")


def folder_of(paper: Paper, out: Path, quick: bool) -> Path:
    return out / (f"{paper.name}-quick" if quick else paper.name)


def notices(ledger: Ledger, runs: Sequence[Run]) -> list[str]:
    """What a reader must know about the data: stand-ins, and where data came from."""
    records = [ledger[run] for run in {ledger.path(run): run for run in runs}.values()]
    lines = {
        f"[bold]{r.name}[/]: {'SYNTHETIC, not the real data: ' if r.synthetic else ''}{r.source}"
        for r in records
        if not made.is_made(r.spec["data"])
    }
    return sorted(lines)


def complete(
    ledger: Ledger, wanted: Iterable[Run], jobs: int, title: str, console: Console
) -> None:
    """Do the runs that have no result yet: timed ones alone, then the others side by side."""
    pending = ledger.pending(wanted)
    if not pending:
        return
    fetch(pending, console)
    timed = [run for run in pending if run.timed]
    others = [run for run in pending if not run.timed]
    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]} of {task.fields[runs]} runs,"),
        TimeElapsedColumn(),
        TextColumn("so far,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, speed_estimate_period=600) as progress:
        total = sum(run.weight for run in pending)
        bar = progress.add_task(title, total=total, done=0, runs=len(pending))
        done = 0
        for batch, workers in ((others, jobs), (timed, 1)):
            for run in _performed(batch, workers, ledger.folder):
                done += 1
                progress.update(bar, advance=run.weight, done=done)


def fetch(runs: Sequence[Run], console: Console) -> None:
    """Download what is missing, once, before several processes want it."""
    for name in sorted({run.problem.data for run in runs if not made.is_made(run.problem.data)}):
        if Path(name).is_file() or datasets.locate(name):
            continue
        try:
            console.print(f"Looking for the data set {name} ...")
            datasets.load(name)
        except OSError as error:
            console.print(f"[bold]{error}[/]", soft_wrap=True, highlight=False)
            console.print(f"Going on with generated data in the likeness of {name}.")


def _performed(runs: Sequence[Run], workers: int, folder: Path) -> Iterable[Run]:
    """Yields runs as they are done, in processes of their own."""
    if not runs:
        return
    # Fresh processes: a copy of this one would share the state of its threads.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interrupts)
    try:
        tasks = {pool.submit(perform, run, folder): run for run in runs}
        for task in as_completed(tasks):
            task.result()
            yield tasks[task]
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()  # what they are at is lost, what is done is on disk
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _ignore_interrupts() -> None:
    """Ctrl-C is for the parent: a run that it cuts short must not be kept as a result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
