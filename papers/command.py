"""The command: ``python -m papers``, or ``dualgap reproduce`` in a checkout of the repository."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import papers
from dualgap.cli.command import INTERRUPTED, careful
from papers import reproduce as work
from papers.paper import Claim, Verdict

_JOBS = min(4, os.cpu_count() or 1)  # each run holds its data in memory


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(help="000 to 003, a name such as csiba2015, or all. With --check: all."),
    ] = None,
    figure: Annotated[
        str | None, typer.Option(help="Only this figure (1, 2, ...) or table (T1).")
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(help="Another x-axis: epoch, iterations, vector_operations, seconds."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Your own data: a file, or the name of another data set."),
    ] = None,
    lam: Annotated[
        str | None, typer.Option(help="λ for --data: a number, 1/n or 1/sqrt(n). Else the paper's.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds, less data: minutes instead of an hour.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Check the claims of the papers, one line each.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for figures and results.")] = Path(
        "reproduction"
    ),
    jobs: Annotated[
        int, typer.Option(min=1, help="Parallel runs; timed runs always run alone.")
    ] = _JOBS,
) -> None:
    """Redo the experiments of the papers behind the methods.

    Figures and results go to OUT. After an interruption, the same command
    continues where it stopped.

    [bold]Examples[/]

      dualgap reproduce 000 --quick                  adaptive SDCA, in minutes

      dualgap reproduce qu2014 --figure 4            speed-ups: theory, measured

      dualgap reproduce 002 --figure 1 --x seconds   the same on another axis

      dualgap reproduce 002 --data my.svm --lam 1e-3    its figures on your data

      dualgap reproduce --check                      a line for each claim
    """
    console = Console()
    try:
        if check:
            _check(console, paper, figure or x or data or lam, quick, out, jobs)
        else:
            chosen = {"figure": figure, "x": x, "data": data, "lam": lam}
            _draw(console, paper, chosen, quick, out, jobs)
    except BrokenProcessPool:
        raise ValueError(
            "a run was killed, perhaps for lack of memory. Finished runs are kept: try --jobs 1"
        ) from None
    except KeyboardInterrupt:
        console.print("Stopped. Finished runs are kept: the same command continues from here.")
        raise typer.Exit(INTERRUPTED) from None


def _check(
    console: Console,
    name: str | None,
    of_figures: str | None,
    quick: bool,
    out: Path,
    jobs: int,
) -> None:
    if of_figures is not None:
        raise ValueError(
            "--figure, --x, --data and --lam do not go with --check: claims are not figures, and "
            "they are about the paper's data"
        )
    chosen = papers.every() if name in (None, "all") else [papers.find(str(name))]
    judged = work.check(chosen, out, quick=quick, jobs=jobs, console=console)
    _show_claims(console, judged)


def _draw(
    console: Console,
    name: str | None,
    picked: dict[str, str | None],
    quick: bool,
    out: Path,
    jobs: int,
) -> None:
    if name is None:
        raise ValueError(f"name a paper: {papers.listed()}, or all (an hour or two)")
    chosen = papers.every() if name == "all" else [papers.find(name)]
    if picked["figure"] is not None and len(chosen) > 1:
        raise ValueError("--figure needs one paper, as in: dualgap reproduce 003 --figure 4")
    import matplotlib  # noqa: F401 - fail now rather than after an hour of runs

    for paper in chosen:
        written = work.reproduce(paper, out, **picked, quick=quick, jobs=jobs, console=console)
        for path in written:
            console.print(f"wrote {path}", soft_wrap=True, highlight=False)


def _show_claims(console: Console, judged: Sequence[tuple[Claim, Sequence[Verdict]]]) -> None:
    for claim, verdicts in judged:
        table = Table(title=f"{claim.id}: {claim.text}", title_justify="left", box=None)
        for column in ("", "data", "", "what was compared"):
            table.add_column(column, overflow="fold")
        for verdict in verdicts:
            answer = "[green]holds[/]" if verdict.holds else "[red]does not hold[/]"
            table.add_row(verdict.claim, verdict.data, answer, verdict.words)
        console.print(table)
        console.print()


app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
app.command()(careful(reproduce))
